-- What is to be told to people outside about plans and panes, until it was.
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
CREATE INDEX notices_due ON notices (work, next_at) WHERE next_at IS NOT NULL;
