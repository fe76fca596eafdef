// Layers of parameters, by their names.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/engine_export.h"

namespace vitrine {

/// Layers of a network by the names of its parameters, in the order of the network: 0 before the
/// first block, 1 + the number of a block in it, and one more behind the last. Blocks are what
/// "blocks.N." or "layers.N." stands for in a name, wherever it stands; between two of them (a
/// change of resolution) a parameter is of the one that follows.
/// \returns  as many as there are names; all 0 without blocks
[[nodiscard]] VITRINE_ENGINE_EXPORT std::vector<std::int64_t> layersOf(
    const std::vector<std::string>& names);

}  // namespace vitrine
