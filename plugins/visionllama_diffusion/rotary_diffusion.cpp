#include "plugins/visionllama_diffusion/rotary_diffusion.h"

#include "core/diffusion/diffusion_schema.h"

namespace vitrine::visionllama_diffusion {

namespace {

using Time = diffusion::GuidedDenoiser::Time;

ItemCard cardOf(const char* id, const char* title, const char* doc) {
  ItemCard card = diffusion::diffusionCard(diffusion::BlockStyle::Rotary, id, title);
  card.paper =
      "Chu et al. 2024, \"VisionLLaMA: A Unified LLaMA Backbone for Vision Tasks\", "
      "arXiv:2403.00522";
  card.doc = doc;
  return card;
}

}  // namespace

ItemCard DitLlamaArchitecture::card() const {
  return cardOf("dit_llama", "DiT-LLaMA",
                "DiT with SwiGLU and rotary positions instead of GELU and an added table");
}
std::shared_ptr<Model> DitLlamaArchitecture::build(const Config& config, std::uint64_t seed) const {
  return diffusion::makeDiffusionTransformer(config, Time::Step, seed);
}
std::vector<WeightSign> DitLlamaArchitecture::weightSigns() const {
  return {{"a DiT-LLaMA or SiT-LLaMA (SwiGLU blocks)", {"adaLN_modulation", "mlp.c_fc1."}}};
}

ItemCard SitLlamaArchitecture::card() const {
  return cardOf("sit_llama", "SiT-LLaMA",
                "SiT with SwiGLU and rotary positions instead of GELU and an added table");
}
std::shared_ptr<Model> SitLlamaArchitecture::build(const Config& config, std::uint64_t seed) const {
  return diffusion::makeDiffusionTransformer(config, Time::Flow, seed);
}

void registerAll(Registry& registry) {
  registry.add(std::make_unique<DitLlamaArchitecture>());
  registry.add(std::make_unique<SitLlamaArchitecture>());
}

}  // namespace vitrine::visionllama_diffusion
