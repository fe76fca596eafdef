-- Version 2: the queue. A run is in it while it has a row here, whatever its state; a run that `train` stored as
-- `queued` has none and is never taken by `vitrine work`.

CREATE TABLE queue_entry (
  run_id INTEGER PRIMARY KEY REFERENCES run(id) ON DELETE CASCADE,
  priority INTEGER NOT NULL,           -- higher first
  position INTEGER NOT NULL,           -- then lower first
  device TEXT NOT NULL,                -- '' any, cpu, cuda, cuda:1 or the UUID of a GPU
  time_limit_seconds REAL NOT NULL,    -- of running time over all starts; 0 none
  grace_seconds REAL NOT NULL,         -- between being asked to end and being killed
  memory_limit_bytes INTEGER NOT NULL, -- 0: what the machine has
  needed_memory_bytes INTEGER NOT NULL,  -- estimates from before it was accepted; 0 where there is none
  needed_disk_bytes INTEGER NOT NULL,
  enqueued_at TEXT NOT NULL,
  attempts INTEGER NOT NULL DEFAULT 0,   -- starts since its newest checkpoint
  claimed_checkpoint INTEGER NOT NULL DEFAULT -1,  -- its newest checkpoint when it was started last
  used_seconds REAL NOT NULL DEFAULT 0,
  held TEXT NOT NULL DEFAULT ''          -- why it was passed over although its turn had come
) STRICT;

CREATE TABLE queue_state (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  mode TEXT NOT NULL CHECK (mode IN ('running', 'paused', 'after_current')),
  changed_at TEXT NOT NULL
) STRICT;
INSERT INTO queue_state VALUES (1, 'running', '');

CREATE VIEW queue(place, run_id, name, state, priority, device, time_limit, depends_on, enqueued_at, attempts, held) AS
SELECT row_number() OVER (ORDER BY q.priority DESC, q.position), q.run_id, r.name, r.state, q.priority, q.device,
       q.time_limit_seconds, r.depends_on, q.enqueued_at, q.attempts, q.held
FROM queue_entry q JOIN run r ON r.id = q.run_id;
