-- Version 7: stars and tags of generated images. An image is named by its step and the hash of its pixels, so that the
-- rows stay true in a copy whose images have other numbers. The table of edits is made anew with a fifth field; its
-- rows keep their ids, and new ones go on after the last.

CREATE TABLE image_tag (
  run_id INTEGER NOT NULL REFERENCES run(id) ON DELETE CASCADE,
  step INTEGER NOT NULL,
  sha256 TEXT NOT NULL,          -- of the pixels
  tag TEXT NOT NULL,             -- '*' is the star
  PRIMARY KEY (run_id, step, sha256, tag)
) STRICT, WITHOUT ROWID;

CREATE VIEW image_tags(run_id, step, sha256, tag) AS
SELECT run_id, step, sha256, tag FROM image_tag;

CREATE TABLE edit_of_five (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  run_id INTEGER NOT NULL REFERENCES run(id) ON DELETE CASCADE,
  field TEXT NOT NULL CHECK (field IN ('name', 'note', 'tags', 'curve_notes', 'image_tags')),
  version INTEGER NOT NULL,      -- that it made; of one that came too late, the version it was based on
  is_taken INTEGER NOT NULL CHECK (is_taken IN (0, 1)),  -- 0: another one had been made meanwhile
  at TEXT NOT NULL,
  text TEXT NOT NULL             -- tags, curve_notes and image_tags: a JSON list
) STRICT;
INSERT INTO sqlite_sequence(name, seq) SELECT 'edit_of_five', seq FROM sqlite_sequence WHERE name = 'edit';
INSERT INTO edit_of_five SELECT id, run_id, field, version, is_taken, at, text FROM edit;
DROP TABLE edit;
ALTER TABLE edit_of_five RENAME TO edit;
CREATE INDEX edit_by_run ON edit(run_id, field, is_taken, version);
