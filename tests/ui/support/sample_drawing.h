// A run of the sample database whose model draws. All numbers and images are made up.
#pragma once

#include <cstdint>

#include "core/base/json.h"
#include "core/store/run_store.h"

namespace vitrine::ui {

/// Adds a finished run with checkpoints, averaged weights and images of every class at two steps.
/// One image has its way, with the attention of a patch at each step. \returns  its id
std::int64_t addSampleDrawing(store::RunStore& store, const Json& environment);

}  // namespace vitrine::ui
