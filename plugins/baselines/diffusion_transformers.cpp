#include "plugins/baselines/diffusion_transformers.h"

#include "core/diffusion/diffusion_schema.h"

namespace vitrine::baselines {

using diffusion::BlockStyle;
using Time = diffusion::GuidedDenoiser::Time;

ItemCard DitArchitecture::card() const {
  ItemCard card = diffusion::diffusionCard(BlockStyle::Additive, "dit", "DiT");
  card.paper =
      "Peebles & Xie 2022, \"Scalable Diffusion Models with Transformers\", arXiv:2212.09748";
  card.doc = "A denoising transformer with adaLN-Zero blocks that predicts noise and its variance";
  return card;
}
std::shared_ptr<Model> DitArchitecture::build(const Config& config, std::uint64_t seed) const {
  return diffusion::makeDiffusionTransformer(config, Time::Step, seed);
}
std::vector<WeightSign> DitArchitecture::weightSigns() const {
  return {{"a DiT or SiT (GELU blocks)", {"adaLN_modulation", "mlp.fc1."}}};
}

ItemCard SitArchitecture::card() const {
  ItemCard card = diffusion::diffusionCard(BlockStyle::Additive, "sit", "SiT");
  card.paper =
      "Ma et al. 2024, \"SiT: Exploring Flow and Diffusion-based Generative Models with Scalable "
      "Interpolant Transformers\", arXiv:2401.08740";
  card.doc = "The same transformer, trained along a path from noise to data";
  return card;
}
std::shared_ptr<Model> SitArchitecture::build(const Config& config, std::uint64_t seed) const {
  return diffusion::makeDiffusionTransformer(config, Time::Flow, seed);
}

void registerAll(Registry& registry) {
  registry.add(std::make_unique<DitArchitecture>());
  registry.add(std::make_unique<SitArchitecture>());
}

}  // namespace vitrine::baselines
