// Numbers and names of blocks as the architecture diff writes them. Internal to ui/plugins.
#pragma once

#include <QString>
#include <cstdint>
#include <optional>

#include "core/base/json.h"
#include "ui/plugins/block_diff.h"

namespace vitrine::ui {

enum BlockColumn {
  PartOfModel,
  OperatorA,
  OperatorB,
  ParametersA,
  ParametersB,
  ParametersDelta,
  FlopsA,
  FlopsB,
  FlopsDelta,
  BlockColumns
};

/// "+1,200", "−1,200", "0".
[[nodiscard]] QString signedCount(std::int64_t value);
/// Millions, with as many decimals as a small model needs.
[[nodiscard]] QString megaText(double flops);
[[nodiscard]] QString signedMega(double flops);
/// "position embedding" of "position_embedding".
[[nodiscard]] QString partName(const QString& kind);
/// What computes it; an en dash where one side has no such block.
[[nodiscard]] QString whatText(const std::optional<ModelBlock>& block);
/// A value of a configuration: n for [n, n].
[[nodiscard]] QString keyText(const Json& value);

}  // namespace vitrine::ui
