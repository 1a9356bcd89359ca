-- Words that people hang on papers, and by what the library's list is filtered, ordered and searched.

CREATE TABLE paper_tags (
    paper_id TEXT NOT NULL REFERENCES papers (paper_id) ON DELETE CASCADE,
    folded TEXT NOT NULL, -- equal for two writings of one tag
    tag TEXT NOT NULL, -- as it was written
    place INTEGER NOT NULL, -- in the order in which they were hung
    PRIMARY KEY (paper_id, folded)
) STRICT, WITHOUT ROWID;
CREATE INDEX paper_tags_by_word ON paper_tags (folded, tag);

ALTER TABLE papers ADD COLUMN journal TEXT COLLATE NOCASE; -- one word; NULL: not worked out yet
CREATE INDEX papers_by_journal ON papers (journal);
CREATE INDEX papers_by_year ON papers (year);
CREATE INDEX papers_by_state ON papers (state);

-- What a list is searched and ordered by, in small letters without accents. Can be made again.
CREATE TABLE paper_words (
    number INTEGER PRIMARY KEY REFERENCES papers (number) ON DELETE CASCADE,
    title TEXT NOT NULL,
    filed_under TEXT NOT NULL, -- the first author
    authors TEXT NOT NULL, -- a line for each name, printed and filed
    words TEXT NOT NULL, -- title, authors, names and abstract
    people TEXT NOT NULL -- JSON list of authors as they are filed and shown, such as 'Bouma, L'
) STRICT;

PRAGMA user_version = 4;
