// Vocabularies of SentencePiece (Kudo & Richardson 2018, arXiv:1808.06226): a protobuf of pieces
// with scores.
#pragma once

#include <string>
#include <string_view>

#include "core/text/bpe_tokenizer.h"

namespace vitrine::text {

/// A vocabulary for CharacterTokenizer. Pairs are joined by score, the best first.
/// \param file  for messages
/// \throws FileError  it is not such a protobuf, or is not a BPE. Also where it changes texts
///                    before it cuts them, or has pieces of a kind that is not offered
[[nodiscard]] Vocabulary readSentencePieces(std::string_view content, const std::string& file);

}  // namespace vitrine::text
