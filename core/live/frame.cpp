#include "core/live/frame.h"

#include <cstring>
#include <type_traits>

namespace vitrine::live {

namespace {

constexpr std::uint32_t kMostItems = 1U << 22;  // of a list: no frame holds more of anything
constexpr std::int32_t kMostSide = 1 << 14;     // pixels, tokens, heads

class Writer {
 public:
  template <class T>
  requires std::is_arithmetic_v<T>
  void put(T value) {
    const auto* first = reinterpret_cast<const std::byte*>(&value);
    bytes.insert(bytes.end(), first, first + sizeof value);
  }
  template <class T>
  void list(const std::vector<T>& values) {
    static_assert(std::is_trivially_copyable_v<T>);
    put(static_cast<std::uint32_t>(values.size()));
    const auto* first = reinterpret_cast<const std::byte*>(values.data());
    bytes.insert(bytes.end(), first, first + values.size() * sizeof(T));
  }
  void text(const std::string& value) { list(std::vector<char>(value.begin(), value.end())); }

  std::vector<std::byte> bytes;
};

class Reader {
 public:
  explicit Reader(std::span<const std::byte> bytes) : bytes_(bytes) {}
  template <class T>
  void get(T& value) {
    if constexpr (std::is_same_v<T, bool>) {
      std::uint8_t byte = 0;
      get(byte);
      value = byte == 1;
      isGood_ = isGood_ && byte <= 1;
    } else {
      if (bytes_.size() < sizeof value) return fail();
      std::memcpy(&value, bytes_.data(), sizeof value);
      bytes_ = bytes_.subspan(sizeof value);
    }
  }
  template <class T>
  void list(std::vector<T>& values) {
    std::uint32_t count = 0;
    get(count);
    if (count > kMostItems || bytes_.size() / sizeof(T) < count) return fail();
    values.resize(count);
    if (count > 0) std::memcpy(values.data(), bytes_.data(), count * sizeof(T));
    bytes_ = bytes_.subspan(count * sizeof(T));
  }
  void text(std::string& value) {
    std::vector<char> letters;
    list(letters);
    value.assign(letters.begin(), letters.end());
  }
  /// How many parts of a kind follow.
  [[nodiscard]] std::uint32_t count(std::uint32_t most) {
    std::uint32_t number = 0;
    get(number);
    if (number > most) fail();
    return isGood_ ? number : 0;
  }
  void require(bool holds) {
    if (!holds) fail();
  }
  void fail() {
    isGood_ = false;
    bytes_ = {};
  }
  [[nodiscard]] bool isGood() const noexcept { return isGood_; }
  [[nodiscard]] bool isAtEnd() const noexcept { return bytes_.empty(); }

 private:
  std::span<const std::byte> bytes_;
  bool isGood_ = true;
};

bool isSide(std::int32_t value) { return value >= 0 && value <= kMostSide; }
bool isProduct(std::size_t size, std::initializer_list<std::int64_t> sides) {
  std::uint64_t product = 1;
  for (const std::int64_t side : sides) {
    product *= static_cast<std::uint64_t>(side);
    if (product > kMostItems) return false;
  }
  return product == size;
}

// What a reader and a writer do in the same order; `Io` is either.
void values(Writer& io, const StepTime& t) {
  io.put(t.step);
  for (const float part : {t.data, t.forward, t.backward, t.optimizer, t.observe, t.store, t.watch})
    io.put(part);
}
void values(Reader& io, StepTime& t) {
  io.get(t.step);
  for (float* part :
       {&t.data, &t.forward, &t.backward, &t.optimizer, &t.observe, &t.store, &t.watch})
    io.get(*part);
}

void values(Writer& io, const AttentionLayer& a) {
  io.put(a.layer);
  io.put(a.heads);
  io.put(a.window);
  io.put(static_cast<std::uint8_t>(a.isWhole));
  io.list(a.queries);
  io.list(a.keys);
  io.list(a.weights);
  io.list(a.mean);
}
void values(Reader& io, AttentionLayer& a) {
  io.get(a.layer);
  io.get(a.heads);
  io.get(a.window);
  io.get(a.isWhole);
  io.list(a.queries);
  io.list(a.keys);
  io.list(a.weights);
  io.list(a.mean);
  io.require(isSide(a.layer) && isSide(a.heads) && a.heads > 0 && a.window >= -1);
  const auto queries = static_cast<std::int64_t>(a.queries.size()),
             keys = static_cast<std::int64_t>(a.keys.size());
  io.require(queries > 0 && keys > 0 && isProduct(a.weights.size(), {a.heads, queries, keys}) &&
             isProduct(a.mean.size(), {a.heads, keys}));
}

void values(Writer& io, const Matrices& m) {
  for (const std::int32_t each : {m.layer, m.head, m.queries, m.keys}) io.put(each);
  io.list(m.softmax);
  io.list(m.effective);
}
void values(Reader& io, Matrices& m) {
  for (std::int32_t* each : {&m.layer, &m.head, &m.queries, &m.keys}) {
    io.get(*each);
    io.require(isSide(*each));
  }
  io.list(m.softmax);
  io.list(m.effective);
  io.require(isProduct(m.softmax.size(), {m.queries, m.keys}) &&
             m.effective.size() == m.softmax.size());
}

void values(Writer& io, const Film& f) {
  io.put(f.step);
  for (const std::int32_t each : {f.images, f.height, f.width, f.channels}) io.put(each);
  io.list(f.times);
  io.list(f.bytes);
}
void values(Reader& io, Film& f) {
  io.get(f.step);
  for (std::int32_t* each : {&f.images, &f.height, &f.width, &f.channels}) {
    io.get(*each);
    io.require(isSide(*each));
  }
  io.list(f.times);
  io.list(f.bytes);
  io.require((f.channels == 1 || f.channels == 3) &&
             isProduct(f.bytes.size(), {static_cast<std::int64_t>(f.times.size()), f.images,
                                        f.height, f.width, f.channels}));
}

void values(Writer& io, const ScheduleGap& g) {
  io.put(g.now);
  io.put(g.finished);
  io.put(g.samples);
}
void values(Reader& io, ScheduleGap& g) {
  io.get(g.now);
  io.get(g.finished);
  io.get(g.samples);
}

template <class Part>
void maybe(Writer& io, const std::optional<Part>& part) {
  io.put(static_cast<std::uint8_t>(part.has_value()));
  if (part) values(io, *part);
}
template <class Part>
void maybe(Reader& io, std::optional<Part>& part) {
  bool isThere = false;
  io.get(isThere);
  if (isThere && io.isGood()) values(io, part.emplace());
}

}  // namespace

std::span<const float> AttentionLayer::row(std::int32_t head, std::int32_t query) const {
  const std::size_t first =
      (static_cast<std::size_t>(head) * queries.size() + static_cast<std::size_t>(query)) *
      keys.size();
  return std::span(weights).subspan(first, keys.size());
}

std::span<const float> AttentionLayer::meanRow(std::int32_t head) const {
  return std::span(mean).subspan(static_cast<std::size_t>(head) * keys.size(), keys.size());
}

std::vector<std::byte> encode(const Frame& frame) {
  Writer io;
  io.put(frame.step);
  io.put(frame.totalSteps);
  io.put(frame.stepsPerEpoch);
  for (const double each :
       {frame.time, frame.loss, frame.imagesPerSecond, frame.watchShare, frame.frameSeconds})
    io.put(each);
  io.put(static_cast<std::uint8_t>(frame.isHostTime));
  io.text(frame.problem);
  io.put(static_cast<std::uint32_t>(frame.steps.size()));
  for (const StepTime& each : frame.steps) values(io, each);
  io.put(static_cast<std::uint32_t>(frame.scheduled.size()));
  for (const auto& [name, value] : frame.scheduled) {
    io.text(name);
    io.put(value);
  }
  io.put(frame.image);
  io.put(frame.images);
  io.put(frame.sample);
  io.put(frame.label);
  io.text(frame.split);
  for (const std::int32_t each : {frame.pixels.height, frame.pixels.width, frame.pixels.channels})
    io.put(each);
  io.list(frame.pixels.bytes);
  io.put(static_cast<std::uint32_t>(frame.attention.size()));
  for (const AttentionLayer& each : frame.attention) values(io, each);
  maybe(io, frame.matrices);
  maybe(io, frame.gap);
  maybe(io, frame.film);
  return std::move(io.bytes);
}

std::optional<Frame> decode(std::span<const std::byte> bytes) {
  constexpr std::uint32_t kMostParts = 4096;
  Frame frame;
  Reader io(bytes);
  io.get(frame.step);
  io.get(frame.totalSteps);
  io.get(frame.stepsPerEpoch);
  for (double* each :
       {&frame.time, &frame.loss, &frame.imagesPerSecond, &frame.watchShare, &frame.frameSeconds})
    io.get(*each);
  io.get(frame.isHostTime);
  io.text(frame.problem);
  frame.steps.resize(io.count(kMostParts));
  for (StepTime& each : frame.steps) values(io, each);
  frame.scheduled.resize(io.count(kMostParts));
  for (auto& [name, value] : frame.scheduled) {
    io.text(name);
    io.get(value);
  }
  io.get(frame.image);
  io.get(frame.images);
  io.get(frame.sample);
  io.get(frame.label);
  io.text(frame.split);
  Pixels& pixels = frame.pixels;
  for (std::int32_t* each : {&pixels.height, &pixels.width, &pixels.channels}) {
    io.get(*each);
    io.require(isSide(*each));
  }
  io.list(pixels.bytes);
  io.require(pixels.bytes.empty() ||
             ((pixels.channels == 1 || pixels.channels == 3) &&
              isProduct(pixels.bytes.size(), {pixels.height, pixels.width, pixels.channels})));
  frame.attention.resize(io.count(kMostParts));
  for (AttentionLayer& each : frame.attention) {
    if (!io.isGood()) break;
    values(io, each);
  }
  maybe(io, frame.matrices);
  maybe(io, frame.gap);
  maybe(io, frame.film);
  io.require(io.isAtEnd() && frame.step >= 0 && frame.totalSteps >= 0 && frame.image >= -1 &&
             frame.images >= 0 && frame.image < std::max(frame.images, 1));
  if (!io.isGood()) return std::nullopt;
  return frame;
}

}  // namespace vitrine::live
