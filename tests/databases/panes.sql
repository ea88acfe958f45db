BEGIN TRANSACTION;
CREATE TABLE accounts (
    id           TEXT PRIMARY KEY,              -- its name
    state        TEXT NOT NULL,
    version      INTEGER NOT NULL DEFAULT 1,
    kind         TEXT,                          -- of the limit that parked it
    parked_until TEXT,
    used         REAL,                          -- share of its window, where the agent tells
    created_at   TEXT NOT NULL,
    updated_at   TEXT NOT NULL
, used_until TEXT);
CREATE TABLE gates (
    id         TEXT PRIMARY KEY,
    plan       TEXT NOT NULL REFERENCES plans (id) ON DELETE CASCADE,
    task       TEXT REFERENCES tasks (id) ON DELETE CASCADE,
    run        TEXT REFERENCES runs (id) ON DELETE CASCADE,
    kind       TEXT NOT NULL,                   -- review, question, dependency
    category   TEXT NOT NULL DEFAULT '',        -- what it is about: choice, billing, budget, …
    text       TEXT NOT NULL,
    options    TEXT NOT NULL DEFAULT '[]',      -- JSON list
    preset     TEXT,                            -- the answer taken by default
    answer     TEXT,
    deadline   TEXT,
    state      TEXT NOT NULL,
    version    INTEGER NOT NULL DEFAULT 1,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL
, about TEXT);
CREATE TABLE journal (
    seq        INTEGER PRIMARY KEY AUTOINCREMENT,
    at         TEXT NOT NULL,
    entity     TEXT NOT NULL,                   -- plan, task, run, park, gate, account
    entity_id  TEXT NOT NULL,
    from_state TEXT,
    to_state   TEXT NOT NULL,
    cause      TEXT NOT NULL,                   -- the trigger of the machine
    data       TEXT
);
INSERT INTO "journal" VALUES(1,'2026-11-18T03:40:03.929411Z','worker','tmux:19d3a5562d98:%0:/dev/pts/0',NULL,'idle','see',NULL);
INSERT INTO "journal" VALUES(2,'2026-11-18T03:40:03.934876Z','worker','tmux:19d3a5562d98:%0:/dev/pts/0','idle','busy','see','{}');
INSERT INTO "journal" VALUES(3,'2026-11-18T03:40:03.938850Z','worker','tmux:19d3a5562d98:%0:/dev/pts/0','busy','paused','park','{"kind": "session_limit", "evidence": "limit reached", "resets_at": "2026-11-18T04:40:03.929280Z", "wakes_at": "2026-11-18T04:40:08.929280Z"}');
INSERT INTO "journal" VALUES(4,'2026-11-18T03:40:03.943159Z','worker','tmux:19d3a5562d98:%1:/dev/pts/1',NULL,'idle','see',NULL);
INSERT INTO "journal" VALUES(5,'2026-11-18T03:40:03.946854Z','worker','tmux:19d3a5562d98:%1:/dev/pts/1','idle','paused','park','{"kind": "weekly_limit", "evidence": "weekly", "resets_at": "2026-11-20T03:40:03.929280Z", "wakes_at": "2026-11-20T03:40:03.929280Z"}');
INSERT INTO "journal" VALUES(6,'2026-11-18T03:40:03.954841Z','worker','tmux:19d3a5562d98:%2:/dev/pts/2',NULL,'idle','see',NULL);
INSERT INTO "journal" VALUES(7,'2026-11-18T03:40:03.958925Z','worker','tmux:19d3a5562d98:%2:/dev/pts/2','idle','paused','park','{"kind": "session_limit", "evidence": "limit reached", "resets_at": "2026-11-18T03:40:03.929280Z", "wakes_at": "2026-11-18T03:40:03.929280Z"}');
INSERT INTO "journal" VALUES(8,'2026-11-18T03:40:03.962824Z','worker','tmux:19d3a5562d98:%2:/dev/pts/2','paused','paused','send','{"sends": 1, "sent_at": "2026-11-18T03:40:03.962809Z", "step": "continue"}');
INSERT INTO "journal" VALUES(9,'2026-11-18T03:40:03.966820Z','worker','tmux:19d3a5562d98:%2:/dev/pts/2','paused','error','fail','{}');
INSERT INTO "journal" VALUES(10,'2026-11-18T03:40:03.971809Z','worker','tmux:19d3a5562d98:%3:/dev/pts/3',NULL,'idle','see',NULL);
INSERT INTO "journal" VALUES(11,'2026-11-18T03:40:03.974843Z','worker','tmux:19d3a5562d98:%3:/dev/pts/3','idle','blocked','ask','{"kind": "billing_error", "evidence": "pay"}');
INSERT INTO "journal" VALUES(12,'2026-11-18T03:40:03.978863Z','worker','tmux:19d3a5562d98:%4:/dev/pts/4',NULL,'idle','see',NULL);
INSERT INTO "journal" VALUES(13,'2026-11-18T03:40:03.979318Z','worker','tmux:19d3a5562d98:%4:/dev/pts/4','idle','dead','lose','{}');
CREATE TABLE notices (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    work       TEXT NOT NULL,                   -- the plan, or 'watch'
    about      TEXT NOT NULL,                   -- what happened, so that it is told once
    kind       TEXT NOT NULL,                   -- question, review, escalated, failed, error, completed, …
    task       TEXT NOT NULL DEFAULT '',
    title      TEXT NOT NULL,
    gate       TEXT,
    text       TEXT NOT NULL,
    place      TEXT NOT NULL,                   -- where somebody can see to it
    sent       TEXT NOT NULL DEFAULT '[]',      -- which ways it has gone (JSON)
    tries      INTEGER NOT NULL DEFAULT 0,
    next_at    TEXT,                            -- none: done, or given up
    created_at TEXT NOT NULL,
    UNIQUE (work, about)
);
INSERT INTO "notices" VALUES(1,'watch','tmux:19d3a5562d98:%2:/dev/pts/2:4','error','%2','pane %2 (claude)',NULL,'Segue tried 1 times to resume it, without success.
limit reached','host:%2','[]',0,'2026-11-18T03:40:03.966820Z','2026-11-18T03:40:03.966820Z');
INSERT INTO "notices" VALUES(2,'watch','tmux:19d3a5562d98:%3:/dev/pts/3:2','question','%3','pane %3 (claude)',NULL,'A person must fix this: waiting does not help.
pay','host:%3','[]',0,'2026-11-18T03:40:03.974843Z','2026-11-18T03:40:03.974843Z');
CREATE TABLE parks (
    id         TEXT PRIMARY KEY,
    plan       TEXT NOT NULL REFERENCES plans (id) ON DELETE CASCADE,
    task       TEXT NOT NULL REFERENCES tasks (id) ON DELETE CASCADE,
    run        TEXT NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    account    TEXT NOT NULL,
    kind       TEXT NOT NULL,
    resets_at  TEXT,
    wakes_at   TEXT NOT NULL,
    state      TEXT NOT NULL,
    version    INTEGER NOT NULL DEFAULT 1,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL
);
CREATE TABLE plans (
    id          TEXT PRIMARY KEY,
    path        TEXT NOT NULL UNIQUE,           -- real path of the plan file
    kind        TEXT NOT NULL,                  -- tasklist, book, develop, server
    state       TEXT NOT NULL,
    version     INTEGER NOT NULL DEFAULT 1,
    options     TEXT NOT NULL DEFAULT '{}',     -- how it was last started (JSON)
    windows     INTEGER NOT NULL DEFAULT 0,     -- limit windows it has waited through
    created_at  TEXT NOT NULL,
    updated_at  TEXT NOT NULL
, held TEXT);
CREATE TABLE runs (
    id           TEXT PRIMARY KEY,
    plan         TEXT NOT NULL REFERENCES plans (id) ON DELETE CASCADE,
    task         TEXT NOT NULL REFERENCES tasks (id) ON DELETE CASCADE,
    attempt      INTEGER NOT NULL,
    agent        TEXT NOT NULL,
    account      TEXT NOT NULL,
    state        TEXT NOT NULL,
    version      INTEGER NOT NULL DEFAULT 1,
    conversation TEXT NOT NULL,
    nonce        TEXT NOT NULL,
    resumes      TEXT,                          -- the run whose conversation it goes on with
    verify_job   TEXT,                          -- the check of its work, while it is verifying
    keeper       INTEGER,                       -- process that holds the agent, and its start time
    keeper_started INTEGER,
    branch       TEXT,                          -- with --isolate worktree
    exit_code    INTEGER,
    error        TEXT,
    input_tokens  INTEGER,
    output_tokens INTEGER,
    cost_usd      REAL,
    created_at   TEXT NOT NULL,
    updated_at   TEXT NOT NULL
, resume_id TEXT, purpose TEXT NOT NULL DEFAULT '', answer TEXT);
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
, steps_done INTEGER NOT NULL DEFAULT 0, steps_total INTEGER);
CREATE TABLE server_checkpoints (
    id         TEXT PRIMARY KEY,
    task       TEXT NOT NULL REFERENCES server_tasks (id) ON DELETE CASCADE,
    kind       TEXT NOT NULL,                   -- phase, review, question, dependency, pause, limit, timer, final
    phase      INTEGER,
    path       TEXT NOT NULL,                   -- from the data folder
    sha256     TEXT NOT NULL,
    created_at TEXT NOT NULL
);
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
CREATE TABLE server_replies (
    key        TEXT PRIMARY KEY,
    request    TEXT NOT NULL,                   -- a digest of method, path and body
    status     INTEGER NOT NULL,
    body       TEXT NOT NULL,
    created_at TEXT NOT NULL
);
CREATE TABLE server_restorations (
    task       TEXT PRIMARY KEY REFERENCES server_tasks (id) ON DELETE CASCADE,
    snapshot   TEXT NOT NULL,
    created_at TEXT NOT NULL
);
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
CREATE TABLE server_secrets (
    task       TEXT NOT NULL REFERENCES server_tasks (id) ON DELETE CASCADE,
    name       TEXT NOT NULL,
    value      BLOB NOT NULL,
    created_at TEXT NOT NULL,
    PRIMARY KEY (task, name)
);
CREATE TABLE server_settings (
    key   TEXT PRIMARY KEY,
    value TEXT NOT NULL                         -- JSON
);
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
, before TEXT, is_cancelled INTEGER NOT NULL DEFAULT 0);
CREATE TABLE server_timers (
    id      TEXT PRIMARY KEY,                   -- what it is for, so that there is one
    task    TEXT NOT NULL REFERENCES server_tasks (id) ON DELETE CASCADE,
    kind    TEXT NOT NULL,                      -- wake, deadline, remind, urgent, escalate, save
    gate    TEXT,
    at      TEXT NOT NULL
);
CREATE TABLE tasks (
    id           TEXT PRIMARY KEY,              -- plan/key
    plan         TEXT NOT NULL REFERENCES plans (id) ON DELETE CASCADE,
    key          TEXT NOT NULL,                 -- its id in the plan
    title        TEXT NOT NULL,
    state        TEXT NOT NULL,
    version      INTEGER NOT NULL DEFAULT 1,
    mark         TEXT,                          -- the state its mark in the file showed when last read or written
    retries_used INTEGER NOT NULL DEFAULT 0,
    error        TEXT,
    summary      TEXT,                          -- what it produced, for those that depend on it
    created_at   TEXT NOT NULL,
    updated_at   TEXT NOT NULL,
    UNIQUE (plan, key)
);
CREATE TABLE workers (
    id         TEXT PRIMARY KEY,                -- its host, server and pane, and the pane's first process
    pane       TEXT NOT NULL,                   -- as its host calls it
    agent      TEXT NOT NULL,
    account    TEXT NOT NULL,
    state      TEXT NOT NULL,
    version    INTEGER NOT NULL DEFAULT 1,
    kind       TEXT,                            -- of the limit that stopped it
    evidence   TEXT,                            -- the line that said so
    resets_at  TEXT,
    wakes_at   TEXT,                            -- none: it is left alone
    sends      INTEGER NOT NULL DEFAULT 0,      -- tries to resume it since it stopped
    sent_at    TEXT,                            -- the last of them, written before it is made
    step       TEXT NOT NULL DEFAULT '',        -- what that try was about to send
    windows    INTEGER NOT NULL DEFAULT 0,      -- limits it has waited through
    is_held    INTEGER NOT NULL DEFAULT 0,      -- a person wants it left alone
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL
);
INSERT INTO "workers" VALUES('tmux:19d3a5562d98:%0:/dev/pts/0','%0','claude','work','paused',3,'session_limit','limit reached','2026-11-18T04:40:03.929280Z','2026-11-18T04:40:08.929280Z',0,NULL,'',0,0,'2026-11-18T03:40:03.929411Z','2026-11-18T03:40:03.938850Z');
INSERT INTO "workers" VALUES('tmux:19d3a5562d98:%1:/dev/pts/1','%1','claude','work','paused',2,'weekly_limit','weekly','2026-11-20T03:40:03.929280Z','2026-11-20T03:40:03.929280Z',0,NULL,'',1,1,'2026-11-18T03:40:03.943159Z','2026-11-18T03:40:03.946854Z');
INSERT INTO "workers" VALUES('tmux:19d3a5562d98:%2:/dev/pts/2','%2','claude','work','error',4,'session_limit','limit reached','2026-11-18T03:40:03.929280Z',NULL,1,'2026-11-18T03:40:03.962809Z','',0,0,'2026-11-18T03:40:03.954841Z','2026-11-18T03:40:03.966820Z');
INSERT INTO "workers" VALUES('tmux:19d3a5562d98:%3:/dev/pts/3','%3','claude','work','blocked',2,'billing_error','pay',NULL,NULL,0,NULL,'',0,0,'2026-11-18T03:40:03.971809Z','2026-11-18T03:40:03.974843Z');
INSERT INTO "workers" VALUES('tmux:19d3a5562d98:%4:/dev/pts/4','%4','claude','work','dead',2,NULL,NULL,NULL,NULL,0,NULL,'',0,0,'2026-11-18T03:40:03.978863Z','2026-11-18T03:40:03.979318Z');
CREATE INDEX runs_by_task ON runs (task);
CREATE INDEX runs_open ON runs (plan) WHERE state IN ('intended', 'running', 'verifying', 'merging');
CREATE INDEX parks_waiting ON parks (wakes_at) WHERE state = 'waiting';
CREATE INDEX gates_open ON gates (plan) WHERE state = 'open';
CREATE INDEX journal_by_entity ON journal (entity_id);
CREATE INDEX server_tasks_by_state ON server_tasks (state, created_at);
CREATE INDEX server_tasks_by_age ON server_tasks (created_at);
CREATE INDEX server_agents_by_state ON server_agents (state);
CREATE INDEX server_runs_by_task ON server_runs (task);
CREATE INDEX server_runs_open ON server_runs (state) WHERE state IN ('intended', 'running');
CREATE INDEX server_gates_by_task ON server_gates (task);
CREATE INDEX server_gates_open ON server_gates (kind, created_at) WHERE state = 'pending';
CREATE INDEX server_timers_due ON server_timers (at);
CREATE INDEX server_checkpoints_by_task ON server_checkpoints (task, created_at);
CREATE INDEX server_notices_due ON server_notices (next_at) WHERE next_at IS NOT NULL;
CREATE INDEX server_gates_waiting ON server_gates (priority DESC, created_at)
    WHERE state = 'pending';
CREATE INDEX notices_due ON notices (work, next_at) WHERE next_at IS NOT NULL;
CREATE INDEX server_tasks_by_retry ON server_tasks (retry_of) WHERE retry_of IS NOT NULL;
DELETE FROM "sqlite_sequence";
INSERT INTO "sqlite_sequence" VALUES('journal',13);
INSERT INTO "sqlite_sequence" VALUES('notices',2);
COMMIT;
PRAGMA user_version = 8;
