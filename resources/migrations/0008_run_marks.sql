-- Version 8: marks of runs: archived, the baseline of its experiment, a colour of its own. The table of edits is made
-- anew with their fields; its rows keep their ids, and new ones go on after the last.

CREATE TABLE run_mark (
  run_id INTEGER NOT NULL REFERENCES run(id) ON DELETE CASCADE,
  field TEXT NOT NULL CHECK (field IN ('archived', 'baseline', 'colour')),
  value TEXT NOT NULL,           -- archived and baseline: 'yes'; colour: its number in the palette, from '1'
  PRIMARY KEY (run_id, field)
) STRICT, WITHOUT ROWID;

CREATE VIEW run_marks(run_id, field, value) AS
SELECT run_id, field, value FROM run_mark;

CREATE TABLE edit_of_eight (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  run_id INTEGER NOT NULL REFERENCES run(id) ON DELETE CASCADE,
  field TEXT NOT NULL CHECK (field IN ('name', 'note', 'tags', 'curve_notes', 'image_tags', 'archived', 'baseline', 'colour')),
  version INTEGER NOT NULL,      -- that it made; of one that came too late, the version it was based on
  is_taken INTEGER NOT NULL CHECK (is_taken IN (0, 1)),  -- 0: another one had been made meanwhile
  at TEXT NOT NULL,
  text TEXT NOT NULL             -- tags, curve_notes and image_tags: a JSON list
) STRICT;
INSERT INTO sqlite_sequence(name, seq) SELECT 'edit_of_eight', seq FROM sqlite_sequence WHERE name = 'edit';
INSERT INTO edit_of_eight SELECT id, run_id, field, version, is_taken, at, text FROM edit;
DROP TABLE edit;
ALTER TABLE edit_of_eight RENAME TO edit;
CREATE INDEX edit_by_run ON edit(run_id, field, is_taken, version);
