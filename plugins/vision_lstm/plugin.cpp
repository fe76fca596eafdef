// The items of Vision-LSTM: the architecture, and analyses of its memories.
#include "plugins/vision_lstm/analyses.h"
#include "plugins/vision_lstm/vision_lstm.h"

static void registerItems(vitrine::Registry& registry) {
  registry.add(std::make_unique<vitrine::vision_lstm::VisionLstmArchitecture>());
  registry.add(std::make_unique<vitrine::vision_lstm::MemoryLength>());
  registry.add(std::make_unique<vitrine::vision_lstm::MemoryWeights>());
  registry.add(std::make_unique<vitrine::vision_lstm::MemoryRank>());
  registry.add(std::make_unique<vitrine::vision_lstm::TokenCost>());
}
