// Text to tokens and back.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/engine_export.h"

namespace vitrine::text {

using TokenIds = std::vector<std::int64_t>;

/// Treatment of the names of special tokens inside a text.
enum class SpecialNames {
  AsText,      ///< they are letters like all others: text from outside cannot make special tokens
  Recognised,  ///< each becomes its token
};

/// Whether special tokens show in decoded text.
enum class ShowSpecials { No, Yes };

/// Where decoded tokens stand. Some vocabularies put a space before a text, which does not belong
/// to it; one before tokens inside a text does.
enum class TextPlace { Start, Inside };

/// Thread-safe: nothing changes after construction.
class VITRINE_ENGINE_EXPORT Tokenizer {
 public:
  virtual ~Tokenizer();

  /// One more than the largest token.
  [[nodiscard]] virtual std::int64_t vocabularySize() const = 0;
  /// The tokens of a text, without those that begin and end it.
  /// \param where  for messages: "sample 12"
  /// \throws ConfigError  the text is not UTF-8
  [[nodiscard]] TokenIds encode(std::string_view text, const std::string& where = "the text",
                                SpecialNames names = SpecialNames::AsText) const;
  /// Bytes that are not UTF-8 become U+FFFD. \throws ConfigError  a token that it does not have
  [[nodiscard]] std::string decode(std::span<const std::int64_t> tokens,
                                   ShowSpecials show = ShowSpecials::No,
                                   TextPlace place = TextPlace::Start) const;
  /// Bytes of text that a token stands for; 0 of a special token.
  [[nodiscard]] virtual std::int64_t byteCount(std::int64_t token) const = 0;

  /// Special tokens by name.
  [[nodiscard]] const std::map<std::string, std::int64_t>& specials() const { return specials_; }
  /// First and last token of a text; nothing where the vocabulary has no such token.
  [[nodiscard]] std::optional<std::int64_t> beginToken() const { return begin_; }
  [[nodiscard]] std::optional<std::int64_t> endToken() const { return end_; }

 protected:
  /// Tokens of a piece of text that holds no special token.
  virtual void encodePiece(std::string_view piece, TokenIds& tokens) const = 0;
  /// Bytes of tokens, special ones by their names.
  [[nodiscard]] virtual std::string decodeAll(std::span<const std::int64_t> tokens) const = 0;
  void addSpecial(const std::string& name, std::int64_t token);
  /// nullptr for a token that is not special.
  [[nodiscard]] const std::string* specialName(std::int64_t token) const;
  /// \throws ConfigError  the vocabulary has no such token
  void requireToken(std::int64_t token) const;
  std::optional<std::int64_t> begin_, end_;
  bool putsSpaceBefore_ = false;  ///< before each text that it encodes

 private:
  std::map<std::string, std::int64_t> specials_;
  std::map<std::int64_t, std::string> namesOf_;
};

/// Bytes of UTF-8, 0 to 255, then <bos> <eos> <boi> <eoi> <pad> and three spare tokens: 264. Words
/// follow, each one token: at every place of a text the longest that stands there is taken.
class VITRINE_ENGINE_EXPORT ByteTokenizer final : public Tokenizer {
 public:
  static constexpr std::int64_t kBegin = 256, kEnd = 257, kBeginImage = 258, kEndImage = 259,
                                kPadding = 260, kSize = 264;
  /// \param words  bytes of tokens from kSize on: " sneaker"
  /// \throws ConfigError  a word is empty, twice there, or not UTF-8
  explicit ByteTokenizer(std::vector<std::string> words = {});
  [[nodiscard]] std::int64_t vocabularySize() const override { return kSize + std::ssize(words_); }
  [[nodiscard]] std::int64_t byteCount(std::int64_t token) const override;

 protected:
  void encodePiece(std::string_view piece, TokenIds& tokens) const override;
  [[nodiscard]] std::string decodeAll(std::span<const std::int64_t> tokens) const override;

 private:
  std::vector<std::string> words_;
  std::map<std::string, std::int64_t, std::less<>> tokenOf_;
  std::size_t longest_ = 0;  ///< bytes
};

/// A tokenizer in lines of base64 and rank. Pairs whose bytes together have the lowest rank are
/// joined first; special tokens follow the last rank.
/// \throws FileError, NotFoundError
[[nodiscard]] VITRINE_ENGINE_EXPORT std::shared_ptr<const Tokenizer> readRankedTokenizer(
    const std::filesystem::path& file, const std::vector<std::string>& specials);

/// Opens `bytes`, or a file of one of these kinds:
///
/// - tokenizer.json: byte-level BPE, or BPE with byte fallback;
/// - tokenizer.model: lines of base64 and rank, with the 256 special tokens of public files;
/// - tokenizer.model: a SentencePiece model of pairs.
/// \param words       of `bytes`, see ByteTokenizer
/// \throws ConfigError  words for a file
/// \throws FileError    the file breaks its format, or has a part that is not offered: names it
/// \throws NotFoundError  there is no such file
[[nodiscard]] VITRINE_ENGINE_EXPORT std::shared_ptr<const Tokenizer> openTokenizer(
    const std::string& name, const std::vector<std::string>& words = {});

}  // namespace vitrine::text
