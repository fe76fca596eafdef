#include "core/store/spool/batch_bytes.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <unordered_map>

#include "core/base/error.h"
#include "core/base/read_json.h"
#include "core/store/tables/rows.h"

namespace vitrine::store {

namespace {

static_assert(std::endian::native == std::endian::little);

/// 2 adds images and texts after the artifacts. Files of 1 are still read.
constexpr std::uint32_t kFormat = 2;
constexpr std::uint32_t kOldestFormat = 1;

class Writer {
 public:
  template <typename T>
  void number(T value) {
    const auto bytes = std::bit_cast<std::array<std::byte, sizeof(T)>>(value);
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
  }
  void size(std::size_t value) { number(static_cast<std::uint64_t>(value)); }
  void bytes(std::span<const std::byte> value) {
    size(value.size());
    bytes_.insert(bytes_.end(), value.begin(), value.end());
  }
  void text(std::string_view value) { bytes(std::as_bytes(std::span(value.data(), value.size()))); }
  std::vector<std::byte> take() { return std::move(bytes_); }

 private:
  std::vector<std::byte> bytes_;
};

class Reader {
 public:
  explicit Reader(std::span<const std::byte> bytes) : rest_(bytes) {}

  template <typename T>
  T number() {
    std::array<std::byte, sizeof(T)> bytes{};
    const auto part = take(sizeof(T));
    std::copy(part.begin(), part.end(), bytes.begin());
    return std::bit_cast<T>(bytes);
  }
  std::int64_t integer() { return number<std::int64_t>(); }
  double real() { return number<double>(); }
  std::span<const std::byte> bytes() { return take(number<std::uint64_t>()); }
  std::string text() {
    const auto part = bytes();
    return {reinterpret_cast<const char*>(part.data()), part.size()};
  }
  /// How many of something follow, each of at least `least` bytes.
  std::size_t count(std::size_t least) {
    const auto value = number<std::uint64_t>();
    if (value > rest_.size() / least) fail();
    return static_cast<std::size_t>(value);
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

  std::span<const std::byte> rest_;
};

Json jsonOf(const std::string& text) {
  Json value = readJson(text);
  if (value.is_discarded()) Reader::fail();
  return value;
}

void writeMetrics(Writer& out, const std::vector<MetricRecord>& records) {
  std::unordered_map<std::string_view, std::uint32_t> ids;
  std::vector<std::string_view> names;
  for (const MetricRecord& record : records) {
    for (const auto& entry : record.values) {
      const std::string_view name = entry.first;
      if (ids.emplace(name, static_cast<std::uint32_t>(names.size())).second) names.push_back(name);
    }
  }
  out.size(names.size());
  for (const std::string_view name : names) out.text(name);
  out.size(records.size());
  for (const MetricRecord& record : records) {
    out.number(record.step);
    out.number(record.epoch);
    out.number(record.time);
    out.size(record.values.size());
    for (const auto& [name, value] : record.values) {
      out.number(ids.at(name));
      out.number(value);
    }
  }
}

std::vector<MetricRecord> readMetrics(Reader& in) {
  std::vector<std::string> names(in.count(8));
  for (std::string& name : names) name = in.text();
  std::vector<MetricRecord> records(in.count(32));
  for (MetricRecord& record : records) {
    record.step = in.integer();
    record.epoch = in.real();
    record.time = in.real();
    record.values.resize(in.count(12));
    for (auto& [name, value] : record.values) {
      const auto id = in.number<std::uint32_t>();
      if (id >= names.size()) Reader::fail();
      name = names[id];
      value = in.real();
    }
  }
  return records;
}

void writeCheckpoint(Writer& out, const CheckpointRecord& checkpoint) {
  out.number(checkpoint.step);
  out.text(checkpoint.folder);
  out.number(checkpoint.bytes);
  out.number(checkpoint.seconds);
  out.number(static_cast<std::uint8_t>(checkpoint.isBest ? 1 : 0));
  out.size(checkpoint.removed.size());
  for (const std::string& folder : checkpoint.removed) out.text(folder);
}

CheckpointRecord readCheckpoint(Reader& in) {
  CheckpointRecord checkpoint;
  checkpoint.step = in.integer();
  checkpoint.folder = in.text();
  checkpoint.bytes = in.integer();
  checkpoint.seconds = in.real();
  checkpoint.isBest = in.number<std::uint8_t>() != 0;
  checkpoint.removed.resize(in.count(8));
  for (std::string& folder : checkpoint.removed) folder = in.text();
  return checkpoint;
}

void writeGenerated(Writer& out, const RunWriter::Batch& batch) {
  out.size(batch.images.size());
  for (const GeneratedImage& image : batch.images) {
    out.number(image.step);
    out.text(dumpJson(image.recipe));
    out.number(image.seed);
    out.number(image.width);
    out.number(image.height);
    out.text(image.sha256);
    out.bytes(image.png);
  }
  out.size(batch.texts.size());
  for (const GeneratedText& text : batch.texts) {
    out.number(text.step);
    out.text(dumpJson(text.recipe));
    out.number(text.seed);
    out.text(text.prompt);
    out.text(text.text);
  }
}

void readGenerated(Reader& in, RunWriter::Batch& batch) {
  batch.images.resize(in.count(56));
  for (GeneratedImage& image : batch.images) {
    image.step = in.integer();
    image.recipe = jsonOf(in.text());
    image.seed = in.number<std::uint64_t>();
    image.width = in.integer();
    image.height = in.integer();
    image.sha256 = in.text();
    const auto png = in.bytes();
    image.png.assign(png.begin(), png.end());
  }
  batch.texts.resize(in.count(40));
  for (GeneratedText& text : batch.texts) {
    text.step = in.integer();
    text.recipe = jsonOf(in.text());
    text.seed = in.number<std::uint64_t>();
    text.prompt = in.text();
    text.text = in.text();
  }
}

void writeProgress(Writer& out, const ProgressRecord& progress) {
  out.number(progress.step);
  out.number(progress.totalSteps);
  for (const double value : {progress.epoch, progress.totalEpochs, progress.loss,
                             progress.imagesPerSecond, progress.remainingSeconds}) {
    out.number(value);
  }
  out.number(progress.memoryBytes);
}

ProgressRecord readProgress(Reader& in) {
  ProgressRecord progress;
  progress.step = in.integer();
  progress.totalSteps = in.integer();
  for (double* value : {&progress.epoch, &progress.totalEpochs, &progress.loss,
                        &progress.imagesPerSecond, &progress.remainingSeconds}) {
    *value = in.real();
  }
  progress.memoryBytes = in.integer();
  return progress;
}

}  // namespace

std::vector<std::byte> packBatch(const RunWriter::Batch& batch) {
  Writer out;
  out.number(kFormat);
  writeMetrics(out, batch.metrics);
  out.size(batch.events.size());
  for (const EventRecord& event : batch.events) {
    out.number(event.step);
    out.text(event.kind);
    out.text(event.text);
    out.text(dumpJson(event.data));
  }
  out.size(batch.artifacts.size());
  for (const Artifact& artifact : batch.artifacts) {
    out.number(artifact.step);
    for (const std::string* text : {&artifact.analysis, &artifact.name, &artifact.kind}) {
      out.text(*text);
    }
    out.text(dumpJson(artifact.meta));
    out.bytes(artifact.data);
  }
  writeGenerated(out, batch);
  out.size(batch.checkpoints.size());
  for (const CheckpointRecord& checkpoint : batch.checkpoints) writeCheckpoint(out, checkpoint);
  out.number(static_cast<std::uint8_t>(batch.progress ? 1 : 0));
  if (batch.progress) writeProgress(out, *batch.progress);
  return out.take();
}

RunWriter::Batch unpackBatch(std::span<const std::byte> bytes) {
  Reader in(bytes);
  const auto format = in.number<std::uint32_t>();
  if (format < kOldestFormat || format > kFormat) Reader::fail();
  RunWriter::Batch batch;
  batch.metrics = readMetrics(in);
  batch.events.resize(in.count(32));
  for (EventRecord& event : batch.events) {
    event.step = in.integer();
    event.kind = in.text();
    event.text = in.text();
    event.data = jsonOf(in.text());
  }
  batch.artifacts.resize(in.count(48));
  for (Artifact& artifact : batch.artifacts) {
    artifact.step = in.integer();
    for (std::string* text : {&artifact.analysis, &artifact.name, &artifact.kind}) {
      *text = in.text();
    }
    artifact.meta = jsonOf(in.text());
    const auto data = in.bytes();
    artifact.data.assign(data.begin(), data.end());
  }
  if (format >= 2) readGenerated(in, batch);
  const std::size_t checkpoints = in.count(41);
  for (std::size_t i = 0; i < checkpoints; ++i) batch.checkpoints.push_back(readCheckpoint(in));
  if (in.number<std::uint8_t>() != 0) batch.progress = readProgress(in);
  in.end();
  return batch;
}

}  // namespace vitrine::store
