#include "core/files/decoder_bin.h"

#include <array>
#include <cstring>
#include <optional>
#include <utility>

#include "core/base/error.h"
#include "core/files/posix_file.h"

namespace vitrine {

namespace {

namespace fs = std::filesystem;

constexpr std::uint32_t kMagic = 0x616b3432;
constexpr std::uint64_t kHeader0 = 28, kHeader1 = 256, kFloatBytes = 4;

/// The seven numbers of a header, in their order.
struct Sizes {
  std::int64_t width = 0, hidden = 0, layers = 0, heads = 0, keyHeads = 0, vocabulary = 0,
               context = 0;
  bool hasHead = false;  ///< of its own
};

std::int64_t integerAt(std::span<const std::byte> bytes, std::size_t at) {
  std::int32_t value = 0;
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

Sizes sizesAt(std::span<const std::byte> bytes, std::size_t at) {
  const auto number = [&](std::size_t i) { return integerAt(bytes, at + 4 * i); };
  return {number(0), number(1), number(2), number(3), number(4), number(5), number(6)};
}

/// Numbers that no product of the layout takes beyond 63 bits.
bool canBe(const Sizes& s) {
  const auto isIn = [](std::int64_t value, std::int64_t most) {
    return value >= 1 && value <= most;
  };
  return isIn(s.width, 1 << 17) && isIn(s.hidden, 1 << 19) && isIn(s.layers, 1 << 12) &&
         isIn(s.heads, 1 << 12) && isIn(s.keyHeads, s.heads) && isIn(s.vocabulary, 1 << 23) &&
         isIn(s.context, 1 << 24) && s.width % s.heads == 0 && s.heads % s.keyHeads == 0 &&
         s.width / s.heads % 2 == 0;
}

std::string described(const Sizes& s) {
  return "width " + std::to_string(s.width) + ", hidden " + std::to_string(s.hidden) + ", layers " +
         std::to_string(s.layers) + ", heads " + std::to_string(s.heads) + ", key heads " +
         std::to_string(s.keyHeads) + ", vocabulary " + std::to_string(s.vocabulary) +
         ", context " + std::to_string(s.context);
}

/// Tensors one behind the other.
class Layout {
 public:
  explicit Layout(std::uint64_t begin) : end_(begin) {}
  void add(std::string name, std::vector<std::int64_t> shape) {
    std::uint64_t bytes = kFloatBytes;
    for (const std::int64_t side : shape) bytes *= static_cast<std::uint64_t>(side);
    entries_.push_back({std::move(name), std::move(shape), end_, bytes});
    end_ += bytes;
  }
  void skip(std::uint64_t floats) { end_ += kFloatBytes * floats; }
  [[nodiscard]] std::uint64_t end() const { return end_; }
  [[nodiscard]] std::vector<DecoderBinEntry> take() { return std::move(entries_); }

 private:
  std::vector<DecoderBinEntry> entries_;
  std::uint64_t end_;
};

Layout layoutOf(const Sizes& s, bool hasTables, std::uint64_t begin) {
  const std::int64_t keyWidth = s.width / s.heads * s.keyHeads;
  Layout layout(begin);
  const auto inLayers = [&](const char* name, const std::vector<std::int64_t>& shape) {
    for (std::int64_t i = 0; i < s.layers; ++i)
      layout.add("layers." + std::to_string(i) + "." + name + ".weight", shape);
  };
  const auto embedding = [&] { layout.add("tok_embeddings.weight", {s.vocabulary, s.width}); };
  const auto maps = [&] {
    inLayers("attention.wq", {s.width, s.width});
    inLayers("attention.wk", {keyWidth, s.width});
    inLayers("attention.wv", {keyWidth, s.width});
    inLayers("attention.wo", {s.width, s.width});
  };
  const auto feedForward = [&] {
    inLayers("feed_forward.w1", {s.hidden, s.width});
    inLayers("feed_forward.w2", {s.width, s.hidden});
    inLayers("feed_forward.w3", {s.hidden, s.width});
  };
  if (hasTables) {  // version 0: norms stand before their maps
    embedding();
    inLayers("attention_norm", {s.width});
    maps();
    inLayers("ffn_norm", {s.width});
    feedForward();
    layout.add("norm.weight", {s.width});
    layout.skip(static_cast<std::uint64_t>(s.context) *
                static_cast<std::uint64_t>(s.width / s.heads / 2) * 2);
  } else {  // version 1: norms first
    inLayers("attention_norm", {s.width});
    inLayers("ffn_norm", {s.width});
    layout.add("norm.weight", {s.width});
    embedding();
    maps();
    feedForward();
  }
  if (s.hasHead) layout.add("output.weight", {s.vocabulary, s.width});
  return layout;
}

/// The first bytes of a file, zeros behind its end.
std::array<std::byte, kHeader1> headOf(const files::Descriptor& fd, const fs::path& file) {
  std::array<std::byte, kHeader1> head{};
  (void)files::readAt(fd, file, head, 0);
  return head;
}

bool hasMagic(std::span<const std::byte> head) {
  std::uint32_t magic = 0;
  std::memcpy(&magic, head.data(), sizeof magic);
  return magic == kMagic;
}

/// Sizes of version 0, where the bytes can be that.
std::optional<Sizes> unmarkedSizes(std::span<const std::byte> head) {
  Sizes sizes = sizesAt(head, 0);
  sizes.hasHead = sizes.vocabulary < 0;
  if (sizes.hasHead) sizes.vocabulary = -sizes.vocabulary;
  if (!canBe(sizes)) return std::nullopt;
  return sizes;
}

}  // namespace

struct DecoderBinFile::State {
  fs::path file;
  files::Descriptor descriptor;
  std::vector<DecoderBinEntry> entries;
};

bool DecoderBinFile::isOne(const fs::path& file) {
  std::error_code error;
  if (file.extension() != ".bin" || !fs::is_regular_file(file, error)) return false;
  const auto [descriptor, size] = files::openToRead(file);
  const auto head = headOf(descriptor, file);
  return hasMagic(head) || unmarkedSizes(head).has_value();
}

DecoderBinFile::DecoderBinFile(const fs::path& file) : state_(std::make_unique<State>()) {
  auto [descriptor, size] = files::openToRead(file);
  const auto head = headOf(descriptor, file);
  Sizes sizes;
  const bool isMarked = hasMagic(head);
  if (isMarked) {
    const std::int64_t version = integerAt(head, 4);
    if (version != 1) {
      throw FileError(file.string() + " is version " + std::to_string(version) +
                      " of its format, and versions 0 and 1 are read" +
                      (version == 2 ? "; 2 holds 8-bit numbers" : "") +
                      "; write it again with --version 1");
    }
    sizes = sizesAt(head, 8);
    const auto isShared = static_cast<unsigned>(head[36]);
    if (isShared > 1 || !canBe(sizes)) {
      throw FileError(file.string() + " begins as flat decoder weights, but its sizes cannot be: " +
                      described(sizes));
    }
    sizes.hasHead = isShared == 0;
  } else {
    const std::optional<Sizes> unmarked = unmarkedSizes(head);
    if (!unmarked) throw FileError(file.string() + " is not a file of flat decoder weights");
    sizes = *unmarked;
  }
  Layout layout = layoutOf(sizes, !isMarked, isMarked ? kHeader1 : kHeader0);
  if (layout.end() != size) {
    throw FileError(file.string() + " has " + std::to_string(size) + " bytes, and its sizes (" +
                    described(sizes) + ") want " + std::to_string(layout.end()) +
                    "; it is cut, or another format");
  }
  state_->file = file;
  state_->descriptor = std::move(descriptor);
  state_->entries = layout.take();
}

DecoderBinFile::~DecoderBinFile() = default;
DecoderBinFile::DecoderBinFile(DecoderBinFile&&) noexcept = default;
DecoderBinFile& DecoderBinFile::operator=(DecoderBinFile&&) noexcept = default;

const std::vector<DecoderBinEntry>& DecoderBinFile::entries() const noexcept {
  return state_->entries;
}

void DecoderBinFile::read(const DecoderBinEntry& entry, std::span<std::byte> out) const {
  if (files::readAt(state_->descriptor, state_->file, out, entry.begin) == out.size()) return;
  throw FileError(state_->file.string() + " ends within tensor '" + entry.name +
                  "'; it was cut while it was open");
}

}  // namespace vitrine
