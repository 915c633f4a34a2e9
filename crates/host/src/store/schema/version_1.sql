CREATE TABLE sessions (
    session_id TEXT PRIMARY KEY,
    session_key TEXT NOT NULL,
    header TEXT NOT NULL,
    generation TEXT NOT NULL,
    tip TEXT NOT NULL,
    append_parent TEXT,
    next_seq INTEGER NOT NULL,
    path_length INTEGER NOT NULL,
    message_count INTEGER NOT NULL,
    created_at_ms INTEGER NOT NULL,
    updated_at_ms INTEGER NOT NULL
) STRICT;
CREATE TABLE session_keys (
    session_key TEXT PRIMARY KEY,
    session_id TEXT NOT NULL REFERENCES sessions
) STRICT;
CREATE TABLE entries (
    session_id TEXT NOT NULL REFERENCES sessions,
    seq INTEGER NOT NULL,
    entry_id TEXT,
    row TEXT NOT NULL,
    tokens INTEGER NOT NULL,
    is_message INTEGER NOT NULL,
    idempotency_key TEXT,
    PRIMARY KEY (session_id, seq)
) STRICT;
CREATE INDEX entries_by_id ON entries (session_id, entry_id);
CREATE UNIQUE INDEX entries_by_idempotency_key ON entries (session_id, idempotency_key)
    WHERE idempotency_key IS NOT NULL;
CREATE TABLE active_path (
    session_id TEXT NOT NULL REFERENCES sessions,
    position INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    message_position INTEGER,
    PRIMARY KEY (session_id, position)
) STRICT, WITHOUT ROWID;
CREATE INDEX active_path_by_seq ON active_path (session_id, seq);
CREATE TABLE outbox (
    advancement_key TEXT PRIMARY KEY,
    engine_id TEXT NOT NULL,
    session_id TEXT NOT NULL REFERENCES sessions,
    state TEXT NOT NULL CHECK (state IN ('admitted', 'ready', 'blocked')),
    facts TEXT NOT NULL,
    attempts INTEGER NOT NULL,
    last_error TEXT,
    created_at_ms INTEGER NOT NULL
) STRICT;
CREATE INDEX outbox_by_session ON outbox (session_id, engine_id);
CREATE TABLE turns (
    turn_id TEXT PRIMARY KEY,
    session_id TEXT NOT NULL REFERENCES sessions,
    admission_seq INTEGER NOT NULL,
    terminal_seq INTEGER,
    commit_facts TEXT,
    started_at_ms INTEGER NOT NULL,
    record TEXT
) STRICT;
CREATE INDEX turns_by_session ON turns (session_id, admission_seq);
