-- One set of tables for every kind of work: task lists, books, features, the server's tasks, panes.
-- What only one kind has is in a table beside: phase_tasks and agents (tasks with phases), panes.

ALTER TABLE tasks RENAME TO old_tasks;
ALTER TABLE runs RENAME TO old_runs;
ALTER TABLE parks RENAME TO old_parks;
ALTER TABLE gates RENAME TO old_gates;
ALTER TABLE notices RENAME TO old_notices;

CREATE TABLE works (
    id          TEXT PRIMARY KEY,
    kind        TEXT NOT NULL,                  -- tasklist, book, develop, server, panes
    path        TEXT NOT NULL UNIQUE,           -- real path of its file; of its folder where it has none
    state       TEXT NOT NULL,
    version     INTEGER NOT NULL DEFAULT 1,
    options     TEXT NOT NULL DEFAULT '{}',     -- how it was last started (JSON)
    windows     INTEGER NOT NULL DEFAULT 0,     -- limit windows it has waited through
    held        TEXT,                           -- who waits for a time without a run (JSON list)
    created_at  TEXT NOT NULL,
    updated_at  TEXT NOT NULL
);

CREATE TABLE tasks (
    id           TEXT PRIMARY KEY,              -- work/key; of the server: the key alone
    work         TEXT NOT NULL REFERENCES works (id) ON DELETE CASCADE,
    key          TEXT NOT NULL,                 -- its id within its work
    title        TEXT NOT NULL,
    state        TEXT NOT NULL,
    version      INTEGER NOT NULL DEFAULT 1,
    mark         TEXT,                          -- the state its mark in the file showed when last read or written
    retries_used INTEGER NOT NULL DEFAULT 0,
    error        TEXT,
    summary      TEXT,                          -- what it produced, for those that depend on it
    unwritten    TEXT,                          -- what its entry in the file does not show yet, besides its mark (JSON)
    is_archived  INTEGER NOT NULL DEFAULT 0,
    created_at   TEXT NOT NULL,
    updated_at   TEXT NOT NULL,
    UNIQUE (work, key)
);

-- What only tasks with phases have.
CREATE TABLE phase_tasks (
    task         TEXT PRIMARY KEY REFERENCES tasks (id) ON DELETE CASCADE,
    description  TEXT NOT NULL,
    type         TEXT NOT NULL,
    agent        TEXT NOT NULL,                 -- its name in the settings
    priority     INTEGER NOT NULL DEFAULT 0,    -- higher first
    depends_on   TEXT NOT NULL DEFAULT '[]',    -- JSON list of ids
    phase        INTEGER,                       -- the current one, from 1; none before it begins
    phases       TEXT NOT NULL DEFAULT '[]',    -- as its type was when it was submitted (JSON)
    reworks      INTEGER NOT NULL DEFAULT 0,    -- of the current phase, by failed verification
    reminders    INTEGER NOT NULL DEFAULT 0,    -- ends without a marker in the current phase
    workspace    TEXT,
    retry_of     TEXT,
    forked_from  TEXT,
    before       TEXT,                          -- a fork: what was done up to there
    is_cancelled INTEGER NOT NULL DEFAULT 0,    -- a person cancelled it: it has not failed by itself
    submitted_at TEXT,
    started_at   TEXT,
    completed_at TEXT,
    failed_at    TEXT
);

CREATE TABLE agents (
    id           TEXT PRIMARY KEY REFERENCES tasks (id) ON DELETE CASCADE,
    state        TEXT NOT NULL,
    version      INTEGER NOT NULL DEFAULT 1,
    step         TEXT,                          -- what it is at, in a few words
    steps_done   INTEGER NOT NULL DEFAULT 0,    -- within the phase, as it reports
    steps_total  INTEGER,
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

CREATE TABLE runs (
    id             TEXT PRIMARY KEY,
    work           TEXT NOT NULL REFERENCES works (id) ON DELETE CASCADE,
    task           TEXT NOT NULL REFERENCES tasks (id) ON DELETE CASCADE,
    role           TEXT NOT NULL DEFAULT 'work', -- work, check (a command), review (another agent)
    purpose        TEXT NOT NULL DEFAULT '',    -- what it is for, if not simply to do its task
    phase          INTEGER NOT NULL DEFAULT 0,
    attempt        INTEGER NOT NULL,
    agent          TEXT NOT NULL,
    account        TEXT NOT NULL,
    state          TEXT NOT NULL,
    version        INTEGER NOT NULL DEFAULT 1,
    conversation   TEXT NOT NULL,
    resume_id      TEXT,                        -- what its program calls the conversation
    nonce          TEXT NOT NULL,
    resumes        TEXT,                        -- the run whose conversation it goes on with
    prompt         TEXT,                        -- what it is told, until it was
    answer         TEXT,                        -- what a person said, for its prompt
    queued         INTEGER,                     -- bytes it had not read when the prompt was about to be sent
    heard          INTEGER NOT NULL DEFAULT 0,  -- how much of what it told was acted on
    verify_job     TEXT,                        -- the check of its work, while it is verifying
    keeper         INTEGER,                     -- process that holds the agent, and its start time
    keeper_started INTEGER,
    branch         TEXT,                        -- with --isolate worktree
    exit_code      INTEGER,
    error          TEXT,
    input_tokens   INTEGER,
    output_tokens  INTEGER,
    cost_usd       REAL,
    created_at     TEXT NOT NULL,
    updated_at     TEXT NOT NULL
);

-- Waits for a time: until a limit is over, or as long as a person said.
CREATE TABLE parks (
    id         TEXT PRIMARY KEY,
    work       TEXT NOT NULL REFERENCES works (id) ON DELETE CASCADE,
    task       TEXT NOT NULL REFERENCES tasks (id) ON DELETE CASCADE,
    run        TEXT REFERENCES runs (id) ON DELETE CASCADE,
    account    TEXT NOT NULL,
    kind       TEXT NOT NULL,
    resets_at  TEXT,
    wakes_at   TEXT NOT NULL,
    refusals   INTEGER NOT NULL DEFAULT 0,      -- of its family directly before it, with no work between
    state      TEXT NOT NULL,
    version    INTEGER NOT NULL DEFAULT 1,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL
);

-- Reviews, questions and dependency requests: everything that waits for a person.
CREATE TABLE gates (
    id          TEXT PRIMARY KEY,
    work        TEXT NOT NULL REFERENCES works (id) ON DELETE CASCADE,
    task        TEXT REFERENCES tasks (id) ON DELETE CASCADE,
    run         TEXT REFERENCES runs (id) ON DELETE CASCADE,
    kind        TEXT NOT NULL,                  -- review, question, dependency
    phase       INTEGER,
    round       INTEGER NOT NULL DEFAULT 1,     -- of a review: after each rework one more
    category    TEXT NOT NULL DEFAULT '',       -- what it is about: choice, budget, …; the type of a dependency
    name        TEXT NOT NULL DEFAULT '',       -- of a dependency: the variable
    text        TEXT NOT NULL DEFAULT '',       -- the question, the description
    options     TEXT NOT NULL DEFAULT '[]',     -- JSON list
    preset      TEXT,                           -- the answer taken by default
    is_required INTEGER NOT NULL DEFAULT 1,
    priority    INTEGER NOT NULL DEFAULT 0,
    deadline    TEXT,
    about       TEXT,                           -- beyond its words (JSON): deliverables, a tool, …
    answer      TEXT,                           -- never a provided value
    state       TEXT NOT NULL,
    version     INTEGER NOT NULL DEFAULT 1,
    settled_at  TEXT,
    created_at  TEXT NOT NULL,
    updated_at  TEXT NOT NULL
);

-- What people want, from wherever they are: taken in once, by the owner of the work.
CREATE TABLE acts (
    id         TEXT PRIMARY KEY,
    work       TEXT NOT NULL REFERENCES works (id) ON DELETE CASCADE,
    task       TEXT REFERENCES tasks (id) ON DELETE CASCADE,
    gate       TEXT,
    verb       TEXT NOT NULL,                   -- answer, approve, retry, skip, park, wake, pause, …
    data       TEXT NOT NULL DEFAULT '{}',      -- JSON
    actor      TEXT NOT NULL,
    via        TEXT NOT NULL,                   -- terminal, page, mcp, link, …
    state      TEXT NOT NULL,
    reason     TEXT,                            -- why it was refused
    version    INTEGER NOT NULL DEFAULT 1,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL
);

-- Everything else that waits for a time.
CREATE TABLE timers (
    id   TEXT PRIMARY KEY,                      -- what it is for, so that there is one
    work TEXT NOT NULL REFERENCES works (id) ON DELETE CASCADE,
    task TEXT NOT NULL REFERENCES tasks (id) ON DELETE CASCADE,
    kind TEXT NOT NULL,                         -- deadline, remind, urgent, escalate, save
    gate TEXT,
    at   TEXT NOT NULL
);

-- What an agent was given, encrypted.
CREATE TABLE secrets (
    task       TEXT NOT NULL REFERENCES tasks (id) ON DELETE CASCADE,
    name       TEXT NOT NULL,
    value      BLOB NOT NULL,
    created_at TEXT NOT NULL,
    PRIMARY KEY (task, name)
);

CREATE TABLE checkpoints (
    id         TEXT PRIMARY KEY,
    task       TEXT NOT NULL REFERENCES tasks (id) ON DELETE CASCADE,
    kind       TEXT NOT NULL,                   -- phase, review, question, dependency, pause, limit, timer, final
    phase      INTEGER,
    path       TEXT NOT NULL,                   -- from the data folder
    sha256     TEXT NOT NULL,
    created_at TEXT NOT NULL
);

-- A rewind that was decided: the task's files become this snapshot before anything else is done
-- with them.
CREATE TABLE restorations (
    task       TEXT PRIMARY KEY REFERENCES tasks (id) ON DELETE CASCADE,
    snapshot   TEXT NOT NULL,
    created_at TEXT NOT NULL
);

-- What is to be told to people outside, until it was.
CREATE TABLE notices (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    work       TEXT NOT NULL,
    about      TEXT NOT NULL,                   -- what happened, so that it is told once
    kind       TEXT NOT NULL,                   -- question, review, escalated, failed, error, completed, …
    task       TEXT NOT NULL DEFAULT '',
    title      TEXT NOT NULL DEFAULT '',        -- none: the task's own, as it is when this is sent
    gate       TEXT,
    text       TEXT NOT NULL,
    place      TEXT NOT NULL DEFAULT '',        -- where a person can act on it
    sent       TEXT NOT NULL DEFAULT '[]',      -- which ways it has gone (JSON)
    tries      INTEGER NOT NULL DEFAULT 0,
    next_at    TEXT,                            -- none: done, or given up
    created_at TEXT NOT NULL,
    UNIQUE (work, about)
);

-- What was there. A work without a file is in the folder of this database.

INSERT INTO works (id, kind, path, state, version, options, windows, held, created_at, updated_at)
SELECT id, kind, path, state, version, options, windows, held, created_at, updated_at
FROM plans ORDER BY rowid;

INSERT INTO works (id, kind, path, state, created_at, updated_at)
SELECT 'server', 'server', rtrim(file, replace(file, '/', '')) || 'server', 'pending',
    (SELECT min(created_at) FROM server_tasks), (SELECT max(updated_at) FROM server_tasks)
FROM pragma_database_list WHERE name = 'main' AND EXISTS (SELECT 1 FROM server_tasks);

INSERT INTO works (id, kind, path, state, created_at, updated_at)
SELECT 'panes', 'panes', rtrim(rtrim(file, replace(file, '/', '')), '/'), 'pending',
    (SELECT min(created_at) FROM workers), (SELECT max(updated_at) FROM workers)
FROM pragma_database_list WHERE name = 'main' AND EXISTS (SELECT 1 FROM workers);

INSERT INTO tasks (id, work, key, title, state, version, mark, retries_used, error, summary,
    created_at, updated_at)
SELECT id, plan, key, title, state, version, mark, retries_used, error, summary,
    created_at, updated_at
FROM old_tasks ORDER BY rowid;

INSERT INTO tasks (id, work, key, title, state, version, error, is_archived,
    created_at, updated_at)
SELECT id, 'server', id, title, state, version, error, is_archived, created_at, updated_at
FROM server_tasks ORDER BY rowid;

INSERT INTO phase_tasks (task, description, type, agent, priority, depends_on, phase, phases,
    reworks, reminders, workspace, retry_of, forked_from, before, is_cancelled,
    submitted_at, started_at, completed_at, failed_at)
SELECT id, description, type, agent, priority, depends_on, phase, phases,
    reworks, reminders, workspace, retry_of, forked_from, before, is_cancelled,
    submitted_at, started_at, completed_at, failed_at
FROM server_tasks ORDER BY rowid;

INSERT INTO agents (id, state, version, step, steps_done, steps_total, conversation, resume_id,
    account, kind, resets_at, is_by_person, saved_at, created_at, updated_at)
SELECT id, state, version, step, steps_done, steps_total, conversation, resume_id,
    account, kind, resets_at, is_by_person, saved_at, created_at, updated_at
FROM server_agents ORDER BY rowid;

INSERT INTO runs (id, work, task, purpose, attempt, agent, account, state, version, conversation,
    resume_id, nonce, resumes, answer, verify_job, keeper, keeper_started, branch, exit_code,
    error, input_tokens, output_tokens, cost_usd, created_at, updated_at)
SELECT id, plan, task, purpose, attempt, agent, account, state, version, conversation,
    resume_id, nonce, resumes, answer, verify_job, keeper, keeper_started, branch, exit_code,
    error, input_tokens, output_tokens, cost_usd, created_at, updated_at
FROM old_runs ORDER BY rowid;

INSERT INTO runs (id, work, task, role, phase, attempt, agent, account, state, version,
    conversation, resume_id, nonce, resumes, prompt, queued, heard, keeper, keeper_started,
    exit_code, error, input_tokens, output_tokens, cost_usd, created_at, updated_at)
SELECT id, 'server', task, purpose, phase, attempt, agent, account, state, version,
    conversation, resume_id, nonce, resumes, prompt, queued, heard, keeper, keeper_started,
    exit_code, error, input_tokens, output_tokens, cost_usd, created_at, updated_at
FROM server_runs ORDER BY rowid;

INSERT INTO parks (id, work, task, run, account, kind, resets_at, wakes_at, state, version,
    created_at, updated_at)
SELECT id, plan, task, run, account, kind, resets_at, wakes_at, state, version,
    created_at, updated_at
FROM old_parks ORDER BY rowid;

-- An answer and its delivery were one transaction: both states of old were the same to people.
INSERT INTO gates (id, work, task, run, kind, category, text, options, preset, deadline, about,
    answer, state, version, settled_at, created_at, updated_at)
SELECT id, plan, task, run, kind, category, text, options, preset, deadline, about, answer,
    CASE state WHEN 'open' THEN 'pending' WHEN 'delivered' THEN 'answered' ELSE state END,
    version, CASE WHEN state != 'open' THEN updated_at END, created_at, updated_at
FROM old_gates ORDER BY rowid;

INSERT INTO gates (id, work, task, run, kind, phase, round, category, name, text, options, preset,
    is_required, priority, deadline, about, answer, state, version, settled_at,
    created_at, updated_at)
SELECT id, 'server', task, (SELECT r.id FROM runs r WHERE r.id = g.run), kind, phase, round,
    category, name, text, options, preset, is_required, priority, deadline, about, answer, state,
    version, settled_at, created_at, updated_at
FROM server_gates g ORDER BY rowid;

-- A task that waits for a limit is parked. Its run may be a review, of an agent with another account,
-- which begins again.
INSERT INTO parks (id, work, task, run, account, kind, resets_at, wakes_at, state,
    created_at, updated_at)
SELECT 'park_' || lower(hex(randomblob(6))), 'server', a.id,
    (SELECT r.id FROM server_runs r WHERE r.task = a.id AND r.state != 'intended'
     ORDER BY r.created_at DESC, r.rowid DESC LIMIT 1),
    coalesce((SELECT r.account FROM server_runs r WHERE r.task = a.id AND r.purpose = 'review'
              AND r.state = 'intended'), a.account),
    coalesce(a.kind, 'unknown'), a.resets_at, t.at, 'waiting', a.updated_at, a.updated_at
FROM server_timers t JOIN server_agents a ON a.id = t.task
WHERE t.kind = 'wake' AND a.state = 'paused' AND NOT a.is_by_person ORDER BY t.at;
INSERT INTO timers (id, work, task, kind, gate, at)
SELECT id, 'server', task, kind, gate, at FROM server_timers WHERE kind NOT IN ('wake', 'look')
ORDER BY rowid;
INSERT INTO secrets (task, name, value, created_at)
SELECT task, name, value, created_at FROM server_secrets ORDER BY rowid;
INSERT INTO checkpoints (id, task, kind, phase, path, sha256, created_at)
SELECT id, task, kind, phase, path, sha256, created_at FROM server_checkpoints ORDER BY rowid;
INSERT INTO restorations (task, snapshot, created_at)
SELECT task, snapshot, created_at FROM server_restorations ORDER BY rowid;

INSERT INTO notices (id, work, about, kind, task, title, gate, text, place, sent, tries, next_at,
    created_at)
SELECT id, CASE work WHEN 'watch' THEN 'panes' ELSE work END, about, kind, task, title, gate, text,
    place, sent, tries, next_at, created_at
FROM old_notices ORDER BY id;
INSERT INTO notices (work, about, kind, task, gate, text, sent, tries, next_at, created_at)
SELECT 'server', 'server_notices:' || id, kind, task, gate, text, sent, tries, next_at, created_at
FROM server_notices ORDER BY id;

-- The journal says of which work each row is, and calls things as the tables do now.
ALTER TABLE journal ADD COLUMN work TEXT;
UPDATE journal SET
    work = CASE entity
        WHEN 'plan' THEN entity_id
        WHEN 'task' THEN (SELECT work FROM tasks t WHERE t.id = entity_id)
        WHEN 'run' THEN (SELECT work FROM runs r WHERE r.id = entity_id)
        WHEN 'park' THEN (SELECT work FROM parks p WHERE p.id = entity_id)
        WHEN 'gate' THEN (SELECT work FROM gates g WHERE g.id = entity_id)
        WHEN 'worker' THEN 'panes'
        WHEN 'account' THEN NULL
        ELSE 'server'
    END,
    entity = CASE entity
        WHEN 'plan' THEN 'work'
        WHEN 'worker' THEN 'pane'
        WHEN 'server_task' THEN 'task'
        WHEN 'server_agent' THEN 'agent'
        WHEN 'server_run' THEN 'run'
        WHEN 'server_gate' THEN 'gate'
        ELSE entity
    END;

-- Children before parents: a table that goes takes along what refers to it.
DROP TABLE server_secrets;
DROP TABLE server_timers;
DROP TABLE server_checkpoints;
DROP TABLE server_restorations;
DROP TABLE server_notices;
DROP TABLE server_gates;
DROP TABLE server_runs;
DROP TABLE server_agents;
DROP TABLE server_tasks;
DROP TABLE old_notices;
DROP TABLE old_gates;
DROP TABLE old_parks;
DROP TABLE old_runs;
DROP TABLE old_tasks;
DROP TABLE plans;

ALTER TABLE workers RENAME TO panes;
ALTER TABLE server_settings RENAME TO settings;
ALTER TABLE server_replies RENAME TO idempotency;

-- Which run tries an account first after a limit, when the next may follow, and how often in a row
-- it was refused.
ALTER TABLE accounts ADD COLUMN canary TEXT;
ALTER TABLE accounts ADD COLUMN follows_at TEXT;
ALTER TABLE accounts ADD COLUMN follows_until TEXT;

-- The server's lists, without a look at the rows that are not shown. `work` comes first although it
-- is always the same: SQLite would take the index of the keys instead, and sort.
CREATE INDEX tasks_by_age ON tasks (work, created_at) WHERE work = 'server';
CREATE INDEX tasks_listed ON tasks (work, is_archived, created_at) WHERE work = 'server';
CREATE INDEX tasks_by_state ON tasks (work, state, is_archived, created_at) WHERE work = 'server';
CREATE INDEX tasks_queued ON tasks (work, state, id, created_at)
    WHERE work = 'server' AND state = 'pending';
-- What is counted and queued, without their long texts.
CREATE INDEX phase_tasks_short ON phase_tasks (task, type, is_cancelled, priority, submitted_at);
-- Those that depend on a task follow whoever tries it again.
CREATE INDEX phase_tasks_by_retry ON phase_tasks (retry_of) WHERE retry_of IS NOT NULL;
CREATE INDEX agents_by_state ON agents (state);
CREATE INDEX runs_by_task ON runs (task);
CREATE INDEX runs_open ON runs (work)
    WHERE state IN ('intended', 'running', 'verifying', 'merging');
CREATE INDEX parks_by_task ON parks (task);
CREATE INDEX parks_by_run ON parks (run) WHERE run IS NOT NULL;
CREATE INDEX parks_waiting ON parks (work, wakes_at) WHERE state = 'waiting';
CREATE INDEX gates_by_task ON gates (task);
CREATE INDEX gates_by_run ON gates (run) WHERE run IS NOT NULL;
CREATE INDEX gates_by_kind ON gates (work, kind, created_at) WHERE state = 'pending';
-- What waits for people, in the order in which they are shown it.
CREATE INDEX gates_waiting ON gates (work, priority DESC, created_at) WHERE state = 'pending';
CREATE INDEX acts_by_task ON acts (task) WHERE task IS NOT NULL;
CREATE INDEX acts_waiting ON acts (work, created_at) WHERE state = 'waiting';
CREATE INDEX timers_due ON timers (work, at);
CREATE INDEX timers_by_task ON timers (task);
CREATE INDEX checkpoints_by_task ON checkpoints (task, created_at);
CREATE INDEX notices_due ON notices (work, next_at) WHERE next_at IS NOT NULL;
CREATE INDEX notices_by_task ON notices (task);
