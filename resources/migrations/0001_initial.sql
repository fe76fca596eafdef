-- Version 1 of the experiment database. resources/docs/database.md explains every table and view.
-- Tables are singular and belong to the program; views are plural, for people, and kept stable.

CREATE TABLE meta (              -- uuid, created_at, created_by, min_writer_version
  key TEXT PRIMARY KEY,
  value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE counter (           -- `change`: grows with every change of a run's row
  name TEXT PRIMARY KEY,
  value INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO counter VALUES ('change', 0);

CREATE TABLE numbers (           -- 0..999, for decoding packed values in plain SQL
  n INTEGER PRIMARY KEY
) STRICT;
INSERT INTO numbers
  WITH RECURSIVE r(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM r WHERE n < 999) SELECT n FROM r;

CREATE TABLE experiment (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  title TEXT NOT NULL UNIQUE,
  source TEXT NOT NULL,          -- the text of the file as it was read last
  created_at TEXT NOT NULL
) STRICT;

CREATE TABLE run (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  uuid TEXT NOT NULL UNIQUE,
  experiment_id INTEGER NOT NULL REFERENCES experiment(id),
  variant TEXT NOT NULL,
  stage TEXT NOT NULL,
  name TEXT NOT NULL,
  seed ANY NOT NULL,             -- integer; above 9223372036854775807 its decimal text
  depends_on INTEGER REFERENCES run(id),
  state TEXT NOT NULL CHECK (state IN ('queued', 'starting', 'running', 'pausing', 'paused', 'stopping',
                                       'stopped', 'done', 'failed', 'interrupted')),
  reason TEXT NOT NULL DEFAULT '',
  request TEXT NOT NULL DEFAULT '' CHECK (request IN ('', 'checkpoint', 'pause', 'stop')),
  created_at TEXT NOT NULL,
  started_at TEXT NOT NULL DEFAULT '',
  finished_at TEXT NOT NULL DEFAULT '',
  heartbeat_at TEXT NOT NULL DEFAULT '',
  device TEXT NOT NULL DEFAULT '',
  commit_hash TEXT NOT NULL DEFAULT '',
  step INTEGER NOT NULL DEFAULT 0,
  total_steps INTEGER NOT NULL DEFAULT 0,
  epoch REAL DEFAULT 0,          -- of these five, NULL is not-a-number
  total_epochs REAL DEFAULT 0,
  loss REAL,
  images_per_second REAL,
  remaining_seconds REAL,
  memory_bytes INTEGER NOT NULL DEFAULT 0,
  latest_checkpoint INTEGER,     -- a step, NULL where there is none
  best_checkpoint INTEGER,
  log_file TEXT NOT NULL DEFAULT '',
  worker_pid INTEGER NOT NULL DEFAULT 0,
  worker_start TEXT NOT NULL DEFAULT '',
  worker_boot TEXT NOT NULL DEFAULT '',
  worker_host TEXT NOT NULL DEFAULT '',
  last_sequence INTEGER NOT NULL DEFAULT 0,   -- of its metrics
  change_sequence INTEGER NOT NULL
) STRICT;
CREATE INDEX run_by_change ON run(change_sequence);
CREATE INDEX run_by_experiment ON run(experiment_id);
CREATE INDEX run_by_dependency ON run(depends_on) WHERE depends_on IS NOT NULL;

CREATE TABLE deleted_run (       -- so that a window that is open notices
  run_id INTEGER PRIMARY KEY,
  uuid TEXT NOT NULL,
  deleted_at TEXT NOT NULL,
  change_sequence INTEGER NOT NULL
) STRICT;
CREATE INDEX deleted_run_by_change ON deleted_run(change_sequence);

CREATE TABLE run_config (
  run_id INTEGER PRIMARY KEY REFERENCES run(id) ON DELETE CASCADE,
  config TEXT NOT NULL,          -- resolved, JSON
  origins TEXT NOT NULL,         -- JSON: dotted key -> {layer, line}
  init TEXT NOT NULL             -- JSON: what the run starts from, or null
) STRICT;

CREATE TABLE run_parameter (     -- run_config.config, flat
  run_id INTEGER NOT NULL REFERENCES run(id) ON DELETE CASCADE,
  key TEXT NOT NULL,             -- dotted: model.width
  value ANY,                     -- number, text, 1 or 0 for true and false, NULL for absent, JSON text for a list
  PRIMARY KEY (run_id, key)
) STRICT, WITHOUT ROWID;

CREATE TABLE segment (           -- one start or resume of a run
  run_id INTEGER NOT NULL REFERENCES run(id) ON DELETE CASCADE,
  number INTEGER NOT NULL,       -- from 1
  first_step INTEGER NOT NULL,
  last_step INTEGER,             -- NULL while not superseded
  resumed_from INTEGER NOT NULL, -- number of the segment before, 0 for the first
  started_at TEXT NOT NULL,
  worker_pid INTEGER NOT NULL,
  worker_start TEXT NOT NULL,
  worker_boot TEXT NOT NULL,
  worker_host TEXT NOT NULL,
  environment TEXT NOT NULL,     -- JSON: commit, dirty, versions, device, threads ...
  -- What views show of it: steps above `shown_above`, up to `shown_to`.
  shown_above INTEGER GENERATED ALWAYS AS (CASE WHEN first_step > 0 THEN first_step ELSE -1 END) VIRTUAL,
  shown_to INTEGER GENERATED ALWAYS AS
    (CASE WHEN last_step IS NULL THEN 9223372036854775807 WHEN last_step > 0 THEN last_step ELSE -1 END) VIRTUAL,
  PRIMARY KEY (run_id, number)
) STRICT, WITHOUT ROWID;

CREATE TABLE metric_name (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE
) STRICT;

CREATE TABLE metric_kind (       -- the first matching pattern, by id, says what a metric is
  id INTEGER PRIMARY KEY,
  pattern TEXT NOT NULL UNIQUE,  -- GLOB
  unit TEXT NOT NULL,
  direction TEXT NOT NULL CHECK (direction IN ('lower', 'higher', 'none')),  -- which is better
  definition TEXT NOT NULL
) STRICT;
INSERT INTO metric_kind(pattern, unit, direction, definition) VALUES
  ('*/loss', '', 'lower', 'mean over the samples of the total training objective'),
  ('*/loss/*', '', 'lower', 'a named part of the total loss'),
  ('*/top1', 'fraction', 'higher', 'share of samples whose most probable class is the label'),
  ('*/top5', 'fraction', 'higher', 'share of samples whose label is among the five most probable classes'),
  ('*/ece', 'fraction', 'lower', 'expected calibration error: mean over bins of |confidence - accuracy|, weighted by count'),
  ('*/accuracy/*', 'fraction', 'higher', 'top1 of the samples of one class'),
  ('optimizer/learning_rate', '1/step', 'none', 'learning rate of the first parameter group'),
  ('optimizer/gradient_norm', '', 'none', 'Euclidean norm of all gradients before clipping'),
  ('model/mask_alpha', 'fraction', 'none', 'strength of the soft causal mask: 1 bidirectional, 0 causal'),
  ('system/images_per_second', '1/s', 'higher', 'training samples per second of running time'),
  ('system/memory', 'bytes', 'lower', 'peak resident size on a CPU, peak allocated on a GPU'),
  ('system/flops', 'FLOP', 'none', 'floating-point operations since the start of the run, cumulative'),
  ('system/device_seconds', 's', 'none', 'running time x devices since the start of the run, cumulative'),
  ('analysis/attention_rank/rank80/*', '', 'none', 'smallest number of singular values of the attention matrix whose share of the sum is at least 0.8'),
  ('analysis/attention_rank/effective_rank/*', '', 'none', 'exponential of the entropy of the normalised singular values'),
  ('analysis/attention_rank/stable_rank/*', '', 'none', 'squared Frobenius norm / squared spectral norm');

CREATE TABLE metric_summary (    -- of the points that count; kept up to date with every append
  run_id INTEGER NOT NULL REFERENCES run(id) ON DELETE CASCADE,
  metric_id INTEGER NOT NULL REFERENCES metric_name(id),
  count INTEGER NOT NULL,
  first_step INTEGER NOT NULL,
  last_step INTEGER NOT NULL,
  last REAL,                     -- NULL is not-a-number
  minimum REAL,                  -- over all but NaN; NULL where there is no other
  maximum REAL,
  minimum_step INTEGER,
  maximum_step INTEGER,
  tail_rows INTEGER NOT NULL,    -- not packed yet
  PRIMARY KEY (run_id, metric_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX metric_summary_by_metric ON metric_summary(metric_id, run_id, last);

CREATE TABLE metric_tail (       -- points that are not packed yet
  run_id INTEGER NOT NULL REFERENCES run(id) ON DELETE CASCADE,
  metric_id INTEGER NOT NULL REFERENCES metric_name(id),
  sequence INTEGER NOT NULL,     -- per run, one for all metrics of a moment; packing keeps it
  segment INTEGER NOT NULL,
  step INTEGER NOT NULL,         -- optimizer steps completed
  time INTEGER NOT NULL,         -- milliseconds of running time over all segments
  epoch INTEGER NOT NULL,        -- millionths
  value REAL,                    -- NULL where kind is 1
  kind INTEGER NOT NULL CHECK (kind IN (0, 1, 2)),  -- 0 as it is, 1 NaN, 2 minus zero
  PRIMARY KEY (run_id, metric_id, sequence)
) STRICT, WITHOUT ROWID;

-- A clock: up to 1,000 moments that several metrics share. Each of its four lanes holds at moment i (from 0)
--   base + i * stride + rest[i]
-- where `rest` is `count` unsigned big-endian integers of length(rest) / count bytes, 0 to 4.
CREATE TABLE clock_chunk (
  id INTEGER PRIMARY KEY,
  run_id INTEGER NOT NULL REFERENCES run(id) ON DELETE CASCADE,
  segment INTEGER NOT NULL,
  count INTEGER NOT NULL,
  step_base INTEGER NOT NULL, step_stride INTEGER NOT NULL,
  time_base INTEGER NOT NULL, time_stride INTEGER NOT NULL,           -- milliseconds
  epoch_base INTEGER NOT NULL, epoch_stride INTEGER NOT NULL,         -- millionths
  sequence_base INTEGER NOT NULL, sequence_stride INTEGER NOT NULL,
  step_rest BLOB NOT NULL,
  time_rest BLOB NOT NULL,
  epoch_rest BLOB NOT NULL,
  sequence_rest BLOB NOT NULL
) STRICT;
CREATE INDEX clock_chunk_by_run ON clock_chunk(run_id);

CREATE TABLE metric_chunk (      -- the values of one metric at the moments of a clock
  id INTEGER PRIMARY KEY,
  run_id INTEGER NOT NULL REFERENCES run(id) ON DELETE CASCADE,
  metric_id INTEGER NOT NULL REFERENCES metric_name(id),
  segment INTEGER NOT NULL,
  clock_id INTEGER NOT NULL REFERENCES clock_chunk(id),
  last_sequence INTEGER NOT NULL,
  count INTEGER NOT NULL,
  minimum REAL,                  -- over all but NaN
  maximum REAL,
  data BLOB NOT NULL             -- `count` big-endian float64
) STRICT;
CREATE INDEX metric_chunk_by_metric ON metric_chunk(run_id, metric_id, last_sequence);
CREATE INDEX metric_chunk_by_clock ON metric_chunk(clock_id);

CREATE TABLE event (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  run_id INTEGER NOT NULL REFERENCES run(id) ON DELETE CASCADE,
  segment INTEGER NOT NULL,      -- 0 where it belongs to none
  step INTEGER NOT NULL,
  at TEXT NOT NULL,
  kind TEXT NOT NULL,
  text TEXT NOT NULL,
  data TEXT NOT NULL             -- JSON
) STRICT;
CREATE INDEX event_by_run ON event(run_id);

CREATE TABLE artifact (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  run_id INTEGER NOT NULL REFERENCES run(id) ON DELETE CASCADE,
  segment INTEGER NOT NULL,      -- 0: made by `analyse`, always shown
  step INTEGER NOT NULL,
  created_at TEXT NOT NULL,
  analysis TEXT NOT NULL,
  name TEXT NOT NULL,
  kind TEXT NOT NULL,
  meta TEXT NOT NULL,            -- JSON {version, dtype, shape, axes, unit, split, sample_ids, weights, time, ...}
  data BLOB NOT NULL             -- little-endian, C order; images are PNG
) STRICT;
CREATE INDEX artifact_by_run ON artifact(run_id, step);
CREATE INDEX artifact_by_kind ON artifact(kind, run_id);

CREATE TABLE checkpoint (
  run_id INTEGER NOT NULL REFERENCES run(id) ON DELETE CASCADE,
  step INTEGER NOT NULL,
  segment INTEGER NOT NULL,
  folder TEXT NOT NULL,          -- relative to the `.files` folder
  bytes INTEGER NOT NULL,
  seconds REAL,
  created_at TEXT NOT NULL,
  is_best INTEGER NOT NULL,      -- 1 if it was the best when it was written
  removed_at TEXT NOT NULL DEFAULT '',  -- when retention deleted the folder
  PRIMARY KEY (run_id, step)
) STRICT, WITHOUT ROWID;

CREATE TABLE generated_image (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  run_id INTEGER NOT NULL REFERENCES run(id) ON DELETE CASCADE,
  segment INTEGER NOT NULL,      -- 0: made by `sample`, always shown
  step INTEGER NOT NULL,
  created_at TEXT NOT NULL,
  recipe TEXT NOT NULL,          -- JSON: everything needed to make it again
  seed ANY NOT NULL,
  width INTEGER NOT NULL,
  height INTEGER NOT NULL,
  sha256 TEXT NOT NULL,          -- of the pixels
  png BLOB NOT NULL
) STRICT;
CREATE INDEX generated_image_by_run ON generated_image(run_id, step);

CREATE TABLE note (
  run_id INTEGER PRIMARY KEY REFERENCES run(id) ON DELETE CASCADE,
  text TEXT NOT NULL,
  changed_at TEXT NOT NULL
) STRICT;

CREATE TABLE tag (
  run_id INTEGER NOT NULL REFERENCES run(id) ON DELETE CASCADE,
  tag TEXT NOT NULL,
  PRIMARY KEY (run_id, tag)
) STRICT, WITHOUT ROWID;

-- Views.

CREATE VIEW runs(id, uuid, experiment, variant, name, seed, state, created_at, started_at, finished_at,
                 device, commit_hash, config) AS
SELECT r.id, r.uuid, e.title, r.variant, r.name, r.seed, r.state, r.created_at,
       nullif(r.started_at, ''), nullif(r.finished_at, ''), nullif(r.device, ''), nullif(r.commit_hash, ''), c.config
FROM run r JOIN experiment e ON e.id = r.experiment_id JOIN run_config c ON c.run_id = r.id;

CREATE VIEW parameters(run_id, key, value) AS
SELECT run_id, key, value FROM run_parameter;

-- `value` is NULL where the metric was not a number. A FROM-less subquery is computed once per row, so digits and
-- words are not decoded again for every use.
CREATE VIEW metrics(run_id, segment, name, step, epoch, time, value) AS
SELECT t.run_id, t.segment, n.name, t.step, t.epoch / 1e6, t.time / 1e3,
       CASE t.kind WHEN 0 THEN t.value WHEN 2 THEN -0.0 END
FROM metric_tail t
  JOIN metric_name n ON n.id = t.metric_id
  JOIN segment s ON s.run_id = t.run_id AND s.number = t.segment
WHERE t.step > s.shown_above AND t.step <= s.shown_to
UNION ALL
SELECT run_id, segment, name, step, epoch / 1e6, time / 1e3, value
FROM (
  SELECT c.run_id, c.segment, n.name, s.shown_above, s.shown_to,
         k.step_base + i.n * k.step_stride + CASE length(k.step_rest) WHEN 0 THEN 0 ELSE
           (SELECT
              (instr('0123456789ABCDEF', substr(h, 1, 1)) - 1 << 28) | (instr('0123456789ABCDEF', substr(h, 2, 1)) - 1 << 24) |
              (instr('0123456789ABCDEF', substr(h, 3, 1)) - 1 << 20) | (instr('0123456789ABCDEF', substr(h, 4, 1)) - 1 << 16) |
              (instr('0123456789ABCDEF', substr(h, 5, 1)) - 1 << 12) | (instr('0123456789ABCDEF', substr(h, 6, 1)) - 1 << 8) |
              (instr('0123456789ABCDEF', substr(h, 7, 1)) - 1 << 4) | (instr('0123456789ABCDEF', substr(h, 8, 1)) - 1 << 0)
            FROM (SELECT substr('0000000' || hex(substr(k.step_rest, 1 + i.n * (length(k.step_rest) / k.count),
                                                         length(k.step_rest) / k.count)), -8) AS h)) END AS step,
         k.epoch_base + i.n * k.epoch_stride + CASE length(k.epoch_rest) WHEN 0 THEN 0 ELSE
           (SELECT
              (instr('0123456789ABCDEF', substr(h, 1, 1)) - 1 << 28) | (instr('0123456789ABCDEF', substr(h, 2, 1)) - 1 << 24) |
              (instr('0123456789ABCDEF', substr(h, 3, 1)) - 1 << 20) | (instr('0123456789ABCDEF', substr(h, 4, 1)) - 1 << 16) |
              (instr('0123456789ABCDEF', substr(h, 5, 1)) - 1 << 12) | (instr('0123456789ABCDEF', substr(h, 6, 1)) - 1 << 8) |
              (instr('0123456789ABCDEF', substr(h, 7, 1)) - 1 << 4) | (instr('0123456789ABCDEF', substr(h, 8, 1)) - 1 << 0)
            FROM (SELECT substr('0000000' || hex(substr(k.epoch_rest, 1 + i.n * (length(k.epoch_rest) / k.count),
                                                         length(k.epoch_rest) / k.count)), -8) AS h)) END AS epoch,
         k.time_base + i.n * k.time_stride + CASE length(k.time_rest) WHEN 0 THEN 0 ELSE
           (SELECT
              (instr('0123456789ABCDEF', substr(h, 1, 1)) - 1 << 28) | (instr('0123456789ABCDEF', substr(h, 2, 1)) - 1 << 24) |
              (instr('0123456789ABCDEF', substr(h, 3, 1)) - 1 << 20) | (instr('0123456789ABCDEF', substr(h, 4, 1)) - 1 << 16) |
              (instr('0123456789ABCDEF', substr(h, 5, 1)) - 1 << 12) | (instr('0123456789ABCDEF', substr(h, 6, 1)) - 1 << 8) |
              (instr('0123456789ABCDEF', substr(h, 7, 1)) - 1 << 4) | (instr('0123456789ABCDEF', substr(h, 8, 1)) - 1 << 0)
            FROM (SELECT substr('0000000' || hex(substr(k.time_rest, 1 + i.n * (length(k.time_rest) / k.count),
                                                         length(k.time_rest) / k.count)), -8) AS h)) END AS time,
         (SELECT CASE (v >> 52) & 2047
                 WHEN 2047 THEN CASE WHEN v & 4503599627370495 THEN NULL WHEN v < 0 THEN -9e999 ELSE 9e999 END
                 WHEN 0 THEN (v & 4503599627370495) * CASE WHEN v < 0 THEN -pow(2, -1074) ELSE pow(2, -1074) END
                 ELSE (v & 4503599627370495 | 4503599627370496) *
                      CASE WHEN v < 0 THEN -pow(2, (v >> 52 & 2047) - 1075) ELSE pow(2, (v >> 52 & 2047) - 1075) END
                 END
            FROM (SELECT (SELECT
              (instr('0123456789ABCDEF', substr(h, 1, 1)) - 1 << 60) | (instr('0123456789ABCDEF', substr(h, 2, 1)) - 1 << 56) |
              (instr('0123456789ABCDEF', substr(h, 3, 1)) - 1 << 52) | (instr('0123456789ABCDEF', substr(h, 4, 1)) - 1 << 48) |
              (instr('0123456789ABCDEF', substr(h, 5, 1)) - 1 << 44) | (instr('0123456789ABCDEF', substr(h, 6, 1)) - 1 << 40) |
              (instr('0123456789ABCDEF', substr(h, 7, 1)) - 1 << 36) | (instr('0123456789ABCDEF', substr(h, 8, 1)) - 1 << 32) |
              (instr('0123456789ABCDEF', substr(h, 9, 1)) - 1 << 28) | (instr('0123456789ABCDEF', substr(h, 10, 1)) - 1 << 24) |
              (instr('0123456789ABCDEF', substr(h, 11, 1)) - 1 << 20) | (instr('0123456789ABCDEF', substr(h, 12, 1)) - 1 << 16) |
              (instr('0123456789ABCDEF', substr(h, 13, 1)) - 1 << 12) | (instr('0123456789ABCDEF', substr(h, 14, 1)) - 1 << 8) |
              (instr('0123456789ABCDEF', substr(h, 15, 1)) - 1 << 4) | (instr('0123456789ABCDEF', substr(h, 16, 1)) - 1 << 0)
              FROM (SELECT hex(substr(c.data, 1 + 8 * i.n, 8)) AS h)) AS v)) AS value
  FROM metric_chunk c
    JOIN metric_name n ON n.id = c.metric_id
    JOIN clock_chunk k ON k.id = c.clock_id
    JOIN segment s ON s.run_id = c.run_id AND s.number = c.segment
    JOIN numbers i ON i.n < c.count)
WHERE step > shown_above AND step <= shown_to;

CREATE VIEW metric_summaries(run_id, name, count, first_step, last_step, last, minimum, maximum,
                             minimum_step, maximum_step) AS
SELECT m.run_id, n.name, m.count, m.first_step, m.last_step, m.last, m.minimum, m.maximum, m.minimum_step, m.maximum_step
FROM metric_summary m JOIN metric_name n ON n.id = m.metric_id
WHERE m.count > 0;

CREATE VIEW artifacts(id, run_id, step, analysis, name, kind, meta, data) AS
SELECT a.id, a.run_id, a.step, a.analysis, a.name, a.kind, a.meta, a.data
FROM artifact a LEFT JOIN segment s ON s.run_id = a.run_id AND s.number = a.segment
WHERE a.segment = 0 OR (a.step > s.shown_above AND a.step <= s.shown_to);

CREATE VIEW generated_images(id, run_id, step, recipe, seed, width, height, sha256, png) AS
SELECT g.id, g.run_id, g.step, g.recipe, g.seed, g.width, g.height, g.sha256, g.png
FROM generated_image g LEFT JOIN segment s ON s.run_id = g.run_id AND s.number = g.segment
WHERE g.segment = 0 OR (g.step > s.shown_above AND g.step <= s.shown_to);

-- Artifacts of kind `spectrum`: float64 [layers, heads, values]. `cumulative` is the share of the sum of all values
-- that the values up to this position have.
CREATE VIEW spectra(run_id, step, analysis, layer, head, image, attention, position, value, cumulative) AS
SELECT run_id, step, analysis, layer, head, image, attention, position, value,
       sum(value) OVER (PARTITION BY run_id, id, layer, head ORDER BY position) /
       nullif(sum(value) OVER (PARTITION BY run_id, id, layer, head), 0)
FROM (
  SELECT a.id, a.run_id, a.step, a.analysis,
         coalesce(json_extract(a.meta, '$.layers[' || l.n || ']'), l.n) AS layer,
         h.n AS head,
         json_extract(a.meta, '$.image') AS image,
         json_extract(a.meta, '$.attention') AS attention,
         v.n + 1000 * w.n AS position,
         (SELECT CASE (v >> 52) & 2047
                 WHEN 2047 THEN CASE WHEN v & 4503599627370495 THEN NULL WHEN v < 0 THEN -9e999 ELSE 9e999 END
                 WHEN 0 THEN (v & 4503599627370495) * CASE WHEN v < 0 THEN -pow(2, -1074) ELSE pow(2, -1074) END
                 ELSE (v & 4503599627370495 | 4503599627370496) *
                      CASE WHEN v < 0 THEN -pow(2, (v >> 52 & 2047) - 1075) ELSE pow(2, (v >> 52 & 2047) - 1075) END
                 END
            FROM (SELECT (SELECT
              (instr('0123456789ABCDEF', substr(h, 15, 1)) - 1 << 60) | (instr('0123456789ABCDEF', substr(h, 16, 1)) - 1 << 56) |
              (instr('0123456789ABCDEF', substr(h, 13, 1)) - 1 << 52) | (instr('0123456789ABCDEF', substr(h, 14, 1)) - 1 << 48) |
              (instr('0123456789ABCDEF', substr(h, 11, 1)) - 1 << 44) | (instr('0123456789ABCDEF', substr(h, 12, 1)) - 1 << 40) |
              (instr('0123456789ABCDEF', substr(h, 9, 1)) - 1 << 36) | (instr('0123456789ABCDEF', substr(h, 10, 1)) - 1 << 32) |
              (instr('0123456789ABCDEF', substr(h, 7, 1)) - 1 << 28) | (instr('0123456789ABCDEF', substr(h, 8, 1)) - 1 << 24) |
              (instr('0123456789ABCDEF', substr(h, 5, 1)) - 1 << 20) | (instr('0123456789ABCDEF', substr(h, 6, 1)) - 1 << 16) |
              (instr('0123456789ABCDEF', substr(h, 3, 1)) - 1 << 12) | (instr('0123456789ABCDEF', substr(h, 4, 1)) - 1 << 8) |
              (instr('0123456789ABCDEF', substr(h, 1, 1)) - 1 << 4) | (instr('0123456789ABCDEF', substr(h, 2, 1)) - 1 << 0)
              FROM (SELECT hex(substr(a.data, 1 + 8 * (v.n + 1000 * w.n + a.size * (h.n + a.heads * l.n)), 8)) AS h)) AS v)) AS value
  FROM (SELECT *, json_extract(meta, '$.shape[0]') AS layers, json_extract(meta, '$.shape[1]') AS heads, json_extract(meta, '$.shape[2]') AS size
        FROM artifacts WHERE kind = 'spectrum' AND json_extract(meta, '$.dtype') = 'float64') a
    JOIN numbers l ON l.n < a.layers
    JOIN numbers h ON h.n < a.heads
    JOIN numbers w ON w.n <= (a.size - 1) / 1000
    JOIN numbers v ON v.n < a.size - 1000 * w.n
  WHERE length(a.data) = 8 * a.layers * a.heads * a.size);

-- Artifacts of kind `attention`: float32 [layers, heads, queries, keys] of one image; `data` is the little-endian
-- float32 [rows, columns] of one layer and head.
CREATE VIEW attention_maps(run_id, step, layer, head, image, split, kind, rows, columns, data) AS
SELECT a.run_id, a.step,
       coalesce(json_extract(a.meta, '$.layers[' || l.n || ']'), l.n),
       h.n,
       json_extract(a.meta, '$.image'),
       json_extract(a.meta, '$.split'),
       coalesce(json_extract(a.meta, '$.attention'), 'softmax'),
       a.queries,
       a.keys,
       substr(a.data, 1 + 4 * a.queries * a.keys * (h.n + a.heads * l.n), 4 * a.queries * a.keys)
FROM (SELECT *, json_extract(meta, '$.shape[0]') AS layers, json_extract(meta, '$.shape[1]') AS heads,
             json_extract(meta, '$.shape[2]') AS queries, json_extract(meta, '$.shape[3]') AS keys
      FROM artifacts WHERE kind = 'attention' AND json_extract(meta, '$.dtype') = 'float32') a
  JOIN numbers l ON l.n < a.layers
  JOIN numbers h ON h.n < a.heads
WHERE length(a.data) = 4 * a.layers * a.heads * a.queries * a.keys;

-- Artifacts of kind `reliability`: float64 [bins, 5].
CREATE VIEW calibration_bins(run_id, step, analysis, split, binning, bin, lower, upper, count, confidence, accuracy) AS
SELECT a.run_id, a.step, a.analysis,
       json_extract(a.meta, '$.split'),
       coalesce(json_extract(a.meta, '$.binning'), 'width'),
       b.n,
       (SELECT CASE (v >> 52) & 2047
               WHEN 2047 THEN CASE WHEN v & 4503599627370495 THEN NULL WHEN v < 0 THEN -9e999 ELSE 9e999 END
               WHEN 0 THEN (v & 4503599627370495) * CASE WHEN v < 0 THEN -pow(2, -1074) ELSE pow(2, -1074) END
               ELSE (v & 4503599627370495 | 4503599627370496) *
                    CASE WHEN v < 0 THEN -pow(2, (v >> 52 & 2047) - 1075) ELSE pow(2, (v >> 52 & 2047) - 1075) END
               END
          FROM (SELECT (SELECT
            (instr('0123456789ABCDEF', substr(h, 15, 1)) - 1 << 60) | (instr('0123456789ABCDEF', substr(h, 16, 1)) - 1 << 56) |
            (instr('0123456789ABCDEF', substr(h, 13, 1)) - 1 << 52) | (instr('0123456789ABCDEF', substr(h, 14, 1)) - 1 << 48) |
            (instr('0123456789ABCDEF', substr(h, 11, 1)) - 1 << 44) | (instr('0123456789ABCDEF', substr(h, 12, 1)) - 1 << 40) |
            (instr('0123456789ABCDEF', substr(h, 9, 1)) - 1 << 36) | (instr('0123456789ABCDEF', substr(h, 10, 1)) - 1 << 32) |
            (instr('0123456789ABCDEF', substr(h, 7, 1)) - 1 << 28) | (instr('0123456789ABCDEF', substr(h, 8, 1)) - 1 << 24) |
            (instr('0123456789ABCDEF', substr(h, 5, 1)) - 1 << 20) | (instr('0123456789ABCDEF', substr(h, 6, 1)) - 1 << 16) |
            (instr('0123456789ABCDEF', substr(h, 3, 1)) - 1 << 12) | (instr('0123456789ABCDEF', substr(h, 4, 1)) - 1 << 8) |
            (instr('0123456789ABCDEF', substr(h, 1, 1)) - 1 << 4) | (instr('0123456789ABCDEF', substr(h, 2, 1)) - 1 << 0)
            FROM (SELECT hex(substr(a.data, 1 + 40 * b.n, 8)) AS h)) AS v)),
       (SELECT CASE (v >> 52) & 2047
               WHEN 2047 THEN CASE WHEN v & 4503599627370495 THEN NULL WHEN v < 0 THEN -9e999 ELSE 9e999 END
               WHEN 0 THEN (v & 4503599627370495) * CASE WHEN v < 0 THEN -pow(2, -1074) ELSE pow(2, -1074) END
               ELSE (v & 4503599627370495 | 4503599627370496) *
                    CASE WHEN v < 0 THEN -pow(2, (v >> 52 & 2047) - 1075) ELSE pow(2, (v >> 52 & 2047) - 1075) END
               END
          FROM (SELECT (SELECT
            (instr('0123456789ABCDEF', substr(h, 15, 1)) - 1 << 60) | (instr('0123456789ABCDEF', substr(h, 16, 1)) - 1 << 56) |
            (instr('0123456789ABCDEF', substr(h, 13, 1)) - 1 << 52) | (instr('0123456789ABCDEF', substr(h, 14, 1)) - 1 << 48) |
            (instr('0123456789ABCDEF', substr(h, 11, 1)) - 1 << 44) | (instr('0123456789ABCDEF', substr(h, 12, 1)) - 1 << 40) |
            (instr('0123456789ABCDEF', substr(h, 9, 1)) - 1 << 36) | (instr('0123456789ABCDEF', substr(h, 10, 1)) - 1 << 32) |
            (instr('0123456789ABCDEF', substr(h, 7, 1)) - 1 << 28) | (instr('0123456789ABCDEF', substr(h, 8, 1)) - 1 << 24) |
            (instr('0123456789ABCDEF', substr(h, 5, 1)) - 1 << 20) | (instr('0123456789ABCDEF', substr(h, 6, 1)) - 1 << 16) |
            (instr('0123456789ABCDEF', substr(h, 3, 1)) - 1 << 12) | (instr('0123456789ABCDEF', substr(h, 4, 1)) - 1 << 8) |
            (instr('0123456789ABCDEF', substr(h, 1, 1)) - 1 << 4) | (instr('0123456789ABCDEF', substr(h, 2, 1)) - 1 << 0)
            FROM (SELECT hex(substr(a.data, 9 + 40 * b.n, 8)) AS h)) AS v)),
       (SELECT CASE (v >> 52) & 2047
               WHEN 2047 THEN CASE WHEN v & 4503599627370495 THEN NULL WHEN v < 0 THEN -9e999 ELSE 9e999 END
               WHEN 0 THEN (v & 4503599627370495) * CASE WHEN v < 0 THEN -pow(2, -1074) ELSE pow(2, -1074) END
               ELSE (v & 4503599627370495 | 4503599627370496) *
                    CASE WHEN v < 0 THEN -pow(2, (v >> 52 & 2047) - 1075) ELSE pow(2, (v >> 52 & 2047) - 1075) END
               END
          FROM (SELECT (SELECT
            (instr('0123456789ABCDEF', substr(h, 15, 1)) - 1 << 60) | (instr('0123456789ABCDEF', substr(h, 16, 1)) - 1 << 56) |
            (instr('0123456789ABCDEF', substr(h, 13, 1)) - 1 << 52) | (instr('0123456789ABCDEF', substr(h, 14, 1)) - 1 << 48) |
            (instr('0123456789ABCDEF', substr(h, 11, 1)) - 1 << 44) | (instr('0123456789ABCDEF', substr(h, 12, 1)) - 1 << 40) |
            (instr('0123456789ABCDEF', substr(h, 9, 1)) - 1 << 36) | (instr('0123456789ABCDEF', substr(h, 10, 1)) - 1 << 32) |
            (instr('0123456789ABCDEF', substr(h, 7, 1)) - 1 << 28) | (instr('0123456789ABCDEF', substr(h, 8, 1)) - 1 << 24) |
            (instr('0123456789ABCDEF', substr(h, 5, 1)) - 1 << 20) | (instr('0123456789ABCDEF', substr(h, 6, 1)) - 1 << 16) |
            (instr('0123456789ABCDEF', substr(h, 3, 1)) - 1 << 12) | (instr('0123456789ABCDEF', substr(h, 4, 1)) - 1 << 8) |
            (instr('0123456789ABCDEF', substr(h, 1, 1)) - 1 << 4) | (instr('0123456789ABCDEF', substr(h, 2, 1)) - 1 << 0)
            FROM (SELECT hex(substr(a.data, 17 + 40 * b.n, 8)) AS h)) AS v)),
       (SELECT CASE (v >> 52) & 2047
               WHEN 2047 THEN CASE WHEN v & 4503599627370495 THEN NULL WHEN v < 0 THEN -9e999 ELSE 9e999 END
               WHEN 0 THEN (v & 4503599627370495) * CASE WHEN v < 0 THEN -pow(2, -1074) ELSE pow(2, -1074) END
               ELSE (v & 4503599627370495 | 4503599627370496) *
                    CASE WHEN v < 0 THEN -pow(2, (v >> 52 & 2047) - 1075) ELSE pow(2, (v >> 52 & 2047) - 1075) END
               END
          FROM (SELECT (SELECT
            (instr('0123456789ABCDEF', substr(h, 15, 1)) - 1 << 60) | (instr('0123456789ABCDEF', substr(h, 16, 1)) - 1 << 56) |
            (instr('0123456789ABCDEF', substr(h, 13, 1)) - 1 << 52) | (instr('0123456789ABCDEF', substr(h, 14, 1)) - 1 << 48) |
            (instr('0123456789ABCDEF', substr(h, 11, 1)) - 1 << 44) | (instr('0123456789ABCDEF', substr(h, 12, 1)) - 1 << 40) |
            (instr('0123456789ABCDEF', substr(h, 9, 1)) - 1 << 36) | (instr('0123456789ABCDEF', substr(h, 10, 1)) - 1 << 32) |
            (instr('0123456789ABCDEF', substr(h, 7, 1)) - 1 << 28) | (instr('0123456789ABCDEF', substr(h, 8, 1)) - 1 << 24) |
            (instr('0123456789ABCDEF', substr(h, 5, 1)) - 1 << 20) | (instr('0123456789ABCDEF', substr(h, 6, 1)) - 1 << 16) |
            (instr('0123456789ABCDEF', substr(h, 3, 1)) - 1 << 12) | (instr('0123456789ABCDEF', substr(h, 4, 1)) - 1 << 8) |
            (instr('0123456789ABCDEF', substr(h, 1, 1)) - 1 << 4) | (instr('0123456789ABCDEF', substr(h, 2, 1)) - 1 << 0)
            FROM (SELECT hex(substr(a.data, 25 + 40 * b.n, 8)) AS h)) AS v)),
       (SELECT CASE (v >> 52) & 2047
               WHEN 2047 THEN CASE WHEN v & 4503599627370495 THEN NULL WHEN v < 0 THEN -9e999 ELSE 9e999 END
               WHEN 0 THEN (v & 4503599627370495) * CASE WHEN v < 0 THEN -pow(2, -1074) ELSE pow(2, -1074) END
               ELSE (v & 4503599627370495 | 4503599627370496) *
                    CASE WHEN v < 0 THEN -pow(2, (v >> 52 & 2047) - 1075) ELSE pow(2, (v >> 52 & 2047) - 1075) END
               END
          FROM (SELECT (SELECT
            (instr('0123456789ABCDEF', substr(h, 15, 1)) - 1 << 60) | (instr('0123456789ABCDEF', substr(h, 16, 1)) - 1 << 56) |
            (instr('0123456789ABCDEF', substr(h, 13, 1)) - 1 << 52) | (instr('0123456789ABCDEF', substr(h, 14, 1)) - 1 << 48) |
            (instr('0123456789ABCDEF', substr(h, 11, 1)) - 1 << 44) | (instr('0123456789ABCDEF', substr(h, 12, 1)) - 1 << 40) |
            (instr('0123456789ABCDEF', substr(h, 9, 1)) - 1 << 36) | (instr('0123456789ABCDEF', substr(h, 10, 1)) - 1 << 32) |
            (instr('0123456789ABCDEF', substr(h, 7, 1)) - 1 << 28) | (instr('0123456789ABCDEF', substr(h, 8, 1)) - 1 << 24) |
            (instr('0123456789ABCDEF', substr(h, 5, 1)) - 1 << 20) | (instr('0123456789ABCDEF', substr(h, 6, 1)) - 1 << 16) |
            (instr('0123456789ABCDEF', substr(h, 3, 1)) - 1 << 12) | (instr('0123456789ABCDEF', substr(h, 4, 1)) - 1 << 8) |
            (instr('0123456789ABCDEF', substr(h, 1, 1)) - 1 << 4) | (instr('0123456789ABCDEF', substr(h, 2, 1)) - 1 << 0)
            FROM (SELECT hex(substr(a.data, 33 + 40 * b.n, 8)) AS h)) AS v))
FROM artifacts a JOIN numbers b ON b.n < json_extract(a.meta, '$.shape[0]')
WHERE a.kind = 'reliability' AND json_extract(a.meta, '$.dtype') = 'float64' AND length(a.data) = 40 * json_extract(a.meta, '$.shape[0]');
