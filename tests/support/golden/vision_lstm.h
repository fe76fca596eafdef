// Reference cases of Vision-LSTM that hold no network: the cell by itself, operators of its blocks,
// and tables of orders, parameters and multiply-adds.
#pragma once

#include <optional>
#include <vector>

#include "tests/support/golden/compare.h"

namespace vitrine::testing {

/// A cell or an operator of a block.
[[nodiscard]] bool isVisionLstmRule(const GoldenCase& golden);
/// What our code makes of the case; of a cell, one pass for each of its forms.
/// \pre isVisionLstmRule(). \throws Unmapped  it has an option that none of them has
[[nodiscard]] std::vector<Tensors> runVisionLstmRule(const GoldenCase& golden);

/// A cell in float64: h and the exact gradients as pairs of tokens and in chunks of 1, 16, 64 and
/// all tokens against those token by token.
[[nodiscard]] std::vector<Compared> compareCellForms(const GoldenCase& golden);

/// The comparisons of a case that is a table in JSON beside case.json; nothing for other folders.
[[nodiscard]] std::optional<std::vector<Compared>> compareVisionLstmTable(
    const std::filesystem::path& folder);

}  // namespace vitrine::testing
