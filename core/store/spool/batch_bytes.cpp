#include "core/store/spool/batch_bytes.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <string>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/base/read_json.h"
#include "core/store/tables/rows.h"

namespace vitrine::store {

namespace {

static_assert(std::endian::native == std::endian::little);

/// 2 adds images and texts after the artifacts. Files of 1 are still read.
constexpr std::uint32_t kFormat = 2;
constexpr std::uint32_t kOldestFormat = 1;

/// Writes what Reader reads: both take the same fields in the same order.
class Writer {
 public:
  template <typename... Fields>
  void operator()(const Fields&... fields) {
    (put(fields), ...);
  }
  template <typename Item, typename Each>
  void list(const std::vector<Item>& items, std::size_t /*least*/, const Each& each) {
    put(static_cast<std::uint64_t>(items.size()));
    for (const Item& item : items) each(item);
  }
  std::vector<std::byte> take() { return std::move(bytes_); }

 private:
  template <typename T>
  requires(std::is_arithmetic_v<T>) void put(T value) {
    const auto bytes = std::bit_cast<std::array<std::byte, sizeof(T)>>(value);
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
  }
  void put(std::span<const std::byte> value) {
    put(static_cast<std::uint64_t>(value.size()));
    bytes_.insert(bytes_.end(), value.begin(), value.end());
  }
  void put(const std::vector<std::byte>& value) { put(std::span(value)); }
  void put(const std::string& value) { put(std::as_bytes(std::span(value.data(), value.size()))); }
  void put(const Json& value) { put(dumpJson(value)); }

  std::vector<std::byte> bytes_;
};

class Reader {
 public:
  explicit Reader(std::span<const std::byte> bytes) : rest_(bytes) {}

  template <typename... Fields>
  void operator()(Fields&... fields) {
    (get(fields), ...);
  }
  /// \param least  bytes of the smallest item
  template <typename Item, typename Each>
  void list(std::vector<Item>& items, std::size_t least, const Each& each) {
    std::uint64_t count = 0;
    get(count);
    if (count > rest_.size() / least) fail();
    items.resize(static_cast<std::size_t>(count));
    for (Item& item : items) each(item);
  }
  void end() const {
    if (!rest_.empty()) fail();
  }
  [[noreturn]] static void fail() {
    throw StoreError("a batch of results in a side file is damaged");
  }

 private:
  std::span<const std::byte> take(std::uint64_t count) {
    if (count > rest_.size()) fail();
    const auto part = rest_.first(static_cast<std::size_t>(count));
    rest_ = rest_.subspan(part.size());
    return part;
  }
  template <typename T>
  requires(std::is_arithmetic_v<T>) void get(T& value) {
    std::array<std::byte, sizeof(T)> bytes{};
    const auto part = take(sizeof(T));
    std::copy(part.begin(), part.end(), bytes.begin());
    value = std::bit_cast<T>(bytes);
  }
  void get(bool& value) {
    std::uint8_t byte = 0;
    get(byte);
    value = byte != 0;
  }
  std::span<const std::byte> bytes() {
    std::uint64_t size = 0;
    get(size);
    return take(size);
  }
  void get(std::vector<std::byte>& value) {
    const auto part = bytes();
    value.assign(part.begin(), part.end());
  }
  void get(std::string& value) {
    const auto part = bytes();
    value.assign(reinterpret_cast<const char*>(part.data()), part.size());
  }
  void get(Json& value) {
    std::string text;
    get(text);
    value = readJson(text);
    if (value.is_discarded()) fail();
  }

  std::span<const std::byte> rest_;
};

void writeMetrics(Writer& out, const std::vector<MetricRecord>& records) {
  std::unordered_map<std::string, std::uint32_t> ids;
  std::vector<std::string> names;
  for (const MetricRecord& record : records) {
    for (const auto& [name, value] : record.values) {
      if (ids.try_emplace(name, static_cast<std::uint32_t>(names.size())).second)
        names.push_back(name);
    }
  }
  out.list(names, 8, [&](const std::string& name) { out(name); });
  out.list(records, 32, [&](const MetricRecord& record) {
    out(record.step, record.epoch, record.time);
    out.list(record.values, 12, [&](const auto& value) { out(ids.at(value.first), value.second); });
  });
}

std::vector<MetricRecord> readMetrics(Reader& in) {
  std::vector<std::string> names;
  in.list(names, 8, [&](std::string& name) { in(name); });
  std::vector<MetricRecord> records;
  in.list(records, 32, [&](MetricRecord& record) {
    in(record.step, record.epoch, record.time);
    in.list(record.values, 12, [&](auto& value) {
      std::uint32_t id = 0;
      in(id, value.second);
      if (id >= names.size()) Reader::fail();
      value.first = names[id];
    });
  });
  return records;
}

/// The parts of a batch behind its metrics. \param bytes  a Writer of a const batch, or a Reader
template <typename Bytes, typename Batch>
void passParts(Bytes& bytes, Batch& batch, std::uint32_t format) {
  bytes.list(batch.events, 32,
             [&](auto& event) { bytes(event.step, event.kind, event.text, event.data); });
  bytes.list(batch.artifacts, 48, [&](auto& artifact) {
    bytes(artifact.step, artifact.analysis, artifact.name, artifact.kind, artifact.meta,
          artifact.data);
  });
  if (format >= 2) {
    bytes.list(batch.images, 56, [&](auto& image) {
      bytes(image.step, image.recipe, image.seed, image.width, image.height, image.sha256,
            image.png);
    });
    bytes.list(batch.texts, 40, [&](auto& text) {
      bytes(text.step, text.recipe, text.seed, text.prompt, text.text);
    });
  }
  bytes.list(batch.checkpoints, 41, [&](auto& checkpoint) {
    bytes(checkpoint.step, checkpoint.folder, checkpoint.bytes, checkpoint.seconds,
          checkpoint.isBest);
    bytes.list(checkpoint.removed, 8, [&](auto& folder) { bytes(folder); });
  });
}

template <typename Bytes, typename Progress>
void passProgress(Bytes& bytes, Progress& progress) {
  bytes(progress.step, progress.totalSteps, progress.epoch, progress.totalEpochs, progress.loss,
        progress.imagesPerSecond, progress.remainingSeconds, progress.memoryBytes);
}

}  // namespace

std::vector<std::byte> packBatch(const RunWriter::Batch& batch) {
  Writer out;
  out(kFormat);
  writeMetrics(out, batch.metrics);
  passParts(out, batch, kFormat);
  out(batch.progress.has_value());
  if (batch.progress) passProgress(out, *batch.progress);
  return out.take();
}

RunWriter::Batch unpackBatch(std::span<const std::byte> bytes) {
  Reader in(bytes);
  std::uint32_t format = 0;
  in(format);
  if (format < kOldestFormat || format > kFormat) Reader::fail();
  RunWriter::Batch batch{.metrics = readMetrics(in)};
  passParts(in, batch, format);
  bool hasProgress = false;
  in(hasProgress);
  if (hasProgress) passProgress(in, batch.progress.emplace());
  in.end();
  return batch;
}

}  // namespace vitrine::store
