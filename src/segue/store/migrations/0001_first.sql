-- The current state of everything, and the journal of how it came to be.
-- Instants are UTC, ISO 8601 with microseconds and Z: readable, and in order as text.

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
);
CREATE INDEX runs_by_task ON runs (task);
CREATE INDEX runs_open ON runs (plan) WHERE state IN ('intended', 'running', 'verifying', 'merging');

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
CREATE INDEX parks_waiting ON parks (wakes_at) WHERE state = 'waiting';

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
);
CREATE INDEX gates_open ON gates (plan) WHERE state = 'open';

CREATE TABLE accounts (
    id           TEXT PRIMARY KEY,              -- its name
    state        TEXT NOT NULL,
    version      INTEGER NOT NULL DEFAULT 1,
    kind         TEXT,                          -- of the limit that parked it
    parked_until TEXT,
    used         REAL,                          -- share of its window, where the agent tells
    created_at   TEXT NOT NULL,
    updated_at   TEXT NOT NULL
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
);
CREATE INDEX journal_by_entity ON journal (entity_id);
