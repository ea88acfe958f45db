-- Who changed something and how that is known; and the hash of the row before, and of this one
-- (store/chain.py). Rows that are there get their hashes after this step.
ALTER TABLE journal ADD COLUMN actor TEXT;
ALTER TABLE journal ADD COLUMN via TEXT;
ALTER TABLE journal ADD COLUMN prev TEXT;
ALTER TABLE journal ADD COLUMN hash TEXT;
