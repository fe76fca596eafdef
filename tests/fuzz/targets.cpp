#include "tests/fuzz/targets.h"

#include <array>

namespace vitrine::fuzz {

std::span<const Target> targets() {
  static constexpr std::array kTargets{
      Target{"safetensors", runSafetensors, 4096, true},
      Target{"safetensors_index", runSafetensorsIndex, 4096},
      Target{"idx", runIdx, 4096},
      Target{"idx_gzip", runIdxGzip, 4096},
      Target{"cifar", runCifar, 8192},
      Target{"image", runImage, 4096},
      Target{"event_file", runEventFile, 8192},
      Target{"sample_lists", runSampleLists, 4096},
      Target{"experiment", runExperiment, 4096},
      Target{"claims", runClaims, 4096},
      Target{"catalog", runCatalog, 8192},
      Target{"frame", runFrame, 4096},
  };
  return kTargets;
}

}  // namespace vitrine::fuzz
