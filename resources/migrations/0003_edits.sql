-- Version 3: every name, note and set of tags that people gave a run has a version, so that of two who write at the
-- same time neither overwrites the other unseen; and what stood where points were thinned out.

CREATE TABLE edit (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  run_id INTEGER NOT NULL REFERENCES run(id) ON DELETE CASCADE,
  field TEXT NOT NULL CHECK (field IN ('name', 'note', 'tags')),
  version INTEGER NOT NULL,      -- that it made; of one that came too late, the version it was based on
  is_taken INTEGER NOT NULL CHECK (is_taken IN (0, 1)),  -- 0: another one had been made meanwhile
  at TEXT NOT NULL,
  text TEXT NOT NULL             -- tags: a JSON list
) STRICT;
CREATE INDEX edit_by_run ON edit(run_id, field, is_taken, version);

CREATE TABLE metric_bucket (     -- points of one metric and segment that follow each other, most of them taken out
  run_id INTEGER NOT NULL REFERENCES run(id) ON DELETE CASCADE,
  metric_id INTEGER NOT NULL REFERENCES metric_name(id),
  first_sequence INTEGER NOT NULL,
  last_sequence INTEGER NOT NULL,
  segment INTEGER NOT NULL,
  first_step INTEGER NOT NULL,
  last_step INTEGER NOT NULL,
  count INTEGER NOT NULL,        -- that there were
  kept INTEGER NOT NULL,         -- that are still there: the lowest, the highest, the first that is not a number
  nans INTEGER NOT NULL,         -- that were not numbers
  minimum REAL,                  -- over all but those
  maximum REAL,
  PRIMARY KEY (run_id, metric_id, first_sequence)
) STRICT, WITHOUT ROWID;
