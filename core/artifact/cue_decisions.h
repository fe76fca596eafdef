// Layout of a classifier's decisions on images with the shape of one class and the texture of
// another, as resources/docs/database.md describes it.
#pragma once

namespace vitrine::artifact_kind {

/// float64 [classes, 3]: images of the shape, those called by their shape, by their texture.
inline constexpr const char* kCueDecisions = "cue_decisions";

}  // namespace vitrine::artifact_kind
