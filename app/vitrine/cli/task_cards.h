// Cards of the tasks, for verbs that load no plugin.
#pragma once

#include "core/store/run_card.h"

namespace vitrine::app {

/// From `vitrine describe --json`, which is kept until a plugin changes. None where that fails: the
/// recorded metrics say then what sums a run up, and `vitrine describe` says what is wrong.
[[nodiscard]] store::TaskCards describedTaskCards();

}  // namespace vitrine::app
