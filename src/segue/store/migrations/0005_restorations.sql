-- A rewind that was decided: the task's files become this snapshot before anything else is done
-- with them.
CREATE TABLE server_restorations (
    task       TEXT PRIMARY KEY REFERENCES server_tasks (id) ON DELETE CASCADE,
    snapshot   TEXT NOT NULL,
    created_at TEXT NOT NULL
);

-- What was done before a fork, for an agent that cannot copy its conversation.
ALTER TABLE server_tasks ADD COLUMN before TEXT;

-- What waits for people, in the order in which they are shown it.
CREATE INDEX server_gates_waiting ON server_gates (priority DESC, created_at)
    WHERE state = 'pending';
