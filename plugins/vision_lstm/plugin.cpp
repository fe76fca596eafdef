// The items of Vision-LSTM: the architecture, and analyses of its memories.
#include "plugins/vision_lstm/analyses.h"
#include "plugins/vision_lstm/vision_lstm.h"

static void registerItems(vitrine::Registry& registry) {
  registry.add(std::make_unique<vitrine::vision_lstm::VisionLstmArchitecture>());
  registry.add(vitrine::vision_lstm::makeMemoryLength());
  registry.add(vitrine::vision_lstm::makeMemoryWeights());
  registry.add(vitrine::vision_lstm::makeMemoryRank());
  registry.add(vitrine::vision_lstm::makeTokenCost());
}
