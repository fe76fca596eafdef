// Tokens of the texts of a data set, shared by all threads that read it.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/text/tokenizer.h"

namespace vitrine::transforms {

/// A tokenizer with the tokens of the long texts that it has met. A document is encoded once,
/// however many samples take a part of it. Thread-safe.
class TextEncoder {
 public:
  explicit TextEncoder(std::shared_ptr<const text::Tokenizer> tokenizer)
      : tokenizer_(std::move(tokenizer)) {}
  [[nodiscard]] const text::Tokenizer& tokenizer() const { return *tokenizer_; }

  /// \param where  for messages: "'text' of sample 12"
  /// \throws ConfigError  the text is not UTF-8
  [[nodiscard]] std::shared_ptr<const text::TokenIds> encode(const std::string& text,
                                                             const std::string& where);

 private:
  struct CachedText {
    std::mutex mutex;
    std::optional<text::TokenIds> tokens{};
  };

  /// Null where the cached texts would be too many bytes.
  std::shared_ptr<CachedText> cachedOf(const std::string& text);

  std::shared_ptr<const text::Tokenizer> tokenizer_;
  std::mutex mutex_;
  std::unordered_map<std::string, std::shared_ptr<CachedText>> cached_;
  std::size_t bytes_ = 0;
};

/// The encoders in use: one for all threads and streams that have a tokenizer at the same time.
/// Thread-safe.
class TextEncoders {
 public:
  /// \param tokenizer, words  as text::openTokenizer() takes them, which may throw
  [[nodiscard]] std::shared_ptr<TextEncoder> of(const std::string& tokenizer,
                                                const std::vector<std::string>& words);

 private:
  std::mutex mutex_;
  std::map<std::pair<std::string, std::vector<std::string>>, std::weak_ptr<TextEncoder>> encoders_;
};

}  // namespace vitrine::transforms
