#include "core/files/event_file.h"

#include <algorithm>
#include <array>
#include <bit>

#include "core/base/error.h"
#include "core/files/posix_file.h"
#include "core/files/protobuf_wire.h"

namespace vitrine {

namespace {

constexpr std::size_t kHeader = 12, kFooter = 4;
constexpr std::uint64_t kLongestRecord = 256u << 20;
constexpr std::size_t kMostSentences = 20;
constexpr std::uint32_t kMask = 0xa282ead8u;
constexpr const char* kVersion = "brain.Event:2";

using Crc32cTable = std::array<std::array<std::uint32_t, 256>, 8>;

/// Tables of the slicing-by-8 form: entry [k][b] is the sum of byte b followed by k zero bytes.
constexpr Crc32cTable makeTable() {
  Crc32cTable table{};
  for (std::uint32_t i = 0; i < 256; ++i) {
    std::uint32_t value = i;
    for (int bit = 0; bit < 8; ++bit) value = (value >> 1) ^ ((value & 1u) != 0 ? 0x82f63b78u : 0u);
    table[0][i] = value;
  }
  for (std::size_t k = 1; k < 8; ++k) {
    for (std::size_t i = 0; i < 256; ++i)
      table[k][i] = (table[k - 1][i] >> 8) ^ table[0][table[k - 1][i] & 0xffu];
  }
  return table;
}
constexpr Crc32cTable kTable = makeTable();

template <typename Unsigned>
Unsigned little(std::span<const std::byte> bytes) {
  Unsigned value = 0;
  for (std::size_t i = sizeof(Unsigned); i-- > 0;)
    value = static_cast<Unsigned>((value << 8) | std::to_integer<Unsigned>(bytes[i]));
  return value;
}

// TensorProto.dtype
constexpr std::uint64_t kFloat = 1, kDouble = 2, kInt32 = 3, kString = 7, kInt64 = 9;

/// A tensor as far as scalars and images need one.
struct Tensor {
  std::uint64_t dtype = 0;
  std::uint64_t count = 1;  ///< product of the dimensions, at most 2^32
  std::span<const std::byte> content;
  std::optional<double> number;                     ///< first of the typed lists
  std::vector<std::span<const std::byte>> strings;  ///< at most a few
};

Tensor readTensor(std::span<const std::byte> bytes) {
  Tensor tensor;
  for (wire::Reader reader(bytes); reader.next();) {
    switch (reader.field()) {
      case 1:
        tensor.dtype = reader.varint();
        break;
      case 2:
        for (wire::Reader shape(reader.bytes()); shape.next();) {
          if (shape.field() != 2) continue;
          std::uint64_t size = 1;
          for (wire::Reader dimension(shape.bytes()); dimension.next();) {
            if (dimension.field() == 1) size = dimension.varint();
          }
          const std::uint64_t most = std::uint64_t{1} << 32;
          tensor.count = size != 0 && tensor.count > most / size ? most : tensor.count * size;
        }
        break;
      case 4:
        tensor.content = reader.bytes();
        break;
      case 5:  // float_val, packed or not
        if (!tensor.number && reader.length() >= 4)
          tensor.number = std::bit_cast<float>(little<std::uint32_t>(reader.bytes()));
        break;
      case 6:
        if (!tensor.number && reader.length() >= 8)
          tensor.number = std::bit_cast<double>(little<std::uint64_t>(reader.bytes()));
        break;
      case 7:
      case 10:
        if (!tensor.number)
          tensor.number = static_cast<double>(static_cast<std::int64_t>(reader.firstVarint()));
        break;
      case 8:
        if (tensor.strings.size() < 64) tensor.strings.push_back(reader.bytes());
        break;
      default:
        break;
    }
  }
  return tensor;
}

std::optional<double> numberOf(const Tensor& tensor) {
  if (tensor.count != 1) return std::nullopt;
  if (tensor.number) return tensor.number;
  const auto& content = tensor.content;
  if (tensor.dtype == kFloat && content.size() == 4)
    return std::bit_cast<float>(little<std::uint32_t>(content));
  if (tensor.dtype == kDouble && content.size() == 8)
    return std::bit_cast<double>(little<std::uint64_t>(content));
  if (tensor.dtype == kInt32 && content.size() == 4)
    return static_cast<std::int32_t>(little<std::uint32_t>(content));
  if (tensor.dtype == kInt64 && content.size() == 8)
    return static_cast<double>(static_cast<std::int64_t>(little<std::uint64_t>(content)));
  // Proto3 omits zeros.
  const bool isNumber = tensor.dtype == kFloat || tensor.dtype == kDouble ||
                        tensor.dtype == kInt32 || tensor.dtype == kInt64;
  if (isNumber && content.empty()) return 0.0;
  return std::nullopt;
}

std::vector<std::byte> copyOf(std::span<const std::byte> bytes) {
  return {bytes.begin(), bytes.end()};
}

SummaryImage readImage(std::span<const std::byte> bytes) {
  SummaryImage image{.channels = 0};
  for (wire::Reader reader(bytes); reader.next();) {
    switch (reader.field()) {
      case 1:
        image.height = static_cast<std::int64_t>(reader.varint());
        break;
      case 2:
        image.width = static_cast<std::int64_t>(reader.varint());
        break;
      case 3:
        image.channels = static_cast<std::int64_t>(reader.varint());
        break;
      case 4:
        image.encoded = copyOf(reader.bytes());
        break;
      default:
        break;
    }
  }
  return image;
}

std::string textOf(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::string pluginOf(std::span<const std::byte> metadata) {
  for (wire::Reader reader(metadata); reader.next();) {
    if (reader.field() != 1) continue;
    for (wire::Reader data(reader.bytes()); data.next();) {
      if (data.field() == 1) return textOf(data.bytes());
    }
  }
  return {};
}

/// Text of decimal digits as a side of an image; 0 when it is none.
std::int64_t sideOf(std::span<const std::byte> digits) {
  std::int64_t side = 0;
  if (digits.empty() || digits.size() > 9) return 0;
  for (const std::byte digit : digits) {
    const int value = std::to_integer<int>(digit) - '0';
    if (value < 0 || value > 9) return 0;
    side = 10 * side + value;
  }
  return side;
}

/// Puts one Summary.Value into `event`, or counts what it is.
void readValue(std::span<const std::byte> bytes, SummaryEvent& event,
               std::map<std::string, std::int64_t>& skipped) {
  SummaryValue value;
  std::string plugin;
  std::optional<Tensor> tensor;
  const char* other = nullptr;
  bool isScalar = false;
  for (wire::Reader reader(bytes); reader.next();) {
    switch (reader.field()) {
      case 1:
        value.tag = textOf(reader.bytes());
        break;
      case 2:
        value.scalar = std::bit_cast<float>(little<std::uint32_t>(reader.fixed(4)));
        isScalar = true;
        break;
      case 3:
      case 5:
        other = "histogram";
        break;
      case 4:
        value.image = readImage(reader.bytes());
        break;
      case 6:
        other = "audio";
        break;
      case 8:
        tensor = readTensor(reader.bytes());
        break;
      case 9:
        plugin = pluginOf(reader.bytes());
        break;
      default:
        break;
    }
  }
  if (tensor && (plugin == "scalars" || plugin.empty())) {
    if (const std::optional<double> number = numberOf(*tensor)) {
      value.scalar = *number;
      isScalar = true;
    }
  } else if (tensor && plugin == "images" && tensor->dtype == kString &&
             tensor->strings.size() >= 3) {
    // The second form of image summaries: width, height, then one or more images.
    SummaryImage image;
    image.width = sideOf(tensor->strings[0]);
    image.height = sideOf(tensor->strings[1]);
    image.channels = 0;
    image.encoded = copyOf(tensor->strings[2]);
    value.image = std::move(image);
    if (tensor->strings.size() > 3)
      skipped["further image of a batch"] += static_cast<std::int64_t>(tensor->strings.size() - 3);
  }
  if (value.tag.empty() || (!isScalar && !value.image)) {
    ++skipped[other != nullptr  ? other
              : !plugin.empty() ? files::inQuotes(plugin) + " summary"
              : tensor          ? "tensor"
                                : "unknown summary"];
    return;
  }
  event.values.push_back(std::move(value));
}

SummaryEvent readEvent(std::span<const std::byte> bytes,
                       std::map<std::string, std::int64_t>& skipped) {
  SummaryEvent event;
  bool isKnown = false;
  for (wire::Reader reader(bytes); reader.next();) {
    switch (reader.field()) {
      case 1:
        event.wallTime = std::bit_cast<double>(little<std::uint64_t>(reader.fixed(8)));
        break;
      case 2:
        event.step = static_cast<std::int64_t>(reader.varint());
        break;
      case 3:  // the version of the file
        isKnown = true;
        break;
      case 5:
        isKnown = true;
        for (wire::Reader summary(reader.bytes()); summary.next();) {
          if (summary.field() == 1) readValue(summary.bytes(), event, skipped);
        }
        break;
      case 4:
      case 8:
      case 9:
        isKnown = true;
        ++skipped["graph"];
        break;
      case 6:
      case 7:
        isKnown = true;
        ++skipped["session record"];
        break;
      default:
        break;
    }
  }
  if (!isKnown) ++skipped["unknown record"];
  return event;
}

}  // namespace

std::uint32_t crc32c(std::span<const std::byte> bytes) noexcept {
  std::uint32_t sum = 0xffffffffu;
  while (bytes.size() >= 8) {
    const std::uint32_t low = sum ^ little<std::uint32_t>(bytes);
    const std::uint32_t high = little<std::uint32_t>(bytes.subspan(4));
    sum = kTable[7][low & 0xffu] ^ kTable[6][(low >> 8) & 0xffu] ^ kTable[5][(low >> 16) & 0xffu] ^
          kTable[4][low >> 24] ^ kTable[3][high & 0xffu] ^ kTable[2][(high >> 8) & 0xffu] ^
          kTable[1][(high >> 16) & 0xffu] ^ kTable[0][high >> 24];
    bytes = bytes.subspan(8);
  }
  for (const std::byte byte : bytes)
    sum = (sum >> 8) ^ kTable[0][(sum ^ std::to_integer<std::uint32_t>(byte)) & 0xffu];
  return ~sum;
}

std::uint32_t maskedCrc32c(std::span<const std::byte> bytes) noexcept {
  return std::rotr(crc32c(bytes), 15) + kMask;
}

// --- writing -------------------------------------------------------------------------------------

struct EventFileWriter::State {
  std::filesystem::path file;
  files::Descriptor descriptor;
  std::vector<std::byte> waiting;

  void record(const wire::Writer& message) {
    const std::span<const std::byte> body = message.bytes();
    std::array<std::byte, 8> length{};
    for (std::size_t i = 0; i < 8; ++i) length[i] = static_cast<std::byte>(body.size() >> (8 * i));
    const auto put = [&](std::span<const std::byte> bytes) {
      waiting.insert(waiting.end(), bytes.begin(), bytes.end());
    };
    const auto putSum = [&](std::span<const std::byte> bytes) {
      const std::uint32_t sum = maskedCrc32c(bytes);
      for (int i = 0; i < 4; ++i) waiting.push_back(static_cast<std::byte>(sum >> (8 * i)));
    };
    put(length);
    putSum(length);
    put(body);
    putSum(body);
    if (waiting.size() > (1u << 20)) flush();
  }
  void flush() {
    files::writeAll(descriptor, file, waiting);
    waiting.clear();
  }
};

EventFileWriter::EventFileWriter(const std::filesystem::path& file, double wallTime,
                                 const std::filesystem::path& named)
    : state_(std::make_unique<State>(
          State{named.empty() ? file : named, files::openToWrite(file, named), {}})) {
  wire::Writer event;
  event.fixed64(1, std::bit_cast<std::uint64_t>(wallTime));
  event.text(3, kVersion);
  state_->record(event);
}

EventFileWriter::~EventFileWriter() = default;

void EventFileWriter::write(const SummaryEvent& event) {
  wire::Writer summary;
  for (const SummaryValue& value : event.values) {
    wire::Writer message;
    message.text(1, value.tag);
    if (value.image) {
      wire::Writer image;
      image.varint(1, static_cast<std::uint64_t>(value.image->height));
      image.varint(2, static_cast<std::uint64_t>(value.image->width));
      image.varint(3, static_cast<std::uint64_t>(value.image->channels));
      image.bytes(4, value.image->encoded);
      message.bytes(4, image.bytes());
    } else {
      message.fixed32(2, std::bit_cast<std::uint32_t>(static_cast<float>(value.scalar)));
    }
    summary.bytes(1, message.bytes());
  }
  wire::Writer message;
  message.fixed64(1, std::bit_cast<std::uint64_t>(event.wallTime));
  message.varint(2, static_cast<std::uint64_t>(event.step));
  message.bytes(5, summary.bytes());
  state_->record(message);
}

void EventFileWriter::close() {
  state_->flush();
  files::syncFile(state_->descriptor, state_->file);
  state_->descriptor.close(state_->file);
}

// --- reading -------------------------------------------------------------------------------------

struct EventFileReader::State {
  std::filesystem::path file;
  files::Descriptor descriptor;
  std::uint64_t size = 0;
  std::uint64_t at = 0;  ///< of the next record
  std::vector<std::byte> window;
  std::uint64_t windowAt = 0;
  bool isAtEnd = false;
  Report report;
  std::vector<std::byte> first;

  /// `count` bytes from `offset`; fewer at the end of the file.
  std::span<const std::byte> look(std::uint64_t offset, std::size_t count) {
    if (offset < windowAt || offset + count > windowAt + window.size()) {
      const std::uint64_t left = size > offset ? size - offset : 0;
      window.resize(static_cast<std::size_t>(
          std::min<std::uint64_t>(left, std::max<std::size_t>(count, 1u << 20))));
      windowAt = offset;
      window.resize(files::readAt(descriptor, file, window, offset));
    }
    const std::size_t start = static_cast<std::size_t>(offset - windowAt);
    return std::span<const std::byte>(window).subspan(start,
                                                      std::min(count, window.size() - start));
  }

  void damaged(const std::string& what) {
    ++report.damagedRecords;
    if (report.damage.size() < kMostSentences)
      report.damage.push_back(file.string() + ": the record at offset " + std::to_string(at) + " " +
                              what);
  }

  /// The next whole record.
  std::optional<std::span<const std::byte>> record() {
    while (!isAtEnd) {
      if (at >= size) break;
      const std::span<const std::byte> header = look(at, kHeader);
      if (header.size() < kHeader) {
        report.cutAt = at;
        break;
      }
      const auto length = little<std::uint64_t>(header);
      if (maskedCrc32c(header.first(8)) != little<std::uint32_t>(header.subspan(8))) {
        // Where the next one starts is not known any more.
        damaged("has a length whose checksum is wrong; the rest of the file cannot be read");
        break;
      }
      const std::uint64_t left = size - at - kHeader;
      if (length > left || left - length < kFooter) {
        report.cutAt = at;
        break;
      }
      const std::uint64_t next = at + kHeader + length + kFooter;
      if (length > kLongestRecord) {
        damaged("is longer than the limit of 256 MiB and is left out");
        at = next;
        continue;
      }
      const auto count = static_cast<std::size_t>(length);
      const std::span<const std::byte> body = look(at + kHeader, count + kFooter);
      if (body.size() < count + kFooter) {  // the file became shorter meanwhile
        report.cutAt = at;
        break;
      }
      if (maskedCrc32c(body.first(count)) != little<std::uint32_t>(body.subspan(count))) {
        damaged("differs from its checksum and is left out");
        at = next;
        continue;
      }
      return body.first(count);
    }
    isAtEnd = true;
    return std::nullopt;
  }
};

EventFileReader::EventFileReader(const std::filesystem::path& file)
    : state_(std::make_unique<State>()) {
  State& state = *state_;
  state.file = file;
  std::tie(state.descriptor, state.size) = files::openToRead(file);
  const std::span<const std::byte> start = state.look(0, kHeader);
  if (start.size() >= 2 && start[0] == std::byte{0x1f} && start[1] == std::byte{0x8b})
    throw FileError(file.string() + " is compressed with gzip; unpack it first");
  if (start.size() == kHeader &&
      maskedCrc32c(start.first(8)) != little<std::uint32_t>(start.subspan(8))) {
    throw FileError(file.string() +
                    " is not a TensorBoard event file: the checksum at offset 8 is wrong");
  }
  if (const auto first = state.record()) state.first = copyOf(*first);
}

EventFileReader::~EventFileReader() = default;

std::optional<SummaryEvent> EventFileReader::next() {
  State& state = *state_;
  while (const auto body = state.record()) {
    SummaryEvent event;
    bool isWhole = true;
    try {
      event = readEvent(*body, state.report.skipped);
    } catch (const wire::Malformed&) {
      state.damaged("is not a protobuf message of an event and is left out");
      isWhole = false;
    }
    state.at += kHeader + body->size() + kFooter;
    if (isWhole) ++state.report.records;
    if (isWhole && !event.values.empty()) return event;
  }
  return std::nullopt;
}

const EventFileReader::Report& EventFileReader::report() const noexcept { return state_->report; }

std::span<const std::byte> EventFileReader::firstRecord() const noexcept { return state_->first; }

}  // namespace vitrine
