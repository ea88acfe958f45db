-- Tasks of the server: what is to be done, the agent at work on it, what waits for a person, and
-- what can be restored.

CREATE TABLE server_tasks (
    id           TEXT PRIMARY KEY,
    title        TEXT NOT NULL,
    description  TEXT NOT NULL,
    type         TEXT NOT NULL,
    agent        TEXT NOT NULL,                 -- its name in the settings
    priority     INTEGER NOT NULL DEFAULT 0,    -- higher first
    depends_on   TEXT NOT NULL DEFAULT '[]',    -- JSON list of ids
    state        TEXT NOT NULL,
    version      INTEGER NOT NULL DEFAULT 1,
    phase        INTEGER,                       -- the current one, from 1; none before it begins
    phases       TEXT NOT NULL DEFAULT '[]',    -- as its type was when it was submitted (JSON)
    reworks      INTEGER NOT NULL DEFAULT 0,    -- of the current phase, by failed verification
    reminders    INTEGER NOT NULL DEFAULT 0,    -- ends without a marker in the current phase
    workspace    TEXT,
    retry_of     TEXT,
    forked_from  TEXT,
    error        TEXT,
    is_archived  INTEGER NOT NULL DEFAULT 0,
    submitted_at TEXT,
    started_at   TEXT,
    completed_at TEXT,
    failed_at    TEXT,
    created_at   TEXT NOT NULL,
    updated_at   TEXT NOT NULL
);
CREATE INDEX server_tasks_by_state ON server_tasks (state, created_at);
CREATE INDEX server_tasks_by_age ON server_tasks (created_at);

CREATE TABLE server_agents (
    id           TEXT PRIMARY KEY REFERENCES server_tasks (id) ON DELETE CASCADE,
    state        TEXT NOT NULL,
    version      INTEGER NOT NULL DEFAULT 1,
    step         TEXT,                          -- what it is at, in a few words
    conversation TEXT NOT NULL DEFAULT '',      -- ours, the same over all resumptions
    resume_id    TEXT,                          -- what its program calls it
    account      TEXT NOT NULL DEFAULT '',
    kind         TEXT,                          -- of the limit that paused it
    resets_at    TEXT,
    is_by_person INTEGER NOT NULL DEFAULT 0,    -- paused by a person: stays so over a restart
    saved_at     TEXT,                          -- its last checkpoint
    created_at   TEXT NOT NULL,
    updated_at   TEXT NOT NULL
);

CREATE INDEX server_agents_by_state ON server_agents (state);

CREATE TABLE server_runs (
    id            TEXT PRIMARY KEY,
    task          TEXT NOT NULL REFERENCES server_tasks (id) ON DELETE CASCADE,
    phase         INTEGER NOT NULL,
    purpose       TEXT NOT NULL,                -- work, check (a command), review (another agent)
    attempt       INTEGER NOT NULL,
    agent         TEXT NOT NULL,
    account       TEXT NOT NULL,
    state         TEXT NOT NULL,
    version       INTEGER NOT NULL DEFAULT 1,
    conversation  TEXT NOT NULL,
    resume_id     TEXT,
    nonce         TEXT NOT NULL,
    resumes       TEXT,
    prompt        TEXT,                         -- what it is told, until it was
    queued        INTEGER,                      -- bytes it had not read when that was about to be sent
    heard         INTEGER NOT NULL DEFAULT 0,   -- how much of what it told was acted on
    keeper        INTEGER,
    keeper_started INTEGER,
    exit_code     INTEGER,
    error         TEXT,
    input_tokens  INTEGER,
    output_tokens INTEGER,
    cost_usd      REAL,
    created_at    TEXT NOT NULL,
    updated_at    TEXT NOT NULL
);
CREATE INDEX server_runs_by_task ON server_runs (task);
CREATE INDEX server_runs_open ON server_runs (state) WHERE state IN ('intended', 'running');

-- Reviews, questions and dependency requests: everything that waits for a person.
CREATE TABLE server_gates (
    id         TEXT PRIMARY KEY,
    task       TEXT NOT NULL REFERENCES server_tasks (id) ON DELETE CASCADE,
    run        TEXT,
    kind       TEXT NOT NULL,                   -- review, question, dependency
    phase      INTEGER,
    round      INTEGER NOT NULL DEFAULT 1,      -- of a review: after each rework one more
    category   TEXT NOT NULL DEFAULT '',        -- of a question; the type of a dependency
    name       TEXT NOT NULL DEFAULT '',        -- of a dependency: the variable
    text       TEXT NOT NULL DEFAULT '',        -- the question, the description
    options    TEXT NOT NULL DEFAULT '[]',
    preset     TEXT,
    is_required INTEGER NOT NULL DEFAULT 1,
    priority   INTEGER NOT NULL DEFAULT 0,
    deadline   TEXT,
    about      TEXT NOT NULL DEFAULT '{}',      -- a review's deliverables and its verification
    answer     TEXT,                            -- never a provided value
    state      TEXT NOT NULL,
    version    INTEGER NOT NULL DEFAULT 1,
    settled_at TEXT,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL
);
CREATE INDEX server_gates_by_task ON server_gates (task);
CREATE INDEX server_gates_open ON server_gates (kind, created_at) WHERE state = 'pending';

-- What an agent was given, encrypted.
CREATE TABLE server_secrets (
    task       TEXT NOT NULL REFERENCES server_tasks (id) ON DELETE CASCADE,
    name       TEXT NOT NULL,
    value      BLOB NOT NULL,
    created_at TEXT NOT NULL,
    PRIMARY KEY (task, name)
);

-- Everything that waits for an instant.
CREATE TABLE server_timers (
    id      TEXT PRIMARY KEY,                   -- what it is for, so that there is one
    task    TEXT NOT NULL REFERENCES server_tasks (id) ON DELETE CASCADE,
    kind    TEXT NOT NULL,                      -- wake, deadline, remind, urgent, escalate, save
    gate    TEXT,
    at      TEXT NOT NULL
);
CREATE INDEX server_timers_due ON server_timers (at);

CREATE TABLE server_checkpoints (
    id         TEXT PRIMARY KEY,
    task       TEXT NOT NULL REFERENCES server_tasks (id) ON DELETE CASCADE,
    kind       TEXT NOT NULL,                   -- phase, review, question, dependency, pause, limit, timer, final
    phase      INTEGER,
    path       TEXT NOT NULL,                   -- from the data folder
    sha256     TEXT NOT NULL,
    created_at TEXT NOT NULL
);
CREATE INDEX server_checkpoints_by_task ON server_checkpoints (task, created_at);

-- What is to be told to people outside, until it was.
CREATE TABLE server_notices (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    task       TEXT NOT NULL,
    kind       TEXT NOT NULL,                   -- review, question, dependency, completed, failed, …
    gate       TEXT,
    text       TEXT NOT NULL,
    sent       TEXT NOT NULL DEFAULT '[]',      -- which ways it has gone (JSON)
    tries      INTEGER NOT NULL DEFAULT 0,
    next_at    TEXT,                            -- none: done, or given up
    created_at TEXT NOT NULL
);
CREATE INDEX server_notices_due ON server_notices (next_at) WHERE next_at IS NOT NULL;

CREATE TABLE server_settings (
    key   TEXT PRIMARY KEY,
    value TEXT NOT NULL                         -- JSON
);

-- A POST that is sent again gets the answer of the first.
CREATE TABLE server_replies (
    key        TEXT PRIMARY KEY,
    request    TEXT NOT NULL,                   -- a digest of method, path and body
    status     INTEGER NOT NULL,
    body       TEXT NOT NULL,
    created_at TEXT NOT NULL
);
