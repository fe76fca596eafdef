#include "core/store/change_reader.h"

#include <algorithm>

namespace vitrine::store {

ChangeReader::Changes ChangeReader::read() {
  // data_version tells of other connections; the counter of changes also of this one.
  const std::int64_t version = store_->dataVersion();
  // Asked before the rows: rows written meanwhile are newer and come again.
  const std::int64_t newest = store_->lastChange();
  Changes changes{.isNew = version != dataVersion_ || newest != newest_};
  if (newest > seen_) {
    changes.runs = store_->runs(seen_);
    if (seen_ > 0) changes.deleted = store_->deletedRuns(seen_);
  }
  seen_ = std::max(seen_, newest);
  dataVersion_ = version;
  newest_ = newest;
  return changes;
}

}  // namespace vitrine::store
