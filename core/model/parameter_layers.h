// Layers of parameters, by their names.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/engine_export.h"

namespace vitrine {

/// Layers of a network by the names of its parameters, in the order of the network. Layer 0 is
/// before the first block, block N is layer N + 1, and one more layer follows the last block. A
/// block is "blocks.N." or "layers.N." anywhere in a name. A parameter between two blocks (a change
/// of resolution) belongs to the one that follows.
/// \returns  as many as there are names; all 0 without blocks
[[nodiscard]] VITRINE_ENGINE_EXPORT std::vector<std::int64_t> layersOf(
    const std::vector<std::string>& names);

}  // namespace vitrine
