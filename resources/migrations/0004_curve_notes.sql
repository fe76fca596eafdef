-- Version 4: notes that people write at a step of a curve. They have versions as names, notes and tags have, so the
-- table of edits is made anew with a fourth field; its rows keep their ids, and new ones go on after the last.

CREATE TABLE curve_note (
  run_id INTEGER NOT NULL REFERENCES run(id) ON DELETE CASCADE,
  metric TEXT NOT NULL,          -- a name, or the stem of several whose mean is drawn
  step INTEGER NOT NULL,
  text TEXT NOT NULL,
  PRIMARY KEY (run_id, metric, step, text)
) STRICT, WITHOUT ROWID;

CREATE VIEW curve_notes(run_id, metric, step, text) AS
SELECT run_id, metric, step, text FROM curve_note;

CREATE TABLE edit_of_four (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  run_id INTEGER NOT NULL REFERENCES run(id) ON DELETE CASCADE,
  field TEXT NOT NULL CHECK (field IN ('name', 'note', 'tags', 'curve_notes')),
  version INTEGER NOT NULL,      -- that it made; of one that came too late, the version it was based on
  is_taken INTEGER NOT NULL CHECK (is_taken IN (0, 1)),  -- 0: another one had been made meanwhile
  at TEXT NOT NULL,
  text TEXT NOT NULL             -- tags and curve_notes: a JSON list
) STRICT;
INSERT INTO sqlite_sequence(name, seq) SELECT 'edit_of_four', seq FROM sqlite_sequence WHERE name = 'edit';
INSERT INTO edit_of_four SELECT id, run_id, field, version, is_taken, at, text FROM edit;
DROP TABLE edit;
ALTER TABLE edit_of_four RENAME TO edit;
CREATE INDEX edit_by_run ON edit(run_id, field, is_taken, version);
