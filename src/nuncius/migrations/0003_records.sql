-- What services of the literature told of the papers, and the names by which they were known.

CREATE TABLE paper_records (
    paper_id TEXT PRIMARY KEY REFERENCES papers (paper_id) ON DELETE CASCADE,
    record TEXT NOT NULL, -- JSON: core.records.Record, without its lists of bibcodes below
    told_at TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- Names that a paper keeps whatever is told later: old bibcodes, keys of a user's .bib.
CREATE TABLE paper_aliases (
    kind TEXT NOT NULL CHECK (kind IN ('bibcode', 'arxiv', 'doi', 'cite_key')),
    name TEXT NOT NULL, -- normalised as in paper_ids
    paper_id TEXT NOT NULL REFERENCES papers (paper_id) ON DELETE CASCADE,
    PRIMARY KEY (kind, name, paper_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX paper_aliases_of_paper ON paper_aliases (paper_id);

-- What a paper cites and what cites it, by bibcode.
CREATE TABLE paper_links (
    paper_id TEXT NOT NULL REFERENCES papers (paper_id) ON DELETE CASCADE,
    direction TEXT NOT NULL CHECK (direction IN ('references', 'citations')),
    bibcode TEXT NOT NULL,
    PRIMARY KEY (paper_id, direction, bibcode)
) STRICT, WITHOUT ROWID;
CREATE INDEX paper_links_by_bibcode ON paper_links (bibcode, direction);

PRAGMA user_version = 3;
