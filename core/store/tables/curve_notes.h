// The notes on the curves of a run as one text, in which form they are edited, sent and kept.
// A list by metric, step and text:
// [{"metric": "train/loss", "step": 300, "text": "warm-up ends"}].
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "core/store/types.h"

namespace vitrine::store {

inline constexpr std::size_t kMostCurveNotes = 1000;   ///< of a run
inline constexpr std::size_t kLongestCurveNote = 200;  ///< characters

/// \throws ConfigError  too many; one without a metric, without words, or too long
VITRINE_STORE_EXPORT void checkCurveNotes(const std::vector<CurveNoteRow>& notes);
/// Equal texts for equal notes, whatever their order; of two that are the same, one.
[[nodiscard]] VITRINE_STORE_EXPORT std::string curveNotesText(std::vector<CurveNoteRow> notes);
/// \throws ConfigError  no such list, or refused by checkCurveNotes()
[[nodiscard]] VITRINE_STORE_EXPORT std::vector<CurveNoteRow> curveNotesFromText(
    const std::string& text);

}  // namespace vitrine::store
