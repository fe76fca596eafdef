// Words and colours of the parts of a step, without Dear ImGui. Private to ui/live.
#pragma once

#include <QColor>
#include <QString>

#include "ui/live/live_model.h"

namespace vitrine::ui::scene {

/// Colour of a part of a step: muted, and no run's.
[[nodiscard]] QColor partColor(StepPart part);
[[nodiscard]] QString partName(StepPart part);
/// Among the medians of steps: says which value is a mean.
[[nodiscard]] QString medianName(StepPart part);
/// "1.4 ms", "2.31 s".
[[nodiscard]] QString duration(double seconds);
/// "1,200 images/s", of the steps that were seen.
[[nodiscard]] QString throughputText(const LiveModel& model);
/// "+0.15", with a minus sign below zero.
[[nodiscard]] QString signedNumber(double value);
/// "mask factor" of "model/mask_alpha".
[[nodiscard]] QString shortName(const std::string& name);
/// Why a run that trains has no attention to show, and where to look instead.
[[nodiscard]] QString noAttention();

}  // namespace vitrine::ui::scene
