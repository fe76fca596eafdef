#include "tests/fuzz/mutate.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>
#include <vector>

namespace vitrine::fuzz {

namespace {

constexpr std::array<std::string_view, 24> kNumbers{
    "0",          "1",          "2",
    "3",          "4",          "7",
    "8",          "16",         "255",
    "256",        "65535",      "65536",
    "2147483647", "4294967295", "4294967296",
    "-1",         "-0",         "9223372036854775807",
    "0.0",        "1e3",        "9223372036854775808",
    "1e999",      "NaN",        "18446744073709551616",
};
constexpr std::array<std::string_view, 12> kTypes{"F64", "F32", "F16", "BF16", "I64",     "I32",
                                                  "I16", "I8",  "U8",  "BOOL", "F8_E4M3", "f32"};
constexpr std::array<std::string_view, 16> kPieces{
    "{}",         "[]",         "null",    "true",
    "\"\"",       ",",          ":",       "\"__metadata__\":{",
    "\"dtype\":", "\"shape\":", "\\u0000", "\\ud800",
    "\"a\":{",    "}",          "[[[[",    "\"data_offsets\":[0,4]"};

/// Begin and length of a run of digits, or {0, 0}.
std::pair<std::size_t, std::size_t> someNumber(const std::string& text, Dice& dice) {
  std::vector<std::pair<std::size_t, std::size_t>> runs;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = at;
    while (end < text.size() && text[end] >= '0' && text[end] <= '9') ++end;
    if (end > at) runs.emplace_back(at, end - at);
    at = end + 1;
  }
  if (runs.empty()) return {0, 0};
  return runs[dice.below(runs.size())];
}

void changeNumber(std::string& text, Dice& dice) {
  const auto [at, length] = someNumber(text, dice);
  if (length == 0) return;
  text.replace(at, length, kNumbers[dice.below(kNumbers.size())]);
}

void changeOnce(std::string& text, Dice& dice) {
  const std::size_t size = text.size();
  const std::size_t at = size == 0 ? 0 : dice.below(size);
  const std::size_t length = size == 0 ? 0 : 1 + dice.below(std::min<std::size_t>(size - at, 16));
  switch (dice.below(10)) {
    case 0:
    case 1:
      if (size > 0) text[at] = static_cast<char>(text[at] ^ (1 << dice.below(8)));
      break;
    case 2:
      if (size > 0) text[at] = static_cast<char>(dice.below(256));
      break;
    case 3:
      text.resize(at);
      break;
    case 4:
      text.erase(at, length);
      break;
    case 5:
      text.insert(at, text.substr(at, length));
      break;
    case 6:
      text.insert(size == 0 ? 0 : dice.below(size), text.substr(at, length));
      break;
    case 7:
      changeNumber(text, dice);
      break;
    case 8:
      text.insert(at, kPieces[dice.below(kPieces.size())]);
      break;
    default: {
      constexpr std::array<std::uint32_t, 6> kWords{0,          1,          0x7fffffff,
                                                    0x80000000, 0xffffffff, 0x100};
      const std::uint32_t word = kWords[dice.below(kWords.size())];
      const bool isBig = dice.below(2) == 0;
      for (std::size_t i = 0; i < 4 && at + i < size; ++i)
        text[at + i] = static_cast<char>(word >> (8 * (isBig ? 3 - i : i)));
    }
  }
}

std::uint64_t le64(const std::string& bytes) {
  std::uint64_t value = 0;
  for (std::size_t i = 8; i-- > 0;) value = value << 8 | static_cast<unsigned char>(bytes[i]);
  return value;
}

/// "name":{...} at the top level of a header, where braces do not nest: good enough to move it.
std::pair<std::size_t, std::size_t> someEntry(const std::string& header, Dice& dice) {
  std::vector<std::pair<std::size_t, std::size_t>> entries;
  for (std::size_t at = 1; at < header.size();) {
    const std::size_t end = header.find('}', at);
    if (header[at] != '"' || end == std::string::npos) break;
    entries.emplace_back(at, end + 1 - at);
    at = end + 2;
  }
  if (entries.empty()) return {0, 0};
  return entries[dice.below(entries.size())];
}

/// The largest number of the header that stands before a "]}": where the buffer ends, mostly.
std::uint64_t endOfBuffer(const std::string& header) {
  std::uint64_t end = 0;
  for (std::size_t at = header.find("]}"); at != std::string::npos;
       at = header.find("]}", at + 1)) {
    std::size_t begin = at;
    while (begin > 0 && header[begin - 1] >= '0' && header[begin - 1] <= '9') --begin;
    if (at - begin == 0 || at - begin > 6) continue;
    end = std::max<std::uint64_t>(end, std::stoull(header.substr(begin, at - begin)));
  }
  return end;
}

void changeHeader(std::string& header, Dice& dice) {
  switch (dice.below(7)) {
    case 0:
    case 1:
      changeNumber(header, dice);
      break;
    case 2: {  // another type
      for (const std::string_view type : kTypes) {
        const std::size_t at = header.find("\"" + std::string(type) + "\"");
        if (at == std::string::npos) continue;
        header.replace(at + 1, type.size(), kTypes[dice.below(kTypes.size())]);
        break;
      }
      break;
    }
    case 3: {  // an entry twice
      const auto [at, length] = someEntry(header, dice);
      if (length > 0) header.insert(at, header.substr(at, length) + ",");
      break;
    }
    case 4: {  // an entry less
      const auto [at, length] = someEntry(header, dice);
      if (length > 0)
        header.erase(at,
                     length + (at + length < header.size() && header[at + length] == ',' ? 1 : 0));
      break;
    }
    case 5:
      header.append(dice.below(9), ' ');
      break;
    default:
      changeOnce(header, dice);
  }
}

}  // namespace

std::string mutate(std::string input, Dice& dice, std::size_t longest) {
  for (std::size_t left = 1 + dice.below(4); left > 0; --left) changeOnce(input, dice);
  if (input.size() > longest) input.resize(longest);
  return input;
}

std::string mutateSafetensors(std::string input, Dice& dice, std::size_t longest) {
  if (input.size() < 8 || le64(input) > input.size() - 8 || dice.below(8) == 0)
    return mutate(std::move(input), dice, longest);
  std::string header = input.substr(8, static_cast<std::size_t>(le64(input)));
  std::string data = input.substr(8 + header.size());
  for (std::size_t left = 1 + dice.below(3); left > 0; --left) changeHeader(header, dice);
  if (dice.below(4) != 0)
    data.resize(std::min<std::size_t>(static_cast<std::size_t>(endOfBuffer(header)), longest));
  std::uint64_t length = header.size();
  if (dice.below(16) == 0) length ^= std::uint64_t{1} << dice.below(64);
  std::string out;
  for (int i = 0; i < 8; ++i) out += static_cast<char>(length >> (8 * i));
  out += header;
  out += data;
  if (out.size() > longest) out.resize(longest);
  return out;
}

}  // namespace vitrine::fuzz
