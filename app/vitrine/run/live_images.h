// The images that a run shows to windows that watch it train.
#pragma once

#include "app/vitrine/run/engine.h"
#include "core/train/live_look.h"

namespace vitrine::app {

/// A few images in a few steps, by the sampler that the run prefers and from the same noise each
/// time. A run whose sampler takes a prompt draws the captions of a few samples that it is probed
/// with. Empty where no sampler fits the run or the one that does shows nothing on its way.
[[nodiscard]] train::LiveImages liveImagesOf(const Registry& registry, TaskSession& session);

}  // namespace vitrine::app
