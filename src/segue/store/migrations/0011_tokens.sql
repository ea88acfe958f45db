-- Tokens of programs that use the API, by name; only their hashes are kept.
CREATE TABLE tokens (
    name       TEXT PRIMARY KEY,
    scope      TEXT NOT NULL,                   -- read, act
    sha256     TEXT NOT NULL UNIQUE,
    created_at TEXT NOT NULL
);

-- Browsers that are logged in, by the hash of their cookie: a logout ends one.
CREATE TABLE logins (
    sha256     TEXT PRIMARY KEY,
    token      TEXT NOT NULL,                   -- by which they came in
    scope      TEXT NOT NULL,
    until      TEXT NOT NULL,
    created_at TEXT NOT NULL
);
