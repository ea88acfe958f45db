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
INSERT INTO "journal" VALUES(1,'2026-11-18T03:39:58.250840Z','plan','a733fe09',NULL,'pending','add',NULL);
INSERT INTO "journal" VALUES(2,'2026-11-18T03:39:58.258342Z','plan','a733fe09','pending','running','start',NULL);
INSERT INTO "journal" VALUES(3,'2026-11-18T03:39:58.258342Z','task','a733fe09/design',NULL,'pending','add',NULL);
INSERT INTO "journal" VALUES(4,'2026-11-18T03:39:58.259327Z','task','a733fe09/design','pending','in_progress','start',NULL);
INSERT INTO "journal" VALUES(5,'2026-11-18T03:39:58.259327Z','run','design-1-4d81cfee',NULL,'intended','add',NULL);
INSERT INTO "journal" VALUES(6,'2026-11-18T03:39:58.325390Z','run','design-1-4d81cfee','intended','running','started',NULL);
INSERT INTO "journal" VALUES(7,'2026-11-18T03:39:58.333189Z','run','design-1-4d81cfee','running','completed','complete',NULL);
INSERT INTO "journal" VALUES(8,'2026-11-18T03:39:58.333189Z','task','a733fe09/design','in_progress','completed','complete',NULL);
INSERT INTO "journal" VALUES(9,'2026-11-18T03:39:58.371530Z','task','a733fe09/review',NULL,'pending','add',NULL);
INSERT INTO "journal" VALUES(10,'2026-11-18T03:39:58.371530Z','task','a733fe09/review','pending','in_progress','start',NULL);
INSERT INTO "journal" VALUES(11,'2026-11-18T03:39:58.371530Z','run','review-1-05b99cdb',NULL,'intended','add',NULL);
INSERT INTO "journal" VALUES(12,'2026-11-18T03:39:58.410796Z','run','review-1-05b99cdb','intended','running','started',NULL);
INSERT INTO "journal" VALUES(13,'2026-11-18T03:39:58.410796Z','run','review-1-05b99cdb','running','completed','complete',NULL);
INSERT INTO "journal" VALUES(14,'2026-11-18T03:39:58.410796Z','task','a733fe09/review','in_progress','completed','complete',NULL);
INSERT INTO "journal" VALUES(15,'2026-11-18T03:39:58.438824Z','task','a733fe09/cp-1',NULL,'pending','add',NULL);
INSERT INTO "journal" VALUES(16,'2026-11-18T03:39:58.438824Z','task','a733fe09/cp-2',NULL,'pending','add',NULL);
INSERT INTO "journal" VALUES(17,'2026-11-18T03:39:58.449519Z','task','a733fe09/cp-1','pending','in_progress','start',NULL);
INSERT INTO "journal" VALUES(18,'2026-11-18T03:39:58.449519Z','run','cp-1-1-edccfd7b',NULL,'intended','add',NULL);
INSERT INTO "journal" VALUES(19,'2026-11-18T03:39:58.523450Z','run','cp-1-1-edccfd7b','intended','running','started',NULL);
INSERT INTO "journal" VALUES(20,'2026-11-18T03:39:58.523450Z','run','cp-1-1-edccfd7b','running','verifying','verify',NULL);
INSERT INTO "journal" VALUES(21,'2026-11-18T03:39:58.543055Z','run','cp-1-1-edccfd7b','verifying','completed','complete',NULL);
INSERT INTO "journal" VALUES(22,'2026-11-18T03:39:58.543055Z','task','a733fe09/cp-1','in_progress','completed','complete',NULL);
INSERT INTO "journal" VALUES(23,'2026-11-18T03:39:58.543055Z','task','a733fe09/cp-2','pending','in_progress','start',NULL);
INSERT INTO "journal" VALUES(24,'2026-11-18T03:39:58.543055Z','run','cp-2-1-eefc962f',NULL,'intended','add',NULL);
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
INSERT INTO "plans" VALUES('a733fe09','@TMP@/project/.develop-workflow/state.yaml','develop','running',2,'{}',0,'2026-11-18T03:39:58.250840Z','2026-11-18T03:39:58.258342Z',NULL);
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
INSERT INTO "runs" VALUES('design-1-4d81cfee','a733fe09','a733fe09/design',1,'mine','mine','completed',3,'c4ec97bcf2c270bc','765693',NULL,NULL,19159,71756,NULL,0,NULL,NULL,NULL,NULL,'2026-11-18T03:39:58.259327Z','2026-11-18T03:39:58.333189Z',NULL,'',NULL);
INSERT INTO "runs" VALUES('review-1-05b99cdb','a733fe09','a733fe09/review',1,'mine','mine','completed',3,'b0f994a93b70bc75','b76364',NULL,NULL,19159,71756,NULL,0,NULL,NULL,NULL,NULL,'2026-11-18T03:39:58.371530Z','2026-11-18T03:39:58.410796Z',NULL,'',NULL);
INSERT INTO "runs" VALUES('cp-1-1-edccfd7b','a733fe09','a733fe09/cp-1',1,'mine','mine','completed',4,'8dcbe50583c16054','aea753',NULL,'cp-1-1-edccfd7b.verify-0488',19159,71756,NULL,0,NULL,NULL,NULL,NULL,'2026-11-18T03:39:58.449519Z','2026-11-18T03:39:58.543055Z',NULL,'',NULL);
INSERT INTO "runs" VALUES('cp-2-1-eefc962f','a733fe09','a733fe09/cp-2',1,'mine','mine','intended',1,'a4c5b8a8a671d27f','1789af',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'2026-11-18T03:39:58.543055Z','2026-11-18T03:39:58.543055Z',NULL,'',NULL);
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
INSERT INTO "tasks" VALUES('a733fe09/design','a733fe09','design','real-time chat','completed',3,'completed',0,NULL,'did DESIGN','2026-11-18T03:39:58.258342Z','2026-11-18T03:39:58.333189Z');
INSERT INTO "tasks" VALUES('a733fe09/review','a733fe09','review','Review of the design','completed',3,'completed',0,NULL,'did REVIEW','2026-11-18T03:39:58.371530Z','2026-11-18T03:39:58.410796Z');
INSERT INTO "tasks" VALUES('a733fe09/cp-1','a733fe09','cp-1','Make cp-1','completed',3,'completed',0,NULL,'did cp-1','2026-11-18T03:39:58.438824Z','2026-11-18T03:39:58.543055Z');
INSERT INTO "tasks" VALUES('a733fe09/cp-2','a733fe09','cp-2','Make cp-2','in_progress',2,'in_progress',0,NULL,NULL,'2026-11-18T03:39:58.438824Z','2026-11-18T03:39:58.543055Z');
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
INSERT INTO "sqlite_sequence" VALUES('journal',24);
COMMIT;
PRAGMA user_version = 8;
