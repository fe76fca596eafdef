#include "core/store/tables/storable.h"

#include <algorithm>
#include <set>
#include <utility>

#include "core/base/log.h"
#include "core/base/text.h"
#include "core/store/tables/rows.h"

namespace vitrine::store {

namespace {

/// Of a row, besides its texts and bytes: numbers, a time of day, SQLite's own header.
constexpr std::uint64_t kRowOverhead = 512;

std::uint64_t rowBytes(const Artifact& artifact) {
  return kRowOverhead + artifact.data.size() + dumpJson(artifact.meta).size() +
         artifact.analysis.size() + artifact.name.size() + artifact.kind.size();
}

std::uint64_t rowBytes(const GeneratedImage& image) {
  return kRowOverhead + image.png.size() + dumpJson(image.recipe).size() + image.sha256.size();
}

std::uint64_t rowBytes(const GeneratedText& text) {
  return kRowOverhead + text.prompt.size() + text.text.size() + dumpJson(text.recipe).size();
}

EventRecord notStored(std::int64_t step, const std::string& text, Json data) {
  log::warning(text);
  return {step, "not_stored", text, std::move(data)};
}

/// \param what  "'NAME' of ANALYSIS at step 3"
std::string tooLarge(const std::string& what, std::uint64_t bytes, std::uint64_t limit) {
  if (bytes <= limit) return {};
  return what + " is not stored: it takes " + formatBytes(bytes) +
         ", and a row of the database holds at most " + formatBytes(limit);
}

/// Removes from `items`, images or texts, those that are too large.
template <typename Item>
void dropTooLarge(std::vector<Item>& items, std::vector<EventRecord>& events, std::uint64_t limit) {
  std::erase_if(items, [&](const Item& item) {
    const std::string why = whyUnstorable(item, limit);
    if (why.empty()) return false;
    events.push_back(notStored(item.step, why, {{"bytes", rowBytes(item)}, {"limit", limit}}));
    return true;
  });
}

}  // namespace

std::string whyUnstorable(const Artifact& artifact, std::uint64_t limit) {
  return tooLarge("'" + shown(artifact.name) + "' of " + shown(artifact.analysis) + " at step " +
                      std::to_string(artifact.step),
                  rowBytes(artifact), limit);
}

std::string whyUnstorable(const GeneratedImage& image, std::uint64_t limit) {
  return tooLarge("a generated image of step " + std::to_string(image.step), rowBytes(image),
                  limit);
}

std::string whyUnstorable(const GeneratedText& text, std::uint64_t limit) {
  return tooLarge("a generated text of step " + std::to_string(text.step), rowBytes(text), limit);
}

std::string cutToFit(const std::string& text, std::uint64_t limit) {
  if (text.size() <= limit / 4) return text;
  auto end = static_cast<std::size_t>(limit / 4);
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
  return text.substr(0, end) + "...";
}

void dropUnstorable(RunWriter::Batch& batch, std::uint64_t limit) {
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
  dropTooLarge(batch.images, events, limit);
  dropTooLarge(batch.texts, events, limit);
  std::set<std::string> told;  // a metric comes with every step
  for (MetricRecord& record : batch.metrics) {
    std::erase_if(record.values, [&](const auto& value) {
      const std::string& name = value.first;
      if (kRowOverhead + name.size() <= limit) return false;
      if (told.insert(name).second) {
        events.push_back(
            notStored(record.step,
                      "the metric " + shown(name) + " is not stored: its name takes " +
                          formatBytes(name.size()) + ", and a row of the database holds at most " +
                          formatBytes(limit),
                      {{"name", shown(name)}, {"bytes", name.size()}, {"limit", limit}}));
      }
      return true;
    });
  }
}

}  // namespace vitrine::store
