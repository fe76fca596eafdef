// The items of the analyses that look into any model with the capability they need.
#include "plugins/analyses/analyses.h"

static void registerItems(vitrine::Registry& registry) {
  registry.add(vitrine::analyses::makeAttentionRank());
  registry.add(vitrine::analyses::makeCalibration());
  registry.add(vitrine::analyses::makeAttentionMap());
  registry.add(vitrine::analyses::makeFirstLayer());
  registry.add(vitrine::analyses::makeReceptiveField());
  registry.add(vitrine::analyses::makeResolutionSweep());
  registry.add(vitrine::analyses::makeShapeBias());
  registry.add(vitrine::analyses::makeTextLogits());
  registry.add(vitrine::analyses::makeTokenPositions());
  registry.add(vitrine::analyses::makeTokenProbe());
  registry.add(vitrine::analyses::makeWeightHistograms());
}
