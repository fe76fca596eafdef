#include "core/text/bpe_tokenizer.h"

#include <algorithm>
#include <array>
#include <cstdio>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/text/unicode.h"
#include "core/text/word_split.h"

namespace vitrine::text {

namespace {

constexpr std::string_view kSpaceMark = "\xE2\x96\x81";  // U+2581

std::string replacedAll(std::string_view text, std::string_view from, std::string_view to) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    if (text.substr(at).starts_with(from)) {
      out += to;
      at += from.size();
    } else {
      out += text[at++];
    }
  }
  return out;
}

std::string byteName(int byte) {
  std::array<char, 8> name{};
  std::snprintf(name.data(), name.size(), "<0x%02X>", static_cast<unsigned>(byte));
  return name.data();
}

}  // namespace

std::uint64_t pairKey(std::int64_t left, std::int64_t right) {
  return (static_cast<std::uint64_t>(left) << 32U) | static_cast<std::uint64_t>(right);
}

BpeTokenizer::BpeTokenizer(Vocabulary vocabulary) : vocabulary_(std::move(vocabulary)) {
  size_ = std::ssize(vocabulary_.bytes);
  for (const auto& [name, token] : vocabulary_.specials) {
    addSpecial(name, token);
    size_ = std::max(size_, token + 1);
  }
  vocabulary_.bytes.resize(static_cast<std::size_t>(size_));  // of numbers that no token has: none
  const auto named = [&](const std::string& name) -> std::optional<std::int64_t> {
    const auto found = specials().find(name);
    if (found == specials().end()) return std::nullopt;
    return found->second;
  };
  begin_ = named(vocabulary_.begin);
  end_ = named(vocabulary_.end);
}

std::optional<Merge> BpeTokenizer::mergeOf(std::int64_t left, std::int64_t right) const {
  if (!vocabulary_.merges.empty()) {
    const auto found = vocabulary_.merges.find(pairKey(left, right));
    if (found == vocabulary_.merges.end()) return std::nullopt;
    return found->second;
  }
  const auto found = vocabulary_.tokenOf.find(bytesOf(left) + bytesOf(right));
  if (found == vocabulary_.tokenOf.end()) return std::nullopt;
  return Merge{found->second, found->second};
}

const std::string& BpeTokenizer::bytesOf(std::int64_t token) const {
  return vocabulary_.bytes.at(static_cast<std::size_t>(token));
}

ByteLevelTokenizer::ByteLevelTokenizer(Vocabulary vocabulary, const std::string& file)
    : BpeTokenizer(std::move(vocabulary)) {
  for (int byte = 0; byte < 256; ++byte) {
    const auto found = this->vocabulary().tokenOf.find(std::string(1, static_cast<char>(byte)));
    if (found == this->vocabulary().tokenOf.end()) {
      throw FileError(file + " has no token for the byte " + std::to_string(byte) +
                      "; a byte-level vocabulary has all 256");
    }
    byteTokens_.push_back(found->second);
  }
}

std::int64_t ByteLevelTokenizer::byteCount(std::int64_t token) const {
  if (specialName(token) != nullptr || token < 0 || token >= std::ssize(vocabulary().bytes))
    return 0;
  return std::ssize(bytesOf(token));
}

void ByteLevelTokenizer::encodePiece(std::string_view piece, TokenIds& tokens) const {
  for (const std::string_view word : splitWords(piece)) {
    if (vocabulary().ignoresMerges) {
      const auto whole = vocabulary().tokenOf.find(std::string(word));
      if (whole != vocabulary().tokenOf.end()) {
        tokens.push_back(whole->second);
        continue;
      }
    }
    TokenIds symbols;
    for (const char letter : word)
      symbols.push_back(byteTokens_[static_cast<unsigned char>(letter)]);
    mergePairs(symbols,
               [this](std::int64_t left, std::int64_t right) { return mergeOf(left, right); });
    tokens.insert(tokens.end(), symbols.begin(), symbols.end());
  }
}

std::string ByteLevelTokenizer::decodeAll(std::span<const std::int64_t> tokens) const {
  std::string bytes;
  for (const std::int64_t token : tokens) {
    const std::string* name = specialName(token);
    bytes += name != nullptr ? *name : bytesOf(token);
  }
  return bytes;
}

CharacterTokenizer::CharacterTokenizer(Vocabulary vocabulary, const std::string& file)
    : BpeTokenizer(std::move(vocabulary)) {
  putsSpaceBefore_ = true;
  for (int byte = 0; byte < 256; ++byte) {
    const auto found = this->vocabulary().tokenOf.find(byteName(byte));
    if (found == this->vocabulary().tokenOf.end()) {
      throw FileError(file + " has no token " + byteName(byte) +
                      "; a vocabulary with byte fallback has one for each of 256 bytes");
    }
    byteTokens_.push_back(found->second);
    byteOf_[found->second] = static_cast<char>(byte);
  }
}

std::int64_t CharacterTokenizer::byteCount(std::int64_t token) const {
  if (specialName(token) != nullptr || token < 0 || token >= std::ssize(vocabulary().bytes))
    return 0;
  if (byteOf_.contains(token)) return 1;
  return std::ssize(replacedAll(bytesOf(token), kSpaceMark, " "));
}

void CharacterTokenizer::encodePiece(std::string_view piece, TokenIds& tokens) const {
  if (piece.empty()) return;
  const std::string marked = std::string(kSpaceMark) + replacedAll(piece, " ", kSpaceMark);
  TokenIds symbols;
  for (const CodePoint& point : codePoints(marked, "the text")) {
    const std::string letter = marked.substr(point.begin, point.size);
    const auto found = vocabulary().tokenOf.find(letter);
    if (found != vocabulary().tokenOf.end()) {
      symbols.push_back(found->second);
      continue;
    }
    for (const char byte : letter) symbols.push_back(byteTokens_[static_cast<unsigned char>(byte)]);
  }
  mergePairs(symbols,
             [this](std::int64_t left, std::int64_t right) { return mergeOf(left, right); });
  tokens.insert(tokens.end(), symbols.begin(), symbols.end());
}

std::string CharacterTokenizer::decodeAll(std::span<const std::int64_t> tokens) const {
  std::string text, bytes;
  // Bytes in a row are characters together or not at all.
  const auto endBytes = [&] {
    if (isUtf8(bytes)) {
      text += bytes;
    } else {
      for (std::size_t i = 0; i < bytes.size(); ++i) appendUtf8(text, 0xFFFD);
    }
    bytes.clear();
  };
  for (const std::int64_t token : tokens) {
    if (const auto byte = byteOf_.find(token); byte != byteOf_.end()) {
      bytes.push_back(byte->second);
      continue;
    }
    endBytes();
    const std::string* name = specialName(token);
    text += name != nullptr ? *name : replacedAll(bytesOf(token), kSpaceMark, " ");
  }
  endBytes();
  return text;
}

}  // namespace vitrine::text
