#include "core/live/frame.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

namespace vitrine::live {

namespace {

constexpr std::uint32_t kMostItems = 1U << 22;  // of a list: no frame holds more of anything
constexpr std::uint32_t kMostParts = 4096;      // steps, schedules, layers
constexpr std::int32_t kMostSide = 1 << 14;     // pixels, tokens, heads

bool isSide(std::int32_t value) { return value >= 0 && value <= kMostSide; }
bool isProduct(std::size_t size, std::initializer_list<std::int64_t> sides) {
  std::uint64_t product = 1;
  for (const std::int64_t side : sides) {
    product *= static_cast<std::uint64_t>(side);
    if (product > kMostItems) return false;
  }
  return product == size;
}

/// The parts of `fields` that are written, with the words of a Reader.
class Writer {
 public:
  static constexpr bool kReads = false;

  template <class T>
  requires std::is_arithmetic_v<T>
  void value(T value) {
    const auto* first = reinterpret_cast<const std::byte*>(&value);
    bytes.insert(bytes.end(), first, first + sizeof value);
  }
  void value(bool value) { this->value(static_cast<std::uint8_t>(value)); }
  void side(std::int32_t value) { this->value(value); }
  template <class T>
  void list(const std::vector<T>& values) {
    static_assert(std::is_trivially_copyable_v<T>);
    value(static_cast<std::uint32_t>(values.size()));
    const auto* first = reinterpret_cast<const std::byte*>(values.data());
    bytes.insert(bytes.end(), first, first + values.size() * sizeof(T));
  }
  void text(const std::string& value) { list(std::vector<char>(value.begin(), value.end())); }
  void require(bool /*holds*/) {}  // the trainer's values are written as they are

  std::vector<std::byte> bytes;
};

class Reader {
 public:
  static constexpr bool kReads = true;

  explicit Reader(std::span<const std::byte> bytes) : bytes_(bytes) {}
  template <class T>
  void value(T& value) {
    if constexpr (std::is_same_v<T, bool>) {
      std::uint8_t byte = 0;
      this->value(byte);
      value = byte == 1;
      isGood_ = isGood_ && byte <= 1;
    } else {
      if (bytes_.size() < sizeof value) return fail();
      std::memcpy(&value, bytes_.data(), sizeof value);
      bytes_ = bytes_.subspan(sizeof value);
    }
  }
  void side(std::int32_t& value) {
    this->value(value);
    require(isSide(value));
  }
  template <class T>
  void list(std::vector<T>& values) {
    std::uint32_t count = 0;
    value(count);
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
    value(number);
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

/// The fields of a T that are written or read.
template <class Io, class T>
using Of = std::conditional_t<Io::kReads, T, const T>;

// One list of fields for both directions: a reader and a writer cannot come apart.
template <class Io>
void fields(Io& io, Of<Io, StepTime>& t) {
  io.value(t.step);
  for (auto* part :
       {&t.data, &t.forward, &t.backward, &t.optimizer, &t.observe, &t.store, &t.watch})
    io.value(*part);
}

template <class Io>
void fields(Io& io, Of<Io, std::pair<std::string, double>>& scheduled) {
  io.text(scheduled.first);
  io.value(scheduled.second);
}

template <class Io>
void fields(Io& io, Of<Io, Pixels>& p) {
  for (auto* each : {&p.height, &p.width, &p.channels}) io.side(*each);
  io.list(p.bytes);
  io.require(p.bytes.empty() || ((p.channels == 1 || p.channels == 3) &&
                                 isProduct(p.bytes.size(), {p.height, p.width, p.channels})));
}

template <class Io>
void fields(Io& io, Of<Io, AttentionLayer>& a) {
  io.value(a.layer);
  io.value(a.heads);
  io.value(a.window);
  io.value(a.isWhole);
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

template <class Io>
void fields(Io& io, Of<Io, Matrices>& m) {
  for (auto* each : {&m.layer, &m.head, &m.queries, &m.keys}) io.side(*each);
  io.list(m.softmax);
  io.list(m.effective);
  io.require(isProduct(m.softmax.size(), {m.queries, m.keys}) &&
             m.effective.size() == m.softmax.size());
}

template <class Io>
void texts(Io& io, Of<Io, std::vector<std::string>>& list) {
  if constexpr (Io::kReads)
    list.resize(io.count(kMostParts));
  else
    io.value(static_cast<std::uint32_t>(list.size()));
  for (auto& each : list) io.text(each);
}

template <class Io>
void fields(Io& io, Of<Io, Film>& f) {
  io.value(f.step);
  for (auto* each : {&f.images, &f.height, &f.width, &f.channels}) io.side(*each);
  io.list(f.times);
  io.list(f.bytes);
  io.list(f.labels);
  texts(io, f.captions);
  const auto images = static_cast<std::size_t>(std::max(f.images, 0));
  io.require((f.labels.empty() || f.labels.size() == images) &&
             (f.captions.empty() || f.captions.size() == images));
  io.require((f.channels == 1 || f.channels == 3) &&
             isProduct(f.bytes.size(), {static_cast<std::int64_t>(f.times.size()), f.images,
                                        f.height, f.width, f.channels}));
}

template <class Io>
void fields(Io& io, Of<Io, ScheduleGap>& g) {
  io.value(g.now);
  io.value(g.finished);
  io.value(g.samples);
}

template <class Io, class Parts>
void all(Io& io, Parts& parts) {
  if constexpr (Io::kReads)
    parts.resize(io.count(kMostParts));
  else
    io.value(static_cast<std::uint32_t>(parts.size()));
  for (auto& each : parts) fields(io, each);
}

template <class Io, class Part>
void maybe(Io& io, Part& part) {
  bool isThere = part.has_value();
  io.value(isThere);
  if constexpr (Io::kReads)
    if (isThere && io.isGood()) part.emplace();
  if (part) fields(io, *part);
}

template <class Io>
void fields(Io& io, Of<Io, Frame>& frame) {
  io.value(frame.step);
  io.value(frame.totalSteps);
  io.value(frame.stepsPerEpoch);
  for (auto* each :
       {&frame.time, &frame.loss, &frame.imagesPerSecond, &frame.watchShare, &frame.frameSeconds})
    io.value(*each);
  io.value(frame.isHostTime);
  io.text(frame.error);
  all(io, frame.steps);
  all(io, frame.scheduled);
  io.value(frame.image);
  io.value(frame.images);
  io.value(frame.sample);
  io.value(frame.label);
  io.text(frame.split);
  fields(io, frame.pixels);
  all(io, frame.attention);
  maybe(io, frame.matrices);
  maybe(io, frame.gap);
  maybe(io, frame.film);
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

std::pair<std::size_t, double> nearestPlace(std::span<const Place> places,
                                            std::array<double, 2> extent,
                                            std::array<double, 2> wanted) {
  const bool isClass = wanted[0] < 0 || wanted[1] < 0;
  const double row = (isClass ? 0.5 : wanted[0]) * extent[0] - 0.5,
               column = (isClass ? 0.5 : wanted[1]) * extent[1] - 0.5;
  std::pair<std::size_t, double> best{0, std::numeric_limits<double>::infinity()};
  for (std::size_t i = 0; i < places.size(); ++i) {
    double distance = std::hypot(places[i].row - row, places[i].column - column);
    if (std::isnan(distance)) continue;
    if (!places[i].isPatch()) {
      if (!isClass) continue;
      distance = -1;
    }
    if (distance < best.second) best = {i, distance};
  }
  return best;
}

std::vector<std::byte> encode(const Frame& frame) {
  Writer io;
  fields(io, frame);
  return std::move(io.bytes);
}

std::optional<Frame> decode(std::span<const std::byte> bytes) {
  Frame frame;
  Reader io(bytes);
  fields(io, frame);
  io.require(io.isAtEnd() && frame.step >= 0 && frame.totalSteps >= 0 && frame.image >= -1 &&
             frame.images >= 0 && frame.image < std::max(frame.images, 1));
  if (!io.isGood()) return std::nullopt;
  return frame;
}

}  // namespace vitrine::live
