// Tokenizers that join pairs: of bytes within words, or of characters in the whole text.
#pragma once

#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/text/pair_merging.h"
#include "core/text/tokenizer.h"

namespace vitrine::text {

/// Content of a vocabulary file.
struct Vocabulary {
  std::vector<std::string> bytes;  ///< of each token; "" of one that has none
  std::unordered_map<std::string, std::int64_t> tokenOf;
  /// Token and rank by (left, right). Empty: the rank of a pair is its token.
  std::unordered_map<std::uint64_t, Merge> merges;
  std::vector<std::pair<std::string, std::int64_t>> specials;
  std::string begin, end;      ///< names of special tokens, or ""
  bool ignoresMerges = false;  ///< a word that is a token needs no merges
};
[[nodiscard]] std::uint64_t pairKey(std::int64_t left, std::int64_t right);

class BpeTokenizer : public Tokenizer {
 public:
  explicit BpeTokenizer(Vocabulary vocabulary);
  [[nodiscard]] std::int64_t vocabularySize() const override { return size_; }

 protected:
  [[nodiscard]] const Vocabulary& vocabulary() const { return vocabulary_; }
  [[nodiscard]] std::optional<Merge> mergeOf(std::int64_t left, std::int64_t right) const;
  [[nodiscard]] const std::string& bytesOf(std::int64_t token) const;

 private:
  Vocabulary vocabulary_;
  std::int64_t size_ = 0;
};

/// Bytes joined within words (word_split.h).
class ByteLevelTokenizer final : public BpeTokenizer {
 public:
  /// \throws FileError  one of the 256 bytes is not a token
  ByteLevelTokenizer(Vocabulary vocabulary, const std::string& file);
  [[nodiscard]] std::int64_t byteCount(std::int64_t token) const override;

 protected:
  void encodePiece(std::string_view piece, TokenIds& tokens) const override;
  [[nodiscard]] std::string decodeAll(std::span<const std::int64_t> tokens) const override;

 private:
  std::vector<std::int64_t> byteTokens_;
};

/// Characters joined in the whole text: spaces are U+2581, one stands before the text, and unknown
/// characters are the bytes of their UTF-8.
class CharacterTokenizer final : public BpeTokenizer {
 public:
  /// \param vocabulary  its `bytes` hold U+2581 for spaces and <0xNN> for bytes
  /// \throws FileError  one of the 256 bytes is not a token
  CharacterTokenizer(Vocabulary vocabulary, const std::string& file);
  [[nodiscard]] std::int64_t byteCount(std::int64_t token) const override;

 protected:
  void encodePiece(std::string_view piece, TokenIds& tokens) const override;
  [[nodiscard]] std::string decodeAll(std::span<const std::int64_t> tokens) const override;

 private:
  std::vector<std::int64_t> byteTokens_;
  std::unordered_map<std::int64_t, char> byteOf_;
};

}  // namespace vitrine::text
