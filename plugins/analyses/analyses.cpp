// The analyses of this folder, as the plugin file adds them.
#include "plugins/analyses/analyses.h"

namespace vitrine::analyses {

void registerAll(Registry& registry) {
  registry.add(makeAttentionRank());
  registry.add(makeCalibration());
  registry.add(makeAttentionMap());
  registry.add(makeFirstLayer());
  registry.add(makeReceptiveField());
  registry.add(makeResolutionSweep());
  registry.add(makeShapeBias());
  registry.add(makeTextLogits());
  registry.add(makeTokenPositions());
  registry.add(makeTokenProbe());
  registry.add(makeWeightHistograms());
}

}  // namespace vitrine::analyses
