// An artifact's description in one line.
#pragma once

#include <QString>

#include "core/store/types.h"

namespace vitrine::ui {

/// "Attention rank · test · 4 samples · weights model · step 2,000 · 0.4 s"; leaves out what `meta`
/// does not say.
[[nodiscard]] QString metaLine(const store::ArtifactRow& row);

}  // namespace vitrine::ui
