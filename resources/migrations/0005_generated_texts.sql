-- Version 5: generated texts; a run may need several other runs; a run may take its values from the best of a grid.

CREATE TABLE generated_text (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  run_id INTEGER NOT NULL REFERENCES run(id) ON DELETE CASCADE,
  segment INTEGER NOT NULL,      -- 0: made by `sample`, always shown
  step INTEGER NOT NULL,
  created_at TEXT NOT NULL,
  recipe TEXT NOT NULL,          -- JSON: everything needed to make it again
  seed ANY NOT NULL,             -- integer; above 9223372036854775807 its decimal text
  prompt TEXT NOT NULL,
  text TEXT NOT NULL
) STRICT;
CREATE INDEX generated_text_by_run ON generated_text(run_id, step);

CREATE VIEW generated_texts(id, run_id, step, recipe, seed, prompt, text) AS
SELECT g.id, g.run_id, g.step, g.recipe, g.seed, g.prompt, g.text
FROM generated_text g LEFT JOIN segment s ON s.run_id = g.run_id AND s.number = g.segment
WHERE g.segment = 0 OR (g.step > s.shown_above AND g.step <= s.shown_to);

CREATE TABLE run_dependency (    -- runs that a run needs beside run.depends_on
  run_id INTEGER NOT NULL REFERENCES run(id) ON DELETE CASCADE,
  kind TEXT NOT NULL CHECK (kind IN ('aux', 'select')),
  name TEXT NOT NULL,            -- aux: of the network; select: of the run in the grid
  uuid TEXT NOT NULL,            -- of the run that is needed; it may lie in no row here
  checkpoint TEXT NOT NULL,      -- aux: latest, best or a step; select: ''
  PRIMARY KEY (run_id, kind, name)
) STRICT, WITHOUT ROWID;
CREATE INDEX run_dependency_by_uuid ON run_dependency(uuid);

ALTER TABLE run_config ADD COLUMN selection TEXT NOT NULL DEFAULT 'null';  -- JSON: the grid that the values come from, or null
