#include "core/text/tokenizer.h"

#include <algorithm>
#include <utility>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/text/unicode.h"

namespace vitrine::text {

Tokenizer::~Tokenizer() = default;

void Tokenizer::addSpecial(const std::string& name, std::int64_t token) {
  specials_[name] = token;
  namesOf_[token] = name;
}

const std::string* Tokenizer::specialName(std::int64_t token) const {
  const auto found = namesOf_.find(token);
  return found == namesOf_.end() ? nullptr : &found->second;
}

void Tokenizer::requireToken(std::int64_t token) const {
  if (token >= 0 && token < vocabularySize()) return;
  throw ConfigError("token " + std::to_string(token) + " is outside the vocabulary of " +
                    std::to_string(vocabularySize()) +
                    "; the tokens are those of another tokenizer");
}

TokenIds Tokenizer::encode(std::string_view text, const std::string& where,
                           SpecialNames names) const {
  requireUtf8(text, where);
  TokenIds tokens;
  if (names == SpecialNames::AsText) {
    encodePiece(text, tokens);
    return tokens;
  }
  std::size_t begin = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::pair<const std::string, std::int64_t>* longest = nullptr;
    for (const auto& special : specials_) {
      const bool isHere = text.substr(at).starts_with(special.first);
      if (isHere && (longest == nullptr || special.first.size() > longest->first.size()))
        longest = &special;
    }
    if (longest == nullptr) {
      ++at;
      continue;
    }
    if (at > begin) encodePiece(text.substr(begin, at - begin), tokens);
    tokens.push_back(longest->second);
    begin = at += longest->first.size();
  }
  if (begin < text.size()) encodePiece(text.substr(begin), tokens);
  return tokens;
}

std::string Tokenizer::decode(std::span<const std::int64_t> tokens, ShowSpecials show,
                              TextPlace place) const {
  TokenIds shown;
  for (const std::int64_t token : tokens) {
    requireToken(token);
    if (show == ShowSpecials::Yes || specialName(token) == nullptr) shown.push_back(token);
  }
  std::string bytes = decodeAll(shown);
  if (putsSpaceBefore_ && place == TextPlace::Start && bytes.starts_with(' ')) bytes.erase(0, 1);
  return cleanUtf8(bytes);
}

ByteTokenizer::ByteTokenizer(std::vector<std::string> words) : words_(std::move(words)) {
  addSpecial("<bos>", kBegin);
  addSpecial("<eos>", kEnd);
  addSpecial("<boi>", kBeginImage);
  addSpecial("<eoi>", kEndImage);
  addSpecial("<pad>", kPadding);
  for (std::int64_t i = kPadding + 1; i < kSize; ++i)
    addSpecial("<spare_" + std::to_string(i - kPadding - 1) + ">", i);
  begin_ = kBegin;
  end_ = kEnd;
  for (const std::string& word : words_) {
    const auto token = kSize + std::ssize(tokenOf_);
    requireUtf8(word, "word " + std::to_string(token - kSize) + " of the tokenizer");
    if (word.empty() || !tokenOf_.emplace(word, token).second) {
      throw ConfigError("word " + std::to_string(token - kSize) + " of the tokenizer, '" + word +
                        "', is " + (word.empty() ? "empty" : "there twice") +
                        "; leave it out of words");
    }
    longest_ = std::max(longest_, word.size());
  }
}

std::int64_t ByteTokenizer::byteCount(std::int64_t token) const {
  if (token >= kSize && token < vocabularySize())
    return std::ssize(words_[static_cast<std::size_t>(token - kSize)]);
  return token >= 0 && token < 256 ? 1 : 0;
}

void ByteTokenizer::encodePiece(std::string_view piece, TokenIds& tokens) const {
  for (std::size_t at = 0; at < piece.size();) {
    std::size_t taken = std::min(longest_, piece.size() - at);
    auto word = tokenOf_.end();
    for (; taken > 0; --taken) {
      word = tokenOf_.find(piece.substr(at, taken));
      if (word != tokenOf_.end()) break;
    }
    if (taken > 0) {
      tokens.push_back(word->second);
      at += taken;
    } else {
      tokens.push_back(static_cast<unsigned char>(piece[at++]));
    }
  }
}

std::string ByteTokenizer::decodeAll(std::span<const std::int64_t> tokens) const {
  std::string bytes;
  for (const std::int64_t token : tokens) {
    if (const std::string* name = specialName(token))
      bytes += *name;
    else if (token >= kSize)
      bytes += words_[static_cast<std::size_t>(token - kSize)];
    else
      bytes.push_back(static_cast<char>(token));
  }
  return bytes;
}

}  // namespace vitrine::text
