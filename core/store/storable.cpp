#include "core/store/storable.h"

#include <algorithm>
#include <set>
#include <utility>

#include "core/base/log.h"
#include "core/base/text.h"
#include "core/store/rows.h"

namespace vitrine {

namespace {

/// Of a row, beside its texts and bytes: numbers, a time of day, SQLite's own header.
constexpr std::uint64_t kRowOverhead = 512;

std::uint64_t rowBytes(const Artifact& artifact) {
  return kRowOverhead + artifact.data.size() + dumpJson(artifact.meta).size() +
         artifact.analysis.size() + artifact.name.size() + artifact.kind.size();
}

EventRecord notStored(std::int64_t step, const std::string& text, Json data) {
  log::warning(text);
  return {step, "not_stored", text, std::move(data)};
}

std::string sizeText(std::uint64_t bytes) { return formatBytes(static_cast<double>(bytes)); }

}  // namespace

std::string whyUnstorable(const Artifact& artifact, std::uint64_t limit) {
  const std::uint64_t bytes = rowBytes(artifact);
  if (bytes <= limit) return {};
  return "'" + shown(artifact.name) + "' of " + shown(artifact.analysis) + " at step " +
         std::to_string(artifact.step) + " is not stored: it takes " + sizeText(bytes) +
         ", and a row of the database holds at most " + sizeText(limit);
}

std::string cutToFit(const std::string& text, std::uint64_t limit) {
  if (text.size() <= limit / 4) return text;
  auto end = static_cast<std::size_t>(limit / 4);
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
  return text.substr(0, end) + "...";
}

void dropUnstorable(RunStore::Batch& batch, std::uint64_t limit) {
  std::vector<EventRecord>& events = batch.events;
  std::erase_if(batch.artifacts, [&](const Artifact& artifact) {
    const std::string why = whyUnstorable(artifact, limit);
    if (why.empty()) return false;
    events.push_back(notStored(artifact.step, why,
                               {{"analysis", shown(artifact.analysis)},
                                {"name", shown(artifact.name)},
                                {"bytes", rowBytes(artifact)},
                                {"limit", limit}}));
    return true;
  });
  std::set<std::string> told;  // a metric comes with every step
  for (MetricRecord& record : batch.metrics) {
    std::erase_if(record.values, [&](const auto& value) {
      const std::string& name = value.first;
      if (kRowOverhead + name.size() <= limit) return false;
      if (told.insert(name).second) {
        events.push_back(
            notStored(record.step,
                      "the metric " + shown(name) + " is not stored: its name takes " +
                          sizeText(name.size()) + ", and a row of the database holds at most " +
                          sizeText(limit),
                      {{"name", shown(name)}, {"bytes", name.size()}, {"limit", limit}}));
      }
      return true;
    });
  }
}

}  // namespace vitrine
