// Sequences of tokens with exact targets, drawn as they are read.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "core/base/random.h"
#include "core/plugin/registry.h"

namespace vitrine::text {

/// Rule of a sequence. Targets are the next tokens where the sequence determines them.
enum class SequenceKind {
  Copy,       ///< symbols, a separator, the same symbols
  Reverse,    ///< symbols, a separator, the symbols backwards
  Recall,     ///< pairs of a key and a value, a separator, keys again, each with its value
  Induction,  ///< symbols in which a mark comes twice, the second time at the end: what followed?
  Listops,    ///< nested MAX, MIN, MED and SM (sum modulo 10) of digits (Nangia and Bowman 2018)
  Dyck,       ///< nested brackets: which one closes? Only where its partner lies 4 or more before
  Sums,       ///< terms, a separator, their sum modulo the number of symbols
};
inline constexpr std::int64_t kNoTarget = -1;

/// Numbers of the tokens of a kind: 0 fills the rest of a row, 1 is the separator or mark.
struct SequenceRules {
  SequenceKind kind = SequenceKind::Copy;
  std::int64_t length = 64;   ///< tokens of a row
  std::int64_t symbols = 16;  ///< that a sequence is made of
  /// One more than the largest token.
  [[nodiscard]] std::int64_t vocabulary() const noexcept;
};

/// Fills one row.
/// \param tokens, targets  [length]; a target is the token that follows, or kNoTarget
void drawSequence(const SequenceRules& rules, SampleNumbers& numbers,
                  std::span<std::int64_t> tokens, std::span<std::int64_t> targets);

class SequencesSource final : public DatasetSource {
 public:
  [[nodiscard]] ItemCard card() const override;
  [[nodiscard]] std::shared_ptr<const Dataset> open(const Config& config) const override;
};

}  // namespace vitrine::text
