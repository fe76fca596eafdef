#include "plugins/visionllama_diffusion/rotary_diffusion.h"

#include "core/diffusion/diffusion_schema.h"

namespace vitrine::visionllama_diffusion {

namespace {

using diffusion::GuidedDenoiser;

ItemCard cardOf(const char* id, const char* title, const char* doc) {
  ItemCard card;
  card.kind = ItemKind::Architecture;
  card.id = id;
  card.title = title;
  card.paper =
      "Chu et al. 2024, \"VisionLLaMA: A Unified LLaMA Backbone for Vision Tasks\", "
      "arXiv:2403.00522";
  card.doc = doc;
  card.offers = {Denoiser::kId, GuidedDenoiser::kId, AttentionSource::kId, TensorProgram::kId};
  card.schema = diffusion::diffusionSchema(diffusion::BlockStyle::Rotary, id);
  return card;
}

std::shared_ptr<Model> buildWith(const Config& config, GuidedDenoiser::Time time,
                                 std::uint64_t seed) {
  return std::make_shared<diffusion::DiffusionTransformer>(
      diffusion::diffusionOptions(config, time), seed);
}

}  // namespace

ItemCard DitLlamaArchitecture::card() const {
  return cardOf("dit_llama", "DiT-LLaMA",
                "DiT with SwiGLU and rotary positions instead of GELU and an added table");
}
std::shared_ptr<Model> DitLlamaArchitecture::build(const Config& config, std::uint64_t seed) const {
  return buildWith(config, GuidedDenoiser::Time::Step, seed);
}
std::vector<WeightSign> DitLlamaArchitecture::weightSigns() const {
  return {{"a DiT-LLaMA or SiT-LLaMA (SwiGLU blocks)", {"adaLN_modulation", "mlp.c_fc1."}}};
}

ItemCard SitLlamaArchitecture::card() const {
  return cardOf("sit_llama", "SiT-LLaMA",
                "SiT with SwiGLU and rotary positions instead of GELU and an added table");
}
std::shared_ptr<Model> SitLlamaArchitecture::build(const Config& config, std::uint64_t seed) const {
  return buildWith(config, GuidedDenoiser::Time::Flow, seed);
}

}  // namespace vitrine::visionllama_diffusion
