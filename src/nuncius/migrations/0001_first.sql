-- The first schema. Runs in one transaction; the last line sets the version.
-- Times are ISO 8601 in UTC; JSON stands in TEXT.

PRAGMA application_id = 1853189731; -- "nunc"

-- Conversations -----------------------------------------------------------------------------------

CREATE TABLE agent_sessions (
    number INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    title TEXT NOT NULL,
    created_at TEXT NOT NULL,
    status TEXT NOT NULL, -- idle, running, how the last turn ended, or 'deleted' while rows go
    mode TEXT NOT NULL,
    model TEXT NOT NULL,
    enable_thinking INTEGER NOT NULL,
    summary TEXT NOT NULL DEFAULT '',
    input_tokens INTEGER NOT NULL DEFAULT 0,
    output_tokens INTEGER NOT NULL DEFAULT 0,
    cached_tokens INTEGER NOT NULL DEFAULT 0,
    reasoning_tokens INTEGER NOT NULL DEFAULT 0,
    cost_usd REAL -- NULL: no price is known
) STRICT;

CREATE TABLE agent_messages (
    id INTEGER PRIMARY KEY,
    session_id TEXT NOT NULL REFERENCES agent_sessions (id),
    turn_id TEXT NOT NULL,
    agent_name TEXT NOT NULL,
    role TEXT NOT NULL,
    content TEXT NOT NULL,
    name TEXT NOT NULL, -- the tool's, on tool messages
    tool_call_id TEXT NOT NULL,
    is_error INTEGER NOT NULL,
    tool_calls TEXT NOT NULL,
    thinking TEXT NOT NULL,
    metadata TEXT NOT NULL,
    raw_json TEXT NOT NULL, -- the provider's own form; never sent back
    time TEXT NOT NULL
) STRICT;
CREATE INDEX agent_messages_in_order ON agent_messages (session_id, agent_name, id);

CREATE TABLE events (
    id INTEGER PRIMARY KEY,
    session_id TEXT NOT NULL REFERENCES agent_sessions (id),
    seq INTEGER NOT NULL,
    turn_id TEXT NOT NULL,
    agent TEXT NOT NULL,
    type TEXT NOT NULL,
    time TEXT NOT NULL,
    json TEXT NOT NULL,
    UNIQUE (session_id, seq)
) STRICT;
CREATE INDEX events_of_turns ON events (session_id, type, turn_id)
WHERE type IN ('turn_started', 'turn_finished');

-- Views that `commit` derives from events, kept as tables so that reading them costs nothing.

CREATE TABLE tool_runs (
    session_id TEXT NOT NULL REFERENCES agent_sessions (id),
    tool_call_id TEXT NOT NULL,
    turn_id TEXT NOT NULL,
    step INTEGER NOT NULL,
    agent TEXT NOT NULL,
    name TEXT NOT NULL,
    call_seq INTEGER, -- NULL: a result without a call
    started_at TEXT NOT NULL,
    result_seq INTEGER, -- NULL: no result yet
    finished_at TEXT NOT NULL DEFAULT '',
    is_error INTEGER NOT NULL DEFAULT 0,
    error_kind TEXT NOT NULL DEFAULT '',
    duration_ms INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (session_id, tool_call_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX tool_runs_open ON tool_runs (session_id, call_seq) WHERE result_seq IS NULL;

CREATE TABLE agent_tasks (
    session_id TEXT NOT NULL REFERENCES agent_sessions (id),
    position INTEGER NOT NULL,
    agent TEXT NOT NULL,
    task_id TEXT NOT NULL,
    content TEXT NOT NULL,
    status TEXT NOT NULL,
    json TEXT NOT NULL,
    PRIMARY KEY (session_id, position)
) STRICT, WITHOUT ROWID;

CREATE TABLE pending_requests (
    session_id TEXT NOT NULL REFERENCES agent_sessions (id),
    id TEXT NOT NULL,
    turn_id TEXT NOT NULL,
    agent TEXT NOT NULL,
    tool_call_id TEXT NOT NULL,
    tool TEXT NOT NULL,
    arguments TEXT NOT NULL,
    args_sha256 TEXT NOT NULL,
    reason TEXT NOT NULL,
    rule TEXT NOT NULL,
    created_at TEXT NOT NULL,
    state TEXT NOT NULL, -- open, allow, deny, or expired: the turn ended first
    scope TEXT NOT NULL DEFAULT '',
    resolved_by TEXT NOT NULL DEFAULT '',
    resolved_at TEXT NOT NULL DEFAULT '',
    PRIMARY KEY (session_id, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX pending_requests_open ON pending_requests (session_id, turn_id) WHERE state = 'open';

-- Who did what: digests only, so that rows may outlive their session. Each row carries the digest
-- of the row before it.
CREATE TABLE agent_audit_log (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    session_id TEXT NOT NULL,
    seq INTEGER NOT NULL,
    turn_id TEXT NOT NULL,
    agent TEXT NOT NULL,
    time TEXT NOT NULL,
    type TEXT NOT NULL,
    tool TEXT NOT NULL,
    tool_call_id TEXT NOT NULL,
    outcome TEXT NOT NULL,
    event_sha256 TEXT NOT NULL,
    chain_sha256 TEXT NOT NULL
) STRICT;
CREATE TRIGGER agent_audit_log_stays BEFORE DELETE ON agent_audit_log
BEGIN SELECT raise(ABORT, 'the audit log is append-only'); END;
CREATE TRIGGER agent_audit_log_is_final BEFORE UPDATE ON agent_audit_log
BEGIN SELECT raise(ABORT, 'the audit log is append-only'); END;

CREATE TABLE permission_rules (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    pattern TEXT NOT NULL,
    decision TEXT NOT NULL CHECK (decision IN ('deny', 'allow', 'ask')),
    session_id TEXT NOT NULL, -- empty: for all sessions
    source TEXT NOT NULL,
    created_at TEXT NOT NULL,
    UNIQUE (pattern, decision, session_id)
) STRICT;

-- The library -------------------------------------------------------------------------------------

-- One stored version of a paper's text. It can be found once a paper points to it; until then, and
-- after it was replaced, it is invisible and swept away when its writer is gone.
CREATE TABLE paper_texts (
    text_id INTEGER PRIMARY KEY AUTOINCREMENT,
    writer TEXT NOT NULL,
    text_sha256 TEXT NOT NULL,
    engine TEXT NOT NULL,
    verdict TEXT NOT NULL,
    passage_count INTEGER NOT NULL, -- before the long text: counting need not read through it
    markdown TEXT NOT NULL
) STRICT;
CREATE INDEX paper_texts_digest ON paper_texts (text_sha256);

CREATE TABLE papers (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    paper_id TEXT NOT NULL UNIQUE,
    title TEXT NOT NULL,
    authors TEXT NOT NULL, -- JSON list of names
    year INTEGER,
    bibcode TEXT,
    arxiv_id TEXT,
    doi TEXT,
    abstract TEXT NOT NULL,
    cite_key TEXT NOT NULL UNIQUE,
    state TEXT NOT NULL,
    pages INTEGER,
    language TEXT NOT NULL,
    label TEXT NOT NULL,
    confidential INTEGER NOT NULL,
    added_at TEXT NOT NULL,
    text_id INTEGER REFERENCES paper_texts (text_id)
) STRICT;
-- All that a search needs to filter, in one small index.
CREATE INDEX papers_searchable ON papers (text_id, year, paper_id);

-- Names by which a paper is found, normalised. Two papers may claim one name; the older has it.
CREATE TABLE paper_ids (
    name TEXT NOT NULL,
    kind TEXT NOT NULL CHECK (kind IN ('bibcode', 'arxiv', 'doi', 'cite_key')),
    paper_id TEXT NOT NULL REFERENCES papers (paper_id) ON DELETE CASCADE,
    PRIMARY KEY (kind, name, paper_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX paper_ids_of_paper ON paper_ids (paper_id);

-- Ids and cite keys are given once. The digest gives a paper that comes back its cite key again.
CREATE TABLE retired_papers (
    paper_id TEXT PRIMARY KEY,
    cite_key TEXT NOT NULL,
    text_sha256 TEXT NOT NULL,
    removed_at TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE files (
    path ANY PRIMARY KEY, -- TEXT, or a BLOB where the path is no UTF-8
    sha256 TEXT NOT NULL,
    size_bytes INTEGER NOT NULL,
    mtime_ns INTEGER NOT NULL,
    paper_id TEXT REFERENCES papers (paper_id) ON DELETE CASCADE,
    kind TEXT NOT NULL,
    error_kind TEXT NOT NULL,
    reason TEXT NOT NULL,
    hint TEXT NOT NULL,
    present INTEGER NOT NULL
) STRICT;
CREATE INDEX files_of_paper ON files (paper_id);

CREATE TABLE pages (
    text_id INTEGER NOT NULL REFERENCES paper_texts (text_id),
    page INTEGER NOT NULL, -- 1-based; 0: a format without pages
    text TEXT NOT NULL,
    PRIMARY KEY (text_id, page)
) STRICT;

-- id = text_id * 2^20 + ordinal, so that a search knows a passage's text from its id alone.
CREATE TABLE passages (
    id INTEGER PRIMARY KEY,
    text_id INTEGER GENERATED ALWAYS AS (id >> 20) VIRTUAL,
    ordinal INTEGER GENERATED ALWAYS AS (id & 1048575) VIRTUAL,
    kind TEXT NOT NULL,
    section TEXT NOT NULL,
    page INTEGER,
    char_start INTEGER NOT NULL,
    char_end INTEGER NOT NULL,
    text TEXT NOT NULL
) STRICT;

-- Normalised tokens (core.text.index_terms); rowid = passages.id. Holds no text, can be rebuilt.
CREATE VIRTUAL TABLE passages_fts USING fts5 (
    title, section, text,
    content = '', contentless_delete = 1, tokenize = 'porter unicode61'
);

CREATE TABLE notes (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    paper_id TEXT NOT NULL, -- a note outlives its paper: it is the reader's own
    quote TEXT NOT NULL,
    note TEXT NOT NULL,
    page INTEGER,
    color TEXT NOT NULL,
    created_at TEXT NOT NULL,
    agent TEXT NOT NULL
) STRICT;
CREATE INDEX notes_of_paper ON notes (paper_id);

CREATE TABLE index_generation (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    generation INTEGER NOT NULL
) STRICT;
INSERT INTO index_generation (id, generation) VALUES (1, 0);

PRAGMA user_version = 1;
