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
INSERT INTO "accounts" VALUES('three','parked',1,'session_limit','2026-11-18T04:39:56.000000Z',NULL,'2026-11-18T03:39:56.594886Z','2026-11-18T03:39:56.594886Z',NULL);
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
INSERT INTO "gates" VALUES('2c8d57501283','ea2367ae','ea2367ae/T-4','T-4-1-bbcdcb02','question','choice','Which colour?','["red", "rather blue"]','red',NULL,NULL,'open',1,'2026-11-18T03:39:56.576927Z','2026-11-18T03:39:56.576927Z',NULL);
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
INSERT INTO "journal" VALUES(1,'2026-11-18T03:39:52.171949Z','plan','c0456d86',NULL,'pending','add',NULL);
INSERT INTO "journal" VALUES(2,'2026-11-18T03:39:52.171949Z','plan','c0456d86','pending','running','start',NULL);
INSERT INTO "journal" VALUES(3,'2026-11-18T03:39:52.171949Z','task','c0456d86/O-1',NULL,'pending','add',NULL);
INSERT INTO "journal" VALUES(4,'2026-11-18T03:39:52.171949Z','task','c0456d86/O-2',NULL,'pending','add',NULL);
INSERT INTO "journal" VALUES(5,'2026-11-18T03:39:52.175339Z','task','c0456d86/O-1','pending','in_progress','start',NULL);
INSERT INTO "journal" VALUES(6,'2026-11-18T03:39:52.175339Z','run','O-1-1-752d1171',NULL,'intended','add',NULL);
INSERT INTO "journal" VALUES(7,'2026-11-18T03:39:52.175339Z','task','c0456d86/O-2','pending','in_progress','start',NULL);
INSERT INTO "journal" VALUES(8,'2026-11-18T03:39:52.175339Z','run','O-2-1-bcdb9550',NULL,'intended','add',NULL);
INSERT INTO "journal" VALUES(9,'2026-11-18T03:39:52.192777Z','run','O-1-1-752d1171','intended','running','started',NULL);
INSERT INTO "journal" VALUES(10,'2026-11-18T03:39:52.192777Z','run','O-2-1-bcdb9550','intended','running','started',NULL);
INSERT INTO "journal" VALUES(11,'2026-11-18T03:39:52.192777Z','run','O-2-1-bcdb9550','running','completed','complete',NULL);
INSERT INTO "journal" VALUES(12,'2026-11-18T03:39:52.192777Z','task','c0456d86/O-2','in_progress','completed','complete',NULL);
INSERT INTO "journal" VALUES(13,'2026-11-18T03:39:52.197708Z','run','O-1-1-752d1171','running','completed','complete',NULL);
INSERT INTO "journal" VALUES(14,'2026-11-18T03:39:52.197708Z','task','c0456d86/O-1','in_progress','completed','complete',NULL);
INSERT INTO "journal" VALUES(15,'2026-11-18T03:39:52.203547Z','plan','c0456d86','running','finished','finish',NULL);
INSERT INTO "journal" VALUES(16,'2026-11-18T03:39:56.507261Z','plan','ea2367ae',NULL,'pending','add',NULL);
INSERT INTO "journal" VALUES(17,'2026-11-18T03:39:56.507261Z','plan','ea2367ae','pending','running','start',NULL);
INSERT INTO "journal" VALUES(18,'2026-11-18T03:39:56.507261Z','task','ea2367ae/T-1',NULL,'pending','add',NULL);
INSERT INTO "journal" VALUES(19,'2026-11-18T03:39:56.507261Z','task','ea2367ae/T-2',NULL,'pending','add',NULL);
INSERT INTO "journal" VALUES(20,'2026-11-18T03:39:56.507261Z','task','ea2367ae/T-3',NULL,'pending','add',NULL);
INSERT INTO "journal" VALUES(21,'2026-11-18T03:39:56.507261Z','task','ea2367ae/T-4',NULL,'pending','add',NULL);
INSERT INTO "journal" VALUES(22,'2026-11-18T03:39:56.507261Z','task','ea2367ae/T-5',NULL,'pending','add',NULL);
INSERT INTO "journal" VALUES(23,'2026-11-18T03:39:56.507261Z','task','ea2367ae/T-6',NULL,'pending','add',NULL);
INSERT INTO "journal" VALUES(24,'2026-11-18T03:39:56.523328Z','task','ea2367ae/T-2','pending','in_progress','start',NULL);
INSERT INTO "journal" VALUES(25,'2026-11-18T03:39:56.523328Z','run','T-2-1-5a95747e',NULL,'intended','add',NULL);
INSERT INTO "journal" VALUES(26,'2026-11-18T03:39:56.523328Z','task','ea2367ae/T-1','pending','in_progress','start',NULL);
INSERT INTO "journal" VALUES(27,'2026-11-18T03:39:56.523328Z','run','T-1-1-d7e11066',NULL,'intended','add',NULL);
INSERT INTO "journal" VALUES(28,'2026-11-18T03:39:56.523328Z','task','ea2367ae/T-3','pending','in_progress','start',NULL);
INSERT INTO "journal" VALUES(29,'2026-11-18T03:39:56.523328Z','run','T-3-1-36bf6677',NULL,'intended','add',NULL);
INSERT INTO "journal" VALUES(30,'2026-11-18T03:39:56.523328Z','task','ea2367ae/T-4','pending','in_progress','start',NULL);
INSERT INTO "journal" VALUES(31,'2026-11-18T03:39:56.523328Z','run','T-4-1-bbcdcb02',NULL,'intended','add',NULL);
INSERT INTO "journal" VALUES(32,'2026-11-18T03:39:56.569137Z','run','T-2-1-5a95747e','intended','running','started',NULL);
INSERT INTO "journal" VALUES(33,'2026-11-18T03:39:56.569137Z','run','T-1-1-d7e11066','intended','running','started',NULL);
INSERT INTO "journal" VALUES(34,'2026-11-18T03:39:56.569137Z','run','T-3-1-36bf6677','intended','running','started',NULL);
INSERT INTO "journal" VALUES(35,'2026-11-18T03:39:56.569137Z','run','T-4-1-bbcdcb02','intended','running','started',NULL);
INSERT INTO "journal" VALUES(36,'2026-11-18T03:39:56.569137Z','run','T-1-1-d7e11066','running','completed','complete',NULL);
INSERT INTO "journal" VALUES(37,'2026-11-18T03:39:56.569137Z','task','ea2367ae/T-1','in_progress','completed','complete',NULL);
INSERT INTO "journal" VALUES(38,'2026-11-18T03:39:56.569137Z','task','ea2367ae/T-5','pending','in_progress','start',NULL);
INSERT INTO "journal" VALUES(39,'2026-11-18T03:39:56.569137Z','run','T-5-1-871e9c7c',NULL,'intended','add',NULL);
INSERT INTO "journal" VALUES(40,'2026-11-18T03:39:56.576927Z','run','T-5-1-871e9c7c','intended','running','started',NULL);
INSERT INTO "journal" VALUES(41,'2026-11-18T03:39:56.576927Z','run','T-4-1-bbcdcb02','running','asked','ask',NULL);
INSERT INTO "journal" VALUES(42,'2026-11-18T03:39:56.576927Z','task','ea2367ae/T-4','in_progress','in_progress','ask',NULL);
INSERT INTO "journal" VALUES(43,'2026-11-18T03:39:56.576927Z','gate','2c8d57501283',NULL,'open','add',NULL);
INSERT INTO "journal" VALUES(44,'2026-11-18T03:39:56.589248Z','run','T-3-1-36bf6677','running','parked','park',NULL);
INSERT INTO "journal" VALUES(45,'2026-11-18T03:39:56.589248Z','task','ea2367ae/T-3','in_progress','in_progress','park',NULL);
INSERT INTO "journal" VALUES(46,'2026-11-18T03:39:56.589248Z','park','23f352b31381',NULL,'waiting','add','{"text": "Claude AI usage limit reached|1794976796"}');
INSERT INTO "journal" VALUES(47,'2026-11-18T03:39:56.594886Z','account','three',NULL,'parked','park',NULL);
INSERT INTO "journal" VALUES(48,'2026-11-18T03:39:56.614988Z','run','T-5-1-871e9c7c','running','failed','fail',NULL);
INSERT INTO "journal" VALUES(49,'2026-11-18T03:39:56.614988Z','task','ea2367ae/T-5','in_progress','in_progress','try_again',NULL);
INSERT INTO "journal" VALUES(50,'2026-11-18T03:39:56.614988Z','run','T-5-2-e49747b1',NULL,'intended','add',NULL);
INSERT INTO "journal" VALUES(51,'2026-11-18T03:39:56.625112Z','run','T-5-2-e49747b1','intended','running','started',NULL);
INSERT INTO "journal" VALUES(52,'2026-11-18T03:39:56.625112Z','run','T-5-2-e49747b1','running','failed','fail',NULL);
INSERT INTO "journal" VALUES(53,'2026-11-18T03:39:56.625112Z','task','ea2367ae/T-5','in_progress','failed','fail',NULL);
INSERT INTO "journal" VALUES(54,'2026-11-18T03:39:56.817669Z','plan','e9004181',NULL,'pending','add',NULL);
INSERT INTO "journal" VALUES(55,'2026-11-18T03:39:56.817669Z','plan','e9004181','pending','running','start',NULL);
INSERT INTO "journal" VALUES(56,'2026-11-18T03:39:56.817669Z','task','e9004181/H-1',NULL,'pending','add',NULL);
INSERT INTO "journal" VALUES(57,'2026-11-18T03:39:56.830900Z','plan','e9004181','running','parked','park',NULL);
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
INSERT INTO "notices" VALUES(1,'c0456d86','end:2026-11-18T03:39:52.203469Z','completed','','OLD.md',NULL,'2 done','host:@TMP@/project/OLD.md','[]',3,'2026-11-18T03:40:05.223852Z','2026-11-18T03:39:52.203524Z');
INSERT INTO "notices" VALUES(2,'ea2367ae','gate:2c8d57501283','question','T-4','T-4: asks (PLAN.md)','2c8d57501283','Which colour?
· red
· rather blue','host:@TMP@/project/PLAN.md','[]',1,'2026-11-18T03:39:57.619064Z','2026-11-18T03:39:56.576845Z');
INSERT INTO "notices" VALUES(3,'ea2367ae','failed:T-5:2026-11-18T03:39:56.624995Z','failed','T-5','T-5: fails (PLAN.md)',NULL,'exit code 1: broken','host:@TMP@/project/PLAN.md','[]',1,'2026-11-18T03:39:57.647100Z','2026-11-18T03:39:56.625017Z');
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
INSERT INTO "parks" VALUES('23f352b31381','ea2367ae','ea2367ae/T-3','T-3-1-36bf6677','three','session_limit','2026-11-18T04:39:56.000000Z','2026-11-18T04:39:56.000000Z','waiting',1,'2026-11-18T03:39:56.589248Z','2026-11-18T03:39:56.589248Z');
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
INSERT INTO "plans" VALUES('c0456d86','@TMP@/project/OLD.md','tasklist','finished',3,'{}',0,'2026-11-18T03:39:52.171949Z','2026-11-18T03:39:52.203547Z',NULL);
INSERT INTO "plans" VALUES('ea2367ae','@TMP@/project/PLAN.md','tasklist','running',2,'{}',1,'2026-11-18T03:39:56.507261Z','2026-11-18T03:39:56.507261Z',NULL);
INSERT INTO "plans" VALUES('e9004181','@TMP@/project/HELD.md','tasklist','parked',3,'{}',0,'2026-11-18T03:39:56.817669Z','2026-11-18T03:39:56.830900Z','[{"task": "H-1", "account": "three", "kind": "session_limit", "wakes_at": "2026-11-18T04:39:56.000000Z", "resets_at": null}]');
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
INSERT INTO "runs" VALUES('O-1-1-752d1171','c0456d86','c0456d86/O-1',1,'shell','shell','completed',3,'56047695db26c467','1b78f1',NULL,NULL,18963,71147,NULL,0,NULL,NULL,NULL,NULL,'2026-11-18T03:39:52.175339Z','2026-11-18T03:39:52.197708Z',NULL,'',NULL);
INSERT INTO "runs" VALUES('O-2-1-bcdb9550','c0456d86','c0456d86/O-2',1,'shell','shell','completed',3,'f3e78370def61ea7','135ae0',NULL,NULL,18964,71147,NULL,0,NULL,NULL,NULL,NULL,'2026-11-18T03:39:52.175339Z','2026-11-18T03:39:52.192777Z',NULL,'',NULL);
INSERT INTO "runs" VALUES('T-2-1-5a95747e','ea2367ae','ea2367ae/T-2',1,'two','two','running',2,'2d0e8d017dfa5445','d4c063',NULL,NULL,19109,71584,NULL,NULL,NULL,NULL,NULL,NULL,'2026-11-18T03:39:56.523328Z','2026-11-18T03:39:56.569137Z',NULL,'',NULL);
INSERT INTO "runs" VALUES('T-1-1-d7e11066','ea2367ae','ea2367ae/T-1',1,'shell','shell','completed',3,'70dbc433366ed497','6c3c42',NULL,NULL,19110,71584,NULL,0,NULL,NULL,NULL,NULL,'2026-11-18T03:39:56.523328Z','2026-11-18T03:39:56.569137Z',NULL,'',NULL);
INSERT INTO "runs" VALUES('T-3-1-36bf6677','ea2367ae','ea2367ae/T-3',1,'three','three','parked',3,'a623f0f89d11e6b0','a43df5',NULL,NULL,19111,71584,NULL,NULL,NULL,NULL,NULL,NULL,'2026-11-18T03:39:56.523328Z','2026-11-18T03:39:56.589248Z',NULL,'',NULL);
INSERT INTO "runs" VALUES('T-4-1-bbcdcb02','ea2367ae','ea2367ae/T-4',1,'four','four','asked',3,'ed65e416b0c2cb1f','a56b6c',NULL,NULL,19112,71584,NULL,NULL,NULL,NULL,NULL,NULL,'2026-11-18T03:39:56.523328Z','2026-11-18T03:39:56.576927Z',NULL,'',NULL);
INSERT INTO "runs" VALUES('T-5-1-871e9c7c','ea2367ae','ea2367ae/T-5',1,'shell','shell','failed',3,'b4918b8879651c72','9615a5',NULL,NULL,19110,71584,NULL,1,'exit code 1: broken',NULL,NULL,NULL,'2026-11-18T03:39:56.569137Z','2026-11-18T03:39:56.614988Z',NULL,'',NULL);
INSERT INTO "runs" VALUES('T-5-2-e49747b1','ea2367ae','ea2367ae/T-5',2,'shell','shell','failed',3,'2422307a93f0c08a','ed3796',NULL,NULL,19110,71584,NULL,1,'exit code 1: broken',NULL,NULL,NULL,'2026-11-18T03:39:56.614988Z','2026-11-18T03:39:56.625112Z',NULL,'',NULL);
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
INSERT INTO "tasks" VALUES('c0456d86/O-1','c0456d86','O-1','once','completed',3,'completed',0,NULL,'','2026-11-18T03:39:52.171949Z','2026-11-18T03:39:52.197708Z');
INSERT INTO "tasks" VALUES('c0456d86/O-2','c0456d86','O-2','twice','completed',3,'completed',0,NULL,'','2026-11-18T03:39:52.171949Z','2026-11-18T03:39:52.192777Z');
INSERT INTO "tasks" VALUES('ea2367ae/T-1','ea2367ae','T-1','done','completed',3,'completed',0,NULL,'','2026-11-18T03:39:56.507261Z','2026-11-18T03:39:56.569137Z');
INSERT INTO "tasks" VALUES('ea2367ae/T-2','ea2367ae','T-2','at work','in_progress',2,'in_progress',0,NULL,NULL,'2026-11-18T03:39:56.507261Z','2026-11-18T03:39:56.523328Z');
INSERT INTO "tasks" VALUES('ea2367ae/T-3','ea2367ae','T-3','at a limit','in_progress',3,'in_progress',0,NULL,NULL,'2026-11-18T03:39:56.507261Z','2026-11-18T03:39:56.589248Z');
INSERT INTO "tasks" VALUES('ea2367ae/T-4','ea2367ae','T-4','asks','in_progress',3,'in_progress',0,NULL,NULL,'2026-11-18T03:39:56.507261Z','2026-11-18T03:39:56.576927Z');
INSERT INTO "tasks" VALUES('ea2367ae/T-5','ea2367ae','T-5','fails','failed',4,'failed',1,'exit code 1
broken',NULL,'2026-11-18T03:39:56.507261Z','2026-11-18T03:39:56.625112Z');
INSERT INTO "tasks" VALUES('ea2367ae/T-6','ea2367ae','T-6','waits','pending',1,'pending',0,NULL,NULL,'2026-11-18T03:39:56.507261Z','2026-11-18T03:39:56.507261Z');
INSERT INTO "tasks" VALUES('e9004181/H-1','e9004181','H-1','held','pending',1,'pending',0,NULL,NULL,'2026-11-18T03:39:56.817669Z','2026-11-18T03:39:56.817669Z');
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
INSERT INTO "sqlite_sequence" VALUES('journal',57);
INSERT INTO "sqlite_sequence" VALUES('notices',3);
COMMIT;
PRAGMA user_version = 8;
