#include "core/files/cifar.h"

#include <algorithm>
#include <set>
#include <span>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/files/foreign_format.h"
#include "core/files/posix_file.h"

namespace vitrine {

namespace {

constexpr std::uint64_t kLargestNames = 64u << 10;  // bytes
constexpr std::size_t kLongestName = 128;

}  // namespace

CifarBatch readCifar(const std::filesystem::path& file, std::int64_t records, std::int64_t labels) {
  const auto [fd, size] = files::openToRead(file);
  const auto record = static_cast<std::uint64_t>(labels + kCifarPixels);
  const std::uint64_t expected = static_cast<std::uint64_t>(records) * record;
  if (size != expected) {
    const auto other = files::foreignFormat(fd, file, size);
    if (other && other->kind == files::ForeignFormat::Kind::Pickle) {
      throw FileError(file.string() +
                      " is a Python pickle, which can run code when it is opened; take the binary "
                      "version of the data set instead (cifar-10-binary.tar.gz, "
                      "cifar-100-binary.tar.gz)");
    }
    if (other) throw FileError(file.string() + " " + other->clause);
    throw FileError(file.string() + " has " + formatCount(size) + " bytes; " +
                    formatCount(records) + " records of " + formatCount(record) +
                    " bytes are " + formatCount(expected) +
                    (size < expected ? ": the file is cut" : ": there is trailing data"));
  }
  CifarBatch batch;
  batch.labels.resize(static_cast<std::size_t>(records * labels));
  batch.pixels.resize(static_cast<std::size_t>(records * kCifarPixels));
  // Many records at a time: a read for each would be 10,000 of them.
  constexpr std::uint64_t kAtOnce = 256;
  std::vector<std::byte> chunk;
  for (std::uint64_t first = 0; first < static_cast<std::uint64_t>(records); first += kAtOnce) {
    const std::uint64_t here = std::min(kAtOnce, static_cast<std::uint64_t>(records) - first);
    chunk.resize(static_cast<std::size_t>(here * record));
    if (files::readAt(fd, file, chunk, first * record) != chunk.size())
      throw FileError(file.string() + " was cut while it was read");
    for (std::uint64_t i = 0; i < here; ++i) {
      const auto* from = reinterpret_cast<const std::uint8_t*>(chunk.data()) + i * record;
      const std::uint64_t at = first + i;
      std::copy_n(from, labels,
                  batch.labels.begin() +
                      static_cast<std::ptrdiff_t>(at * static_cast<std::uint64_t>(labels)));
      std::copy_n(from + labels, kCifarPixels,
                  batch.pixels.begin() +
                      static_cast<std::ptrdiff_t>(at * static_cast<std::uint64_t>(kCifarPixels)));
    }
  }
  return batch;
}

std::vector<std::string> readCifarNames(const std::filesystem::path& file, std::size_t expected) {
  const auto [fd, size] = files::openToRead(file);
  if (size > kLargestNames) {
    throw FileError(file.string() + " has " + formatCount(size) +
                    " bytes; a list of class names is shorter than " + formatCount(kLargestNames));
  }
  std::string text(static_cast<std::size_t>(size), '\0');
  text.resize(files::readAt(fd, file, std::as_writable_bytes(std::span(text)), 0));
  std::vector<std::string> names;
  std::set<std::string> seen;
  for (std::string line : split(text, '\n')) {
    while (!line.empty() && (line.back() == '\r' || line.back() == ' ')) line.pop_back();
    if (line.empty()) continue;
    const bool isText = isUtf8(line) && std::none_of(line.begin(), line.end(), [](char c) {
                          return static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
                        });
    if (!isText || line.size() > kLongestName) {
      throw FileError(file.string() +
                      " has a class name that is not short text: " + files::inQuotes(line));
    }
    if (!seen.insert(line).second)
      throw FileError(file.string() + " has the class " + files::inQuotes(line) + " twice");
    names.push_back(std::move(line));
  }
  if (names.size() != expected) {
    throw FileError(file.string() + " has " + formatCount(names.size()) +
                    " class names; there must be " + formatCount(expected));
  }
  return names;
}

}  // namespace vitrine
