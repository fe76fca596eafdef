-- What people call a metric, from the card of the task that declared it; '' where the program's own table or the name itself says it.
ALTER TABLE metric_kind ADD COLUMN title TEXT NOT NULL DEFAULT '';
