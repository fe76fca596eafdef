#include "ui/runs/run_configs.h"

#include "core/base/read_json.h"
#include "core/config/config.h"
#include "core/store/run_facts.h"

namespace vitrine::ui {

RunConfigs::Entry& RunConfigs::keep(std::int64_t run, const Json& config) {
  ++flattenings_;
  Entry& entry = known_[run];
  entry = Entry{flatten(config), -1, false};
  return entry;
}

void RunConfigs::readNew() {
  ++queries_;
  for (const auto& [id, text] : store::configsAfter(store_, last_)) {
    last_ = id;
    // A damaged configuration is read again by itself, which reports it.
    if (const Json config = readJson(text); !config.is_discarded()) keep(id, config);
  }
}

const FlatConfig& RunConfigs::of(const store::RunRow& run) {
  const bool hasBegun = !run.startedAt.empty() && run.state != store::RunState::Queued &&
                        run.state != store::RunState::Starting;
  if (run.id > last_) readNew();
  const auto found = known_.find(run.id);
  Entry* entry = found == known_.end() ? nullptr : &found->second;
  const bool isUsable = entry != nullptr && (entry->isFinal || entry->changeSequence < 0 ||
                                             entry->changeSequence == run.changeSequence);
  if (!isUsable) {
    ++queries_;
    entry = &keep(run.id, store_.config(run.id));
  }
  entry->changeSequence = run.changeSequence;
  entry->isFinal = entry->isFinal || hasBegun;
  return entry->values;
}

void RunConfigs::forget(const std::vector<std::int64_t>& runs) {
  for (const std::int64_t run : runs) known_.erase(run);
}

}  // namespace vitrine::ui
