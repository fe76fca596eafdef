// The layers that a listener reads.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace vitrine {

/// Whether `layer` is one of those to look at: of AttentionTap::layers and the like, where no
/// number means all.
[[nodiscard]] inline bool isChosenLayer(const std::vector<std::int64_t>& layers,
                                        std::int64_t layer) {
  return layers.empty() || std::find(layers.begin(), layers.end(), layer) != layers.end();
}

}  // namespace vitrine
