// Vocabularies of SentencePiece: a protobuf of pieces with scores.
#include "core/text/sentence_pieces.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <string_view>
#include <vector>

#include "core/base/error.h"
#include "core/base/text.h"

namespace vitrine::text {

namespace {

constexpr std::size_t kLongestPiece = 4096;  ///< bytes: every way to cut a piece in two is tried

/// One field of a protobuf message.
struct Part {
  std::uint64_t number = 0;
  std::uint64_t value = 0;  ///< of integers, and of 32 and 64 bits as they lie there
  std::string_view bytes;   ///< of strings and messages
};

/// The fields of a message, one after the other.
class Message {
 public:
  Message(std::string_view bytes, const std::string& file) : rest_(bytes), file_(file) {}

  std::optional<Part> next() {
    if (rest_.empty()) return std::nullopt;
    const std::uint64_t key = integer();
    Part part{.number = key >> 3U};
    switch (key & 7U) {
      case 0:
        part.value = integer();
        break;
      case 1:
        part.value = fixed(8);
        break;
      case 2:
        part.bytes = taken(integer());
        break;
      case 5:
        part.value = fixed(4);
        break;
      default:
        refuse("has a field of a kind that is not read");
    }
    return part;
  }

 private:
  [[noreturn]] void refuse(const char* what) const {
    throw FileError(file_ + " " + what +
                    "; it is neither lines of base64 and rank nor a "
                    "SentencePiece model");
  }
  std::string_view taken(std::uint64_t count) {
    if (count > rest_.size()) refuse("ends within a field");
    const std::string_view part = rest_.substr(0, static_cast<std::size_t>(count));
    rest_.remove_prefix(part.size());
    return part;
  }
  std::uint64_t integer() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      const auto byte = static_cast<unsigned char>(taken(1).front());
      value |= static_cast<std::uint64_t>(byte & 0x7FU) << shift;
      if (byte < 0x80U) return value;
    }
    refuse("has a number of more than 64 bits");
  }
  std::uint64_t fixed(std::size_t bytes) {
    const std::string_view part = taken(bytes);
    std::uint64_t value = 0;
    for (std::size_t i = bytes; i-- > 0;) value = value << 8U | static_cast<unsigned char>(part[i]);
    return value;
  }

  std::string_view rest_;
  const std::string& file_;
};

enum class Kind : std::uint64_t { Normal = 1, Unknown, Control, UserDefined, Unused, Byte };

struct Piece {
  std::string text;
  float score = 0;
  Kind kind = Kind::Normal;
};

Piece readPiece(std::string_view bytes, const std::string& file) {
  Piece piece;
  Message message(bytes, file);
  while (const auto part = message.next()) {
    if (part->number == 1) piece.text = part->bytes;
    if (part->number == 2) {
      const auto bits = static_cast<std::uint32_t>(part->value);
      std::memcpy(&piece.score, &bits, sizeof bits);
    }
    if (part->number == 3) piece.kind = static_cast<Kind>(part->value);
  }
  return piece;
}

/// \throws FileError  pieces are not joined by pairs
void requirePairs(std::string_view bytes, const std::string& file) {
  constexpr std::uint64_t kPairs = 2;
  std::uint64_t kind = 1;
  Message message(bytes, file);
  while (const auto part = message.next()) {
    if (part->number == 3) kind = part->value;
  }
  if (kind != kPairs) {
    throw FileError(file + " is a SentencePiece model of kind " + std::to_string(kind) +
                    (kind == 1 ? " (unigram)" : "") +
                    ", and kind 2 (BPE) is read; use another "
                    "vocabulary");
  }
}

/// \throws FileError  texts are changed before they are cut
void requireNoChange(std::string_view bytes, const std::string& file) {
  std::string_view name = "identity";
  bool addsSpace = true, removesSpaces = true, marksSpaces = true;
  Message message(bytes, file);
  while (const auto part = message.next()) {
    if (part->number == 1) name = part->bytes;
    if (part->number == 3) addsSpace = part->value != 0;
    if (part->number == 4) removesSpaces = part->value != 0;
    if (part->number == 5) marksSpaces = part->value != 0;
  }
  if (name != "identity" || !addsSpace || removesSpaces || !marksSpaces) {
    throw FileError(file + " is a SentencePiece model that changes texts by '" +
                    cleanUtf8(std::string(name)) +
                    "'; only 'identity' with a space before each text and all spaces kept is read");
  }
}

}  // namespace

Vocabulary readSentencePieces(std::string_view content, const std::string& file) {
  std::vector<Piece> pieces;
  Message message(content, file);
  bool hasTrainer = false, hasNormalizer = false;
  while (const auto part = message.next()) {
    if (part->number == 1) pieces.push_back(readPiece(part->bytes, file));
    if (part->number == 2) {
      hasTrainer = true;
      requirePairs(part->bytes, file);
    }
    if (part->number == 3) {
      hasNormalizer = true;
      requireNoChange(part->bytes, file);
    }
  }
  if (pieces.empty() || !hasTrainer || !hasNormalizer) {
    throw FileError(file +
                    " is neither lines of base64 and rank nor a SentencePiece model: it has " +
                    (pieces.empty() ? "no pieces" : "no rule for how texts are cut"));
  }

  Vocabulary vocabulary;
  std::vector<std::size_t> normal;
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    const Piece& piece = pieces[i];
    const auto token = static_cast<std::int64_t>(i);
    if (!isUtf8(piece.text))
      throw FileError(file + ": piece " + std::to_string(i) + " is not UTF-8");
    if (piece.text.size() > kLongestPiece) {
      throw FileError(file + ": piece " + std::to_string(i) + " has more than " +
                      std::to_string(kLongestPiece) + " bytes");
    }
    if (piece.kind == Kind::UserDefined) {
      throw FileError(file + ": piece " + std::to_string(i) + ", '" + piece.text +
                      "', is user-defined, which is not offered");
    }
    vocabulary.bytes.push_back(piece.text);
    if (piece.kind == Kind::Control || piece.kind == Kind::Unknown) {
      vocabulary.specials.emplace_back(piece.text, token);
    } else if (piece.kind != Kind::Unused &&
               !vocabulary.tokenOf.emplace(piece.text, token).second) {
      throw FileError(file + ": '" + piece.text + "' is there twice");
    }
    if (piece.kind == Kind::Normal) normal.push_back(i);
  }
  vocabulary.begin = "<s>";
  vocabulary.end = "</s>";

  // Two symbols are joined where both together are a piece, the one of the best score first.
  std::stable_sort(normal.begin(), normal.end(),
                   [&](std::size_t a, std::size_t b) { return pieces[a].score > pieces[b].score; });
  const auto tokenOf = [&](std::string_view text) -> std::optional<std::int64_t> {
    const auto found = vocabulary.tokenOf.find(std::string(text));
    if (found == vocabulary.tokenOf.end()) return std::nullopt;
    if (pieces[static_cast<std::size_t>(found->second)].kind != Kind::Normal) return std::nullopt;
    return found->second;
  };
  std::int64_t rank = -1;
  std::optional<float> score;
  for (const std::size_t i : normal) {
    const std::string_view text = pieces[i].text;
    if (score != pieces[i].score) ++rank;  // of equal scores the leftmost pair is joined first
    score = pieces[i].score;
    for (std::size_t cut = 1; cut < text.size(); ++cut) {
      const auto left = tokenOf(text.substr(0, cut)), right = tokenOf(text.substr(cut));
      if (left && right) {
        vocabulary.merges.emplace(pairKey(*left, *right),
                                  Merge{rank, static_cast<std::int64_t>(i)});
      }
    }
  }
  return vocabulary;
}

}  // namespace vitrine::text
