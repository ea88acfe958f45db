-- Those that depend on a task follow whoever tries it again.
CREATE INDEX server_tasks_by_retry ON server_tasks (retry_of) WHERE retry_of IS NOT NULL;

-- How far an agent has got within a phase, by its own word: steps, or the entries of its list.
ALTER TABLE server_agents ADD COLUMN steps_done INTEGER NOT NULL DEFAULT 0;
ALTER TABLE server_agents ADD COLUMN steps_total INTEGER;

-- A task that a person cancelled has not failed by itself.
ALTER TABLE server_tasks ADD COLUMN is_cancelled INTEGER NOT NULL DEFAULT 0;
UPDATE server_tasks SET is_cancelled = 1 WHERE state = 'failed' AND 'cancel' = (
    SELECT j.cause FROM journal j WHERE j.entity = 'server_task' AND j.entity_id = server_tasks.id
    AND j.to_state = 'failed' ORDER BY j.seq DESC LIMIT 1
);
