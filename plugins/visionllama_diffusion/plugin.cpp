// The items of DiT-LLaMA and SiT-LLaMA.
#include "plugins/visionllama_diffusion/rotary_diffusion.h"

static void registerItems(vitrine::Registry& registry) {
  registry.add(std::make_unique<vitrine::visionllama_diffusion::DitLlamaArchitecture>());
  registry.add(std::make_unique<vitrine::visionllama_diffusion::SitLlamaArchitecture>());
}
