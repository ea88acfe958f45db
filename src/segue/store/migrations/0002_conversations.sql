-- What the program itself calls a run's conversation, as soon as it is known; what a run is for,
-- if not simply to do its task, and what a person said that it is told; what a gate is about beyond its words (JSON); until when an
-- account's share of its window counts.

ALTER TABLE runs ADD COLUMN resume_id TEXT;
ALTER TABLE runs ADD COLUMN purpose TEXT NOT NULL DEFAULT '';
ALTER TABLE runs ADD COLUMN answer TEXT;
ALTER TABLE gates ADD COLUMN about TEXT;
ALTER TABLE accounts ADD COLUMN used_until TEXT;
