// What a run of the sample database knows of its inside: checkpoints, spectra, attention, answers
// and images. All numbers are made up.
#pragma once

#include <cstdint>

#include "core/store/run_store.h"

namespace vitrine::ui {

/// \param segment  of the run, still open \param index  another number, other values
/// \param last  step of the newest checkpoint
void addSampleArtifacts(store::RunStore& store, std::int64_t run, std::int64_t segment, int index,
                        std::int64_t last);

}  // namespace vitrine::ui
