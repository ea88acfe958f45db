-- What a task runs, as a person last accepted it, and what they refused (plans/pins.py); NULL where
-- nobody has accepted anything.
ALTER TABLE tasks ADD COLUMN pinned TEXT;
ALTER TABLE tasks ADD COLUMN refused TEXT;
-- Whether agents worked since the plan could last be read: what changed in it may be theirs.
ALTER TABLE works ADD COLUMN is_unread INTEGER NOT NULL DEFAULT 0;
