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
, used_until TEXT, canary TEXT, follows_at TEXT, follows_until TEXT);
INSERT INTO "accounts" VALUES('claude','parked',1,'weekly_limit','2026-11-20T13:30:51.000000Z',NULL,'2026-11-18T13:30:51.417083Z','2026-11-18T13:30:51.417083Z',NULL,NULL,NULL,NULL);
INSERT INTO "accounts" VALUES('codex','parked',3,'session_limit','2026-11-18T13:30:55.004068Z',NULL,'2026-11-18T13:30:51.476184Z','2026-11-18T13:30:55.004087Z',NULL,NULL,NULL,NULL);
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
INSERT INTO "acts" VALUES('act_a8465edeb215','panes',NULL,NULL,'park','{"until": "2026-11-19T08:00:00.000000Z", "name": "%1"}','root','terminal','waiting',NULL,1,'2026-11-18T13:30:55.654157Z','2026-11-18T13:30:55.654157Z');
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
CREATE TABLE checkpoints (
    id         TEXT PRIMARY KEY,
    task       TEXT NOT NULL REFERENCES tasks (id) ON DELETE CASCADE,
    kind       TEXT NOT NULL,                   -- phase, review, question, dependency, pause, limit, timer, final
    phase      INTEGER,
    path       TEXT NOT NULL,                   -- from the data folder
    sha256     TEXT NOT NULL,
    created_at TEXT NOT NULL
);
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
INSERT INTO "gates" VALUES('pane_f13ee5260063','panes',NULL,NULL,'pane',NULL,1,'asks','tmux:494fd807b4ee:%3:1142','The program asks a question in its pane.
Do you want to proceed?','[]',NULL,1,0,NULL,'{"pane": "%3", "agent": "claude"}',NULL,'pending',1,NULL,'2026-11-18T13:30:51.483787Z','2026-11-18T13:30:51.483787Z');
INSERT INTO "gates" VALUES('pane_9655d79e2c15','panes',NULL,NULL,'pane',NULL,1,'session_limit','tmux:494fd807b4ee:%2:1136','Segue tried 1 times to resume it, without success.
You''ve hit your usage limit. Upgrade to Pro or try again in 2 seconds.','[]',NULL,1,0,NULL,'{"pane": "%2", "agent": "codex"}',NULL,'pending',1,NULL,'2026-11-18T13:30:54.993056Z','2026-11-18T13:30:54.993056Z');
CREATE TABLE "idempotency" (
    key        TEXT PRIMARY KEY,
    request    TEXT NOT NULL,                   -- a digest of method, path and body
    status     INTEGER NOT NULL,
    body       TEXT NOT NULL,
    created_at TEXT NOT NULL
);
CREATE TABLE journal (
    seq        INTEGER PRIMARY KEY AUTOINCREMENT,
    at         TEXT NOT NULL,
    entity     TEXT NOT NULL,                   -- plan, task, run, park, gate, account
    entity_id  TEXT NOT NULL,
    from_state TEXT,
    to_state   TEXT NOT NULL,
    cause      TEXT NOT NULL,                   -- the trigger of the machine
    data       TEXT
, work TEXT, actor TEXT, via TEXT, prev TEXT, hash TEXT);
INSERT INTO "journal" VALUES(1,'2026-11-18T13:30:51.343086Z','work','panes',NULL,'pending','add',NULL,'panes','segue','engine','0000000000000000000000000000000000000000000000000000000000000000','986a583f8972eb055864c273f72457acc8090f1effec5bb1063fbe97ca6ec4d1');
INSERT INTO "journal" VALUES(2,'2026-11-18T13:30:51.370950Z','pane','tmux:494fd807b4ee:%0:1122',NULL,'idle','see',NULL,'panes','segue','engine','986a583f8972eb055864c273f72457acc8090f1effec5bb1063fbe97ca6ec4d1','13d19e75befc356c3a8ed2967d76f3fd80ec3be9cd32687fc07f0b30928c7305');
INSERT INTO "journal" VALUES(3,'2026-11-18T13:30:51.417083Z','pane','tmux:494fd807b4ee:%0:1122','idle','paused','park','{"wakes_at": "2026-11-20T13:30:51.000000Z", "windows": 1, "kind": "weekly_limit", "evidence": "Claude AI usage limit reached|1795181451", "resets_at": "2026-11-20T13:30:51.000000Z"}','panes','segue','engine','13d19e75befc356c3a8ed2967d76f3fd80ec3be9cd32687fc07f0b30928c7305','121baa381256b2024a88153bf6b6d6a62910f47e233f016116a8cf9c9dc9cf93');
INSERT INTO "journal" VALUES(4,'2026-11-18T13:30:51.417083Z','account','claude',NULL,'parked','park',NULL,NULL,'segue','engine','121baa381256b2024a88153bf6b6d6a62910f47e233f016116a8cf9c9dc9cf93','7d1bc8d28c32d1dfb75c75ba5afccf64712fa220bd8ba9f4d4a4b0f514250ac9');
INSERT INTO "journal" VALUES(5,'2026-11-18T13:30:51.431054Z','pane','tmux:494fd807b4ee:%1:1128',NULL,'idle','see',NULL,'panes','segue','engine','7d1bc8d28c32d1dfb75c75ba5afccf64712fa220bd8ba9f4d4a4b0f514250ac9','cfc8b7d08d49858612db30463e0d0c650d7393eb1a0119a79c6948d07a1dbaeb');
INSERT INTO "journal" VALUES(6,'2026-11-18T13:30:51.441835Z','pane','tmux:494fd807b4ee:%1:1128','idle','paused','park','{"wakes_at": "2026-11-20T13:30:51.000000Z", "windows": 1, "kind": "weekly_limit", "evidence": "Claude AI usage limit reached|1795181451", "resets_at": "2026-11-20T13:30:51.000000Z"}','panes','segue','engine','cfc8b7d08d49858612db30463e0d0c650d7393eb1a0119a79c6948d07a1dbaeb','e92ecb9323cbe1a3f9f3ccc456544ac7c694b85938b83755a7c35e223c84ea0d');
INSERT INTO "journal" VALUES(7,'2026-11-18T13:30:51.449829Z','pane','tmux:494fd807b4ee:%2:1136',NULL,'idle','see',NULL,'panes','segue','engine','e92ecb9323cbe1a3f9f3ccc456544ac7c694b85938b83755a7c35e223c84ea0d','ad9823f9536d5669840c785af6901c78b3d3b81d75c45050d802ba6d1447e498');
INSERT INTO "journal" VALUES(8,'2026-11-18T13:30:51.476184Z','pane','tmux:494fd807b4ee:%2:1136','idle','paused','park','{"wakes_at": "2026-11-18T13:30:53.459253Z", "windows": 1, "kind": "session_limit", "evidence": "You''ve hit your usage limit. Upgrade to Pro or try again in 2 seconds.", "resets_at": "2026-11-18T13:30:53.459253Z"}','panes','segue','engine','ad9823f9536d5669840c785af6901c78b3d3b81d75c45050d802ba6d1447e498','ba440c33bc6649810903968b7fd6c209ca24a5244b2984a2e15df19f1e24f34a');
INSERT INTO "journal" VALUES(9,'2026-11-18T13:30:51.476184Z','account','codex',NULL,'parked','park',NULL,NULL,'segue','engine','ba440c33bc6649810903968b7fd6c209ca24a5244b2984a2e15df19f1e24f34a','04265f78624536fdb6ed148febbeee4f8abb3118e2978fd04eb10276d38f0161');
INSERT INTO "journal" VALUES(10,'2026-11-18T13:30:51.481672Z','pane','tmux:494fd807b4ee:%3:1142',NULL,'idle','see',NULL,'panes','segue','engine','04265f78624536fdb6ed148febbeee4f8abb3118e2978fd04eb10276d38f0161','38c7948c7f843610c9089fe561ed8e1f66978c62ccc3822ac0150a22fbe2d494');
INSERT INTO "journal" VALUES(11,'2026-11-18T13:30:51.483787Z','pane','tmux:494fd807b4ee:%3:1142','idle','blocked','see','{"evidence": "Do you want to proceed?"}','panes','segue','engine','38c7948c7f843610c9089fe561ed8e1f66978c62ccc3822ac0150a22fbe2d494','bf1d54ea1c2a119fb7042346d3a17896ea7815d8f27c1f576c90c906d1997411');
INSERT INTO "journal" VALUES(12,'2026-11-18T13:30:51.483787Z','gate','pane_f13ee5260063',NULL,'pending','open',NULL,'panes','segue','engine','bf1d54ea1c2a119fb7042346d3a17896ea7815d8f27c1f576c90c906d1997411','8f93945b2185722f8e6ae25223779c830fe157bbad4c20f532a67e2b75aed86d');
INSERT INTO "journal" VALUES(13,'2026-11-18T13:30:51.492876Z','pane','tmux:494fd807b4ee:%4:1147',NULL,'idle','see',NULL,'panes','segue','engine','8f93945b2185722f8e6ae25223779c830fe157bbad4c20f532a67e2b75aed86d','05171431e097f6554106f2252de87ad21d481201354649b9a249cfbb975b8675');
INSERT INTO "journal" VALUES(14,'2026-11-18T13:30:51.508709Z','pane','tmux:494fd807b4ee:%4:1147','idle','busy','see','{}','panes','segue','engine','05171431e097f6554106f2252de87ad21d481201354649b9a249cfbb975b8675','2f4edf2bca281d4563c25122583dec8c6ad3e62ed7564a3058cf8c19cd735068');
INSERT INTO "journal" VALUES(15,'2026-11-18T13:30:51.512739Z','pane','tmux:494fd807b4ee:%5:1154',NULL,'idle','see',NULL,'panes','segue','engine','2f4edf2bca281d4563c25122583dec8c6ad3e62ed7564a3058cf8c19cd735068','0801388dc5d860e3902473291b6a544ba2f662b19a254288f9e03617850e5afd');
INSERT INTO "journal" VALUES(16,'2026-11-18T13:30:51.516172Z','pane','tmux:494fd807b4ee:%5:1154','idle','paused','park','{"wakes_at": "2026-11-20T13:30:51.000000Z", "windows": 1, "kind": "weekly_limit", "evidence": "Claude AI usage limit reached|1795181451", "resets_at": "2026-11-20T13:30:51.000000Z"}','panes','segue','engine','0801388dc5d860e3902473291b6a544ba2f662b19a254288f9e03617850e5afd','5cf6be133f4922dfb8ae70c6183c899028c27210f8bbc8a71c7b1ddefbe69908');
INSERT INTO "journal" VALUES(17,'2026-11-18T13:30:53.463227Z','account','codex','parked','probing','probe',NULL,NULL,'segue','engine','5cf6be133f4922dfb8ae70c6183c899028c27210f8bbc8a71c7b1ddefbe69908','85023dee3845532c38647fb9287d2f59a5b2e64146375735091975647d1b5000');
INSERT INTO "journal" VALUES(18,'2026-11-18T13:30:53.478240Z','pane','tmux:494fd807b4ee:%2:1136','paused','paused','send','{"sends": 1, "sent_at": "2026-11-18T13:30:53.478216Z", "step": "text"}','panes','segue','engine','85023dee3845532c38647fb9287d2f59a5b2e64146375735091975647d1b5000','f2522b0edb96fdc4bdb8bda8b1c20d19b667dbdb36b5c89c98a5639efaae3f49');
INSERT INTO "journal" VALUES(19,'2026-11-18T13:30:54.993056Z','pane','tmux:494fd807b4ee:%2:1136','paused','error','fail','{}','panes','segue','engine','f2522b0edb96fdc4bdb8bda8b1c20d19b667dbdb36b5c89c98a5639efaae3f49','50137040819c7f60a548f33c701885d9261792f2268c90e07f165e8ea4ad2306');
INSERT INTO "journal" VALUES(20,'2026-11-18T13:30:54.993056Z','gate','pane_9655d79e2c15',NULL,'pending','open',NULL,'panes','segue','engine','50137040819c7f60a548f33c701885d9261792f2268c90e07f165e8ea4ad2306','596d883c95e2803bcf72b8a7c9e77441f8499af8e3b10943a1759c8c51aeeca5');
INSERT INTO "journal" VALUES(21,'2026-11-18T13:30:55.004087Z','account','codex','probing','parked','park',NULL,NULL,'segue','engine','596d883c95e2803bcf72b8a7c9e77441f8499af8e3b10943a1759c8c51aeeca5','e179a753fc6cc9fb8b26bb42a4b26088221921369928fe68a4872923006ea23a');
INSERT INTO "journal" VALUES(22,'2026-11-18T13:30:55.038816Z','pane','tmux:494fd807b4ee:%5:1154','paused','dead','lose','{}','panes','segue','engine','e179a753fc6cc9fb8b26bb42a4b26088221921369928fe68a4872923006ea23a','c81ae613a31129992a6e11d459ac4aca2308bb9b957cac3b14aee41871f7ec84');
INSERT INTO "journal" VALUES(23,'2026-11-18T13:30:55.654157Z','act','act_a8465edeb215',NULL,'waiting','add','{"verb": "park", "actor": "root", "via": "terminal"}','panes','root','terminal','c81ae613a31129992a6e11d459ac4aca2308bb9b957cac3b14aee41871f7ec84','851611ebfab4acd2b31deadc2d874160116f370386b562512ed9cdac0d5e2c96');
CREATE TABLE logins (
    sha256     TEXT PRIMARY KEY,
    token      TEXT NOT NULL,                   -- by which they came in
    scope      TEXT NOT NULL,
    until      TEXT NOT NULL,
    created_at TEXT NOT NULL
);
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
CREATE TABLE "panes" (
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
INSERT INTO "panes" VALUES('tmux:494fd807b4ee:%0:1122','%0','claude','claude','paused',2,'weekly_limit','Claude AI usage limit reached|1795181451','2026-11-20T13:30:51.000000Z','2026-11-20T13:30:51.000000Z',0,NULL,'',1,0,'2026-11-18T13:30:51.370950Z','2026-11-18T13:30:51.417083Z');
INSERT INTO "panes" VALUES('tmux:494fd807b4ee:%1:1128','%1','claude','claude','paused',2,'weekly_limit','Claude AI usage limit reached|1795181451','2026-11-20T13:30:51.000000Z','2026-11-20T13:30:51.000000Z',0,NULL,'',1,0,'2026-11-18T13:30:51.431054Z','2026-11-18T13:30:51.441835Z');
INSERT INTO "panes" VALUES('tmux:494fd807b4ee:%2:1136','%2','codex','codex','error',4,'session_limit','You''ve hit your usage limit. Upgrade to Pro or try again in 2 seconds.','2026-11-18T13:30:53.459253Z',NULL,1,'2026-11-18T13:30:53.478216Z','',1,0,'2026-11-18T13:30:51.449829Z','2026-11-18T13:30:54.993056Z');
INSERT INTO "panes" VALUES('tmux:494fd807b4ee:%3:1142','%3','claude','claude','blocked',2,NULL,'Do you want to proceed?',NULL,NULL,0,NULL,'',0,0,'2026-11-18T13:30:51.481672Z','2026-11-18T13:30:51.483787Z');
INSERT INTO "panes" VALUES('tmux:494fd807b4ee:%4:1147','%4','gemini','gemini','busy',2,NULL,NULL,NULL,NULL,0,NULL,'',0,0,'2026-11-18T13:30:51.492876Z','2026-11-18T13:30:51.508709Z');
INSERT INTO "panes" VALUES('tmux:494fd807b4ee:%5:1154','%5','claude','claude','dead',3,'weekly_limit','Claude AI usage limit reached|1795181451','2026-11-20T13:30:51.000000Z',NULL,0,NULL,'',1,0,'2026-11-18T13:30:51.512739Z','2026-11-18T13:30:55.038816Z');
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
CREATE TABLE restorations (
    task       TEXT PRIMARY KEY REFERENCES tasks (id) ON DELETE CASCADE,
    snapshot   TEXT NOT NULL,
    created_at TEXT NOT NULL
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
CREATE TABLE secrets (
    task       TEXT NOT NULL REFERENCES tasks (id) ON DELETE CASCADE,
    name       TEXT NOT NULL,
    value      BLOB NOT NULL,
    created_at TEXT NOT NULL,
    PRIMARY KEY (task, name)
);
CREATE TABLE "settings" (
    key   TEXT PRIMARY KEY,
    value TEXT NOT NULL                         -- JSON
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
CREATE TABLE timers (
    id   TEXT PRIMARY KEY,                      -- what it is for, so that there is one
    work TEXT NOT NULL REFERENCES works (id) ON DELETE CASCADE,
    task TEXT NOT NULL REFERENCES tasks (id) ON DELETE CASCADE,
    kind TEXT NOT NULL,                         -- deadline, remind, urgent, escalate, save
    gate TEXT,
    at   TEXT NOT NULL
);
CREATE TABLE tokens (
    name       TEXT PRIMARY KEY,
    scope      TEXT NOT NULL,                   -- read, act
    sha256     TEXT NOT NULL UNIQUE,
    created_at TEXT NOT NULL
);
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
INSERT INTO "works" VALUES('panes','panes','@TMP@/project/.segue','pending',1,'{}',0,NULL,'2026-11-18T13:30:51.343086Z','2026-11-18T13:30:51.343086Z');
CREATE INDEX journal_by_entity ON journal (entity_id);
CREATE INDEX tasks_by_age ON tasks (work, created_at) WHERE work = 'server';
CREATE INDEX tasks_listed ON tasks (work, is_archived, created_at) WHERE work = 'server';
CREATE INDEX tasks_by_state ON tasks (work, state, is_archived, created_at) WHERE work = 'server';
CREATE INDEX tasks_queued ON tasks (work, state, id, created_at)
    WHERE work = 'server' AND state = 'pending';
CREATE INDEX phase_tasks_short ON phase_tasks (task, type, is_cancelled, priority, submitted_at);
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
CREATE INDEX gates_waiting ON gates (work, priority DESC, created_at) WHERE state = 'pending';
CREATE INDEX acts_by_task ON acts (task) WHERE task IS NOT NULL;
CREATE INDEX acts_waiting ON acts (work, created_at) WHERE state = 'waiting';
CREATE INDEX timers_due ON timers (work, at);
CREATE INDEX timers_by_task ON timers (task);
CREATE INDEX checkpoints_by_task ON checkpoints (task, created_at);
CREATE INDEX notices_due ON notices (work, next_at) WHERE next_at IS NOT NULL;
CREATE INDEX notices_by_task ON notices (task);
DELETE FROM "sqlite_sequence";
INSERT INTO "sqlite_sequence" VALUES('notices',0);
INSERT INTO "sqlite_sequence" VALUES('journal',23);
COMMIT;
PRAGMA user_version = 11;
