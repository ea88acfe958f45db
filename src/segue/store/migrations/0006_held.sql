-- Tasks of a plan that wait for an instant without a run of their own: the account was parked by
-- another plan, or it is quiet hours (JSON list).
ALTER TABLE plans ADD COLUMN held TEXT;
