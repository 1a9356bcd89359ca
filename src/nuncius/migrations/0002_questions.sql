-- Questions to the user wait beside permission requests; they outlive the turn that asked.

ALTER TABLE pending_requests ADD COLUMN kind TEXT NOT NULL DEFAULT 'permission'; -- or 'question'
ALTER TABLE pending_requests ADD COLUMN question TEXT NOT NULL DEFAULT '';
ALTER TABLE pending_requests ADD COLUMN options TEXT NOT NULL DEFAULT '[]'; -- JSON list of texts
ALTER TABLE pending_requests ADD COLUMN expires_at TEXT NOT NULL DEFAULT ''; -- empty: never
-- a question's state: open, answered, declined, timed_out, no_user
ALTER TABLE pending_requests ADD COLUMN answer TEXT NOT NULL DEFAULT '';
ALTER TABLE pending_requests ADD COLUMN delivered INTEGER NOT NULL DEFAULT 0; -- a message has it
CREATE INDEX pending_requests_by_id ON pending_requests (id);
CREATE INDEX pending_requests_waiting ON pending_requests (created_at)
WHERE state IN ('open', 'timed_out');
CREATE INDEX pending_requests_undelivered ON pending_requests (session_id)
WHERE delivered = 0 AND state IN ('answered', 'declined');

PRAGMA user_version = 2;
