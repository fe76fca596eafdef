// The items of Llama and LlamaFusion.
#include "plugins/llamafusion/architectures.h"

static void registerItems(vitrine::Registry& registry) {
  registry.add(std::make_unique<vitrine::llamafusion::LlamaArchitecture>());
  registry.add(std::make_unique<vitrine::llamafusion::LlamaFusionArchitecture>());
}
