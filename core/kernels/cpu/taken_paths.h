// Paths of layers' calls on the CPU, as a run records them.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "core/engine_export.h"

namespace vitrine::cpu {

enum class CallKind {
  Block,      ///< a pre-norm block: whole, or layer by layer
  Attention,  ///< attention outside such a block: of this room, or of the library
};

/// One call; `isOurs`: this room took it. Safe from any thread.
VITRINE_ENGINE_EXPORT void recordCall(CallKind kind, bool isOurs);

/// {"block", "fused"}, {"attention", "short 2, library 1"}: the kinds that were called in this
/// process since the last clearTakenPaths(), and which way.
[[nodiscard]] VITRINE_ENGINE_EXPORT std::vector<std::pair<std::string, std::string>> takenPaths();
VITRINE_ENGINE_EXPORT void clearTakenPaths();

}  // namespace vitrine::cpu
