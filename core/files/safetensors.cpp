#include "core/files/safetensors.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <limits>
#include <set>
#include <string_view>
#include <tuple>

#include "core/base/error.h"
#include "core/base/json.h"
#include "core/base/text.h"
#include "core/files/foreign_format.h"
#include "core/files/posix_file.h"
#include "core/files/safetensors_limits.h"

namespace vitrine {

namespace {

using namespace safetensors_limits;
using files::inQuotes;

constexpr std::uint64_t kLargestHeader = 16u << 20;
constexpr std::size_t kHighestRank = 16;
constexpr const char* kMetadata = "__metadata__";

constexpr std::array<std::pair<const char*, std::size_t>, 10> kTypes{{{"F64", 8},
                                                                      {"F32", 4},
                                                                      {"F16", 2},
                                                                      {"BF16", 2},
                                                                      {"I64", 8},
                                                                      {"I32", 4},
                                                                      {"I16", 2},
                                                                      {"I8", 1},
                                                                      {"U8", 1},
                                                                      {"BOOL", 1}}};

std::string knownTypes() {
  std::string out;
  for (const auto& type : kTypes) {
    if (!out.empty()) out += ' ';
    out += type.first;
  }
  return out;
}

/// Elements times size; false when it does not fit 64 bits. Zero sides do not excuse an overflow,
/// as in the reference.
bool byteSize(const std::vector<std::int64_t>& shape, std::size_t elementSize, std::uint64_t& out) {
  out = 1;
  for (const std::int64_t side : shape) {
    if (__builtin_mul_overflow(out, static_cast<std::uint64_t>(side), &out)) return false;
  }
  return !__builtin_mul_overflow(out, static_cast<std::uint64_t>(elementSize), &out);
}

/// Reads the JSON header event by event, so that nothing is built before it is known to be allowed.
class HeaderReader final : public nlohmann::json_sax<Json> {
 public:
  std::vector<SafetensorsEntry> entries;
  std::map<std::string, std::string> metadata;
  std::string error;  ///< one clause; empty while all is well

  bool null() override { return plain("null"); }
  bool boolean(bool) override { return plain("a boolean"); }
  bool number_float(double, const std::string& text) override {
    return plain("the number " + inQuotes(text));
  }
  bool number_integer(std::int64_t value) override {
    return plain("the negative number " + std::to_string(value));
  }
  bool binary(Json::binary_t&) override { return plain("binary data"); }

  bool number_unsigned(std::uint64_t value) override {
    if (skipping_ > 0) return true;
    if (place_ == Place::Shape) {
      if (value > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))
        return fail("side " + std::to_string(value) + " of its shape is too large");
      if (entry_.shape.size() == kHighestRank)
        return fail("its rank is above " + std::to_string(kHighestRank));
      entry_.shape.push_back(static_cast<std::int64_t>(value));
      return true;
    }
    if (place_ == Place::Offsets) {
      if (offsets_ == 2) return fail("its data_offsets are not two numbers");
      (offsets_++ == 0 ? entry_.begin : entry_.end) = value;
      return true;
    }
    return plain("a number");
  }

  bool string(std::string& text) override {
    if (skipping_ > 0) return true;
    if (place_ == Place::Entry && field_ == "dtype") {
      entry_.dtype = text;
      return true;
    }
    if (place_ == Place::Metadata) {
      metadata.emplace(field_, std::move(text));
      return true;
    }
    return plain("a text");
  }

  bool start_object(std::size_t) override {
    if (!enter()) return false;
    keys_.emplace_back();
    if (skipping_ > 0) return ++skipping_, true;
    switch (place_) {
      case Place::Outside:
        place_ = Place::Top;
        return true;
      case Place::Top:
        if (name_ == kMetadata) {
          place_ = Place::Metadata;
          return true;
        }
        place_ = Place::Entry;
        entry_ = SafetensorsEntry{};
        entry_.name = name_;
        hasShape_ = false;
        offsets_ = 0;
        return true;
      case Place::Entry:
        if (!isKnownField()) return ++skipping_, true;
        return plain("an object");
      default:
        return plain("an object");
    }
  }

  bool key(std::string& text) override {
    if (!keys_.back().insert(text).second) {
      return fail(place_ == Place::Top ? "the name " + inQuotes(text) + " is there twice"
                                       : "the key " + inQuotes(text) + " is there twice");
    }
    if (skipping_ > 0) return true;
    if (place_ == Place::Top) {
      if (text.size() > kLongestName) {
        return fail("the name " + inQuotes(text) + " is longer than " + formatCount(kLongestName) +
                    " bytes");
      }
      name_ = text;
    } else {
      field_ = text;
    }
    return true;
  }

  bool end_object() override {
    --depth_;
    keys_.pop_back();
    if (skipping_ > 0) return --skipping_, true;
    if (place_ == Place::Entry) {
      place_ = Place::Top;
      if (entry_.dtype.empty()) return fail("it has no dtype");
      if (!hasShape_) return fail("it has no shape");
      if (offsets_ != 2) return fail("its data_offsets are not two numbers");
      if (entries.size() == kMostTensors)
        return fail("there are more than " + formatCount(kMostTensors) + " tensors");
      entries.push_back(std::move(entry_));
      name_.clear();
    } else if (place_ == Place::Metadata) {
      place_ = Place::Top;
      name_.clear();
    } else {
      place_ = Place::Outside;
    }
    return true;
  }

  bool start_array(std::size_t) override {
    if (!enter()) return false;
    if (skipping_ > 0) return ++skipping_, true;
    if (place_ == Place::Entry && field_ == "shape") {
      place_ = Place::Shape;
      hasShape_ = true;
      return true;
    }
    if (place_ == Place::Entry && field_ == "data_offsets") {
      place_ = Place::Offsets;
      return true;
    }
    if (place_ == Place::Entry && !isKnownField()) return ++skipping_, true;
    return plain("a list");
  }

  bool end_array() override {
    --depth_;
    if (skipping_ > 0) return --skipping_, true;
    place_ = Place::Entry;
    return true;
  }

  bool parse_error(std::size_t position, const std::string&,
                   const nlohmann::detail::exception&) override {
    error = "it is not JSON at byte " + std::to_string(position);
    return false;
  }

  /// The tensor the reader is at, for the message; "" outside one.
  [[nodiscard]] const std::string& at() const noexcept { return name_; }

 private:
  enum class Place { Outside, Top, Metadata, Entry, Shape, Offsets };

  bool fail(std::string clause) {
    error = std::move(clause);
    return false;
  }
  [[nodiscard]] bool isKnownField() const {
    return field_ == "dtype" || field_ == "shape" || field_ == "data_offsets";
  }
  bool enter() {
    if (++depth_ > kDeepestJson)
      return fail("its JSON is nested deeper than " + std::to_string(kDeepestJson));
    return true;
  }
  /// A value where none of its kind belongs. The format's reader ignores fields it does not know,
  /// so does this one.
  bool plain(const std::string& what) {
    if (skipping_ > 0 || (place_ == Place::Entry && !isKnownField())) return true;
    switch (place_) {
      case Place::Outside:
        return fail("it is not an object");
      case Place::Top:
        return fail("its description is " + what + ", not an object");
      case Place::Metadata:
        return fail("metadata " + inQuotes(field_) + " is " + what + ", not a text");
      case Place::Entry:
        return fail("its " + field_ + " is " + what);
      case Place::Shape:
        return fail("its shape has " + what);
      case Place::Offsets:
        return fail("its data_offsets have " + what);
    }
    return false;
  }

  Place place_ = Place::Outside;
  std::string name_, field_;
  SafetensorsEntry entry_;
  bool hasShape_ = false;
  int offsets_ = 0;
  int depth_ = 0;
  int skipping_ = 0;                         // open containers below a field we do not know
  std::vector<std::set<std::string>> keys_;  // ordered: hostile names cannot make it slow
};

}  // namespace

std::size_t safetensorsElementSize(const std::string& dtype) noexcept {
  for (const auto& type : kTypes) {
    if (dtype == type.first) return type.second;
  }
  return 0;
}

struct SafetensorsFile::State {
  std::filesystem::path file;
  files::Descriptor fd;
  std::uint64_t bufferStart = 0, bufferSize = 0;
  std::vector<SafetensorsEntry> entries;
  std::map<std::string, std::size_t> byName;
  std::map<std::string, std::string> metadata;

  [[noreturn]] void fail(const std::string& clause) const {
    throw FileError(file.string() + " " + clause);
  }
  [[noreturn]] void failHere(const std::string& tensor, const std::string& clause) const {
    fail("is refused: tensor " + inQuotes(tensor) + ": " + clause);
  }

  void open(const std::filesystem::path& path) {
    file = path;
    std::uint64_t size = 0;
    std::tie(fd, size) = files::openToRead(path);
    std::array<unsigned char, 9> start{};
    const std::size_t got = files::readAt(fd, file, std::as_writable_bytes(std::span(start)), 0);
    std::uint64_t length = 0;
    for (int i = 7; i >= 0; --i) length = (length << 8) | start[static_cast<std::size_t>(i)];

    // A header of 640 bytes begins like a pickle (80 02): other formats are looked for only in what
    // cannot be ours.
    if (got < 9 || length > size - 8 || length > kLargestHeader || start[8] != '{') {
      if (const auto other = files::foreignFormat(fd, file, size)) fail(other->clause);
      if (got < 8) fail("is too short for a safetensors file: " + formatCount(size) + " bytes");
      if (length > size - 8) {
        fail("is cut or no safetensors file: a header of " + std::to_string(length) +
             " bytes is promised, " + formatCount(size - 8) + " bytes follow");
      }
      if (length > kLargestHeader) {
        fail("is refused: its header of " + formatCount(length) + " bytes is above the limit of " +
             formatCount(kLargestHeader));
      }
      fail("is not a safetensors file: its header does not begin with '{'");
    }
    readHeader(length);
    bufferStart = 8 + length;
    bufferSize = size - bufferStart;
    checkLayout();
  }

  void readHeader(std::uint64_t length) {
    std::string text(static_cast<std::size_t>(length), '\0');
    const auto bytes = std::as_writable_bytes(std::span(text.data(), text.size()));
    if (files::readAt(fd, file, bytes, 8) != text.size()) fail("was cut while it was read");
    // The JSON parser takes a zero byte for the end of the text and would not look at what follows.
    if (text.find('\0') != std::string::npos) fail("is refused: its header has a zero byte");
    const std::size_t last = text.find_last_not_of(' ');
    if (last == std::string::npos || text[last] != '}')
      fail("is refused: its header does not end with '}' and spaces");
    HeaderReader reader;
    if (!Json::sax_parse(text, &reader)) {
      if (reader.at().empty()) fail("is refused: in its header, " + reader.error);
      failHere(reader.at(), reader.error);
    }
    entries = std::move(reader.entries);
    metadata = std::move(reader.metadata);
  }

  /// The buffer must be covered exactly: no hole, no overlap, no tail.
  void checkLayout() {
    for (const SafetensorsEntry& entry : entries) {
      const std::size_t element = safetensorsElementSize(entry.dtype);
      if (element == 0) {
        failHere(entry.name,
                 "dtype " + inQuotes(entry.dtype) + " is not known; known are " + knownTypes());
      }
      std::uint64_t bytes = 0;
      if (!byteSize(entry.shape, element, bytes))
        failHere(entry.name, "its shape overflows 64 bits");
      if (entry.end < entry.begin) failHere(entry.name, "its data_offsets run backwards");
      if (entry.end - entry.begin != bytes) {
        failHere(entry.name, "its data_offsets span " + std::to_string(entry.end - entry.begin) +
                                 " bytes, its shape and dtype need " + std::to_string(bytes));
      }
    }
    std::sort(entries.begin(), entries.end(),
              [](const SafetensorsEntry& a, const SafetensorsEntry& b) {
                return std::tie(a.begin, a.end, a.name) < std::tie(b.begin, b.end, b.name);
              });
    std::uint64_t next = 0;
    for (const SafetensorsEntry& entry : entries) {
      if (entry.begin > next) failHere(entry.name, "there is a hole before its data");
      if (entry.begin < next) failHere(entry.name, "its data overlaps another tensor's");
      if (entry.end > bufferSize) {
        failHere(entry.name, "its data ends at byte " + std::to_string(entry.end) +
                                 " of a buffer of " + std::to_string(bufferSize) +
                                 ": the file is cut");
      }
      next = entry.end;
    }
    if (next != bufferSize)
      fail("is refused: " + formatCount(bufferSize - next) + " bytes follow the last tensor");
    for (std::size_t i = 0; i < entries.size(); ++i) byName.emplace(entries[i].name, i);
  }
};

SafetensorsFile::SafetensorsFile(const std::filesystem::path& file)
    : state_(std::make_unique<State>()) {
  state_->open(file);
}
SafetensorsFile::~SafetensorsFile() = default;
SafetensorsFile::SafetensorsFile(SafetensorsFile&&) noexcept = default;
SafetensorsFile& SafetensorsFile::operator=(SafetensorsFile&&) noexcept = default;

const std::vector<SafetensorsEntry>& SafetensorsFile::entries() const noexcept {
  return state_->entries;
}

const SafetensorsEntry* SafetensorsFile::find(const std::string& name) const noexcept {
  const auto found = state_->byName.find(name);
  return found == state_->byName.end() ? nullptr : &state_->entries[found->second];
}

const std::map<std::string, std::string>& SafetensorsFile::metadata() const noexcept {
  return state_->metadata;
}

void SafetensorsFile::read(const SafetensorsEntry& entry, std::span<std::byte> out) const {
  if (entry.end < entry.begin || entry.end > state_->bufferSize ||
      out.size() != entry.end - entry.begin) {
    state_->failHere(entry.name, "asked to read " + std::to_string(out.size()) +
                                     " bytes of a tensor of " +
                                     std::to_string(entry.end - entry.begin));
  }
  if (files::readAt(state_->fd, state_->file, out, state_->bufferStart + entry.begin) !=
      out.size()) {
    state_->failHere(entry.name, "the file was cut while it was open");
  }
}

void writeSafetensors(const std::filesystem::path& file,
                      const std::vector<SafetensorsTensor>& tensors,
                      const std::map<std::string, std::string>& metadata) {
  const auto fail = [&](const std::string& name, const std::string& clause) {
    throw FileError(file.string() + " cannot be written: tensor " + inQuotes(name) + " " + clause);
  };
  if (tensors.size() > kMostTensors) {
    throw FileError(file.string() + " cannot be written: more than " + formatCount(kMostTensors) +
                    " tensors");
  }
  // Wide elements first, so that every tensor starts at a multiple of its element size.
  std::vector<const SafetensorsTensor*> order;
  order.reserve(tensors.size());
  for (const SafetensorsTensor& tensor : tensors) order.push_back(&tensor);
  std::stable_sort(order.begin(), order.end(),
                   [](const SafetensorsTensor* a, const SafetensorsTensor* b) {
                     return safetensorsElementSize(a->dtype) > safetensorsElementSize(b->dtype);
                   });

  std::set<std::string_view> names;
  std::uint64_t offset = 0;
  std::string text = "{";
  try {
    if (!metadata.empty()) text += Json(kMetadata).dump() + ":" + Json(metadata).dump();
    for (const SafetensorsTensor* tensor : order) {
      const std::size_t element = safetensorsElementSize(tensor->dtype);
      if (element == 0)
        fail(tensor->name, "has dtype " + inQuotes(tensor->dtype) + ", not one of " + knownTypes());
      if (tensor->name == kMetadata) fail(tensor->name, "has a name the format keeps for itself");
      if (tensor->name.size() > kLongestName) fail(tensor->name, "has a name above 1 KiB");
      if (!names.insert(tensor->name).second) fail(tensor->name, "is given twice");
      if (tensor->shape.size() > kHighestRank) fail(tensor->name, "has a rank above 16");
      std::uint64_t bytes = 0;
      if (std::any_of(tensor->shape.begin(), tensor->shape.end(),
                      [](std::int64_t side) { return side < 0; }) ||
          !byteSize(tensor->shape, element, bytes) || bytes != tensor->bytes.size()) {
        fail(tensor->name, "has " + formatCount(tensor->bytes.size()) +
                               " bytes, which its shape and dtype do not give");
      }
      // Written piece by piece: an ordered JSON object looks every key up by a walk.
      const Json entry = {{"dtype", tensor->dtype},
                          {"shape", tensor->shape},
                          {"data_offsets", {offset, offset + bytes}}};
      text += (text.size() > 1 ? "," : "") + Json(tensor->name).dump() + ":" + entry.dump();
      offset += bytes;
    }
  } catch (const nlohmann::json::exception&) {
    throw FileError(file.string() + " cannot be written: a name or metadata text is not UTF-8");
  }
  text += "}";
  text.append((8 - text.size() % 8) % 8, ' ');
  if (text.size() > kLargestHeader) {
    throw FileError(file.string() + " cannot be written: its header would be above " +
                    formatCount(kLargestHeader) + " bytes");
  }
  std::array<std::byte, 8> length{};
  for (std::size_t i = 0; i < 8; ++i)
    length[i] = static_cast<std::byte>((text.size() >> (8 * i)) & 0xff);

  files::Descriptor fd = files::openToWrite(file);
  try {
    files::writeAll(fd, file, length);
    files::writeAll(fd, file, std::as_bytes(std::span(text.data(), text.size())));
    for (const SafetensorsTensor* tensor : order) files::writeAll(fd, file, tensor->bytes);
    files::syncFile(fd, file);
    fd.close(file);
  } catch (...) {
    ::unlink(file.c_str());  // a torn file is useless
    throw;
  }
}

}  // namespace vitrine
