-- A watched pane is a task like any other: its agent is a run, its wait for a limit is a park. What
-- only a pane has (how its screen stands, what was typed into it) is in `panes`, beside its task.

ALTER TABLE panes RENAME TO old_panes;

CREATE TABLE panes (
    id         TEXT PRIMARY KEY,                -- its host, server and pane, and the pane's first process
    task       TEXT NOT NULL REFERENCES tasks (id) ON DELETE CASCADE,
    pane       TEXT NOT NULL,                   -- as its host calls it
    state      TEXT NOT NULL,
    version    INTEGER NOT NULL DEFAULT 1,
    kind       TEXT,                            -- of the limit that its screen shows
    evidence   TEXT,                            -- the line that says so
    resets_at  TEXT,
    sends      INTEGER NOT NULL DEFAULT 0,      -- tries to resume it since it stopped
    sent_at    TEXT,                            -- the last of them, written before it is made
    step       TEXT NOT NULL DEFAULT '',        -- what that try was about to send
    windows    INTEGER NOT NULL DEFAULT 0,      -- limits it has waited through
    is_held    INTEGER NOT NULL DEFAULT 0,      -- a person wants it left alone
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL
);

INSERT OR IGNORE INTO works (id, kind, path, state, created_at, updated_at)
SELECT 'panes', 'panes', rtrim(rtrim(file, replace(file, '/', '')), '/'), 'pending',
    (SELECT min(created_at) FROM old_panes), (SELECT max(updated_at) FROM old_panes)
FROM pragma_database_list WHERE name = 'main' AND EXISTS (SELECT 1 FROM old_panes);

-- Numbers of panes are given again: of those with the same name only the newest can still be there.
UPDATE old_panes SET state = 'dead', wakes_at = NULL WHERE EXISTS (
    SELECT 1 FROM old_panes n WHERE n.pane = old_panes.pane
    AND (n.updated_at, n.rowid) > (old_panes.updated_at, old_panes.rowid));

INSERT INTO tasks (id, work, key, title, state, error, created_at, updated_at)
SELECT 'panes/' || pane, 'panes', pane, agent,
    CASE state WHEN 'done' THEN 'completed' WHEN 'error' THEN 'failed' WHEN 'dead' THEN 'pending'
        ELSE 'in_progress' END,
    CASE state WHEN 'error' THEN evidence END,
    (SELECT min(f.created_at) FROM old_panes f WHERE f.pane = o.pane), updated_at
FROM old_panes o WHERE NOT EXISTS (
    SELECT 1 FROM old_panes n WHERE n.pane = o.pane
    AND (n.updated_at, n.rowid) > (o.updated_at, o.rowid))
ORDER BY rowid;

INSERT INTO panes (id, task, pane, state, version, kind, evidence, resets_at, sends, sent_at, step,
    windows, is_held, created_at, updated_at)
SELECT id, 'panes/' || pane, pane, state, version, kind, evidence, resets_at, sends, sent_at, step,
    windows, is_held, created_at, updated_at
FROM old_panes ORDER BY rowid;

INSERT INTO runs (id, work, task, attempt, agent, account, state, conversation, nonce,
    created_at, updated_at)
SELECT 'run_' || lower(hex(randomblob(6))), 'panes', 'panes/' || pane,
    row_number() OVER (PARTITION BY pane ORDER BY updated_at, rowid), agent, account,
    CASE state WHEN 'paused' THEN 'parked' WHEN 'blocked' THEN 'asked' WHEN 'error' THEN 'failed'
        WHEN 'done' THEN 'completed' WHEN 'dead' THEN 'cut_off' ELSE 'running' END,
    id, '', created_at, updated_at
FROM old_panes ORDER BY updated_at, rowid;

INSERT INTO parks (id, work, task, run, account, kind, resets_at, wakes_at, state,
    created_at, updated_at)
SELECT 'park_' || lower(hex(randomblob(6))), 'panes', 'panes/' || pane,
    (SELECT r.id FROM runs r WHERE r.conversation = old_panes.id AND r.work = 'panes'), account,
    coalesce(kind, 'unknown'), resets_at, wakes_at, 'waiting', updated_at, updated_at
FROM old_panes WHERE state = 'paused' AND wakes_at IS NOT NULL ORDER BY rowid;

UPDATE gates SET task = (SELECT p.task FROM panes p WHERE p.id = gates.name) WHERE work = 'panes';
UPDATE acts SET task = (SELECT t.id FROM tasks t WHERE t.work = 'panes'
    AND t.key = json_extract(acts.data, '$.name')) WHERE work = 'panes' AND task IS NULL;
UPDATE accounts SET canary = (SELECT p.task FROM panes p WHERE p.id = accounts.canary)
WHERE canary IN (SELECT id FROM panes);

DROP TABLE old_panes;
CREATE INDEX panes_by_task ON panes (task);
