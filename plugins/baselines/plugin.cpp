// The items of the models that papers compare with.
#include "plugins/baselines/diffusion_transformers.h"

static void registerItems(vitrine::Registry& registry) {
  registry.add(std::make_unique<vitrine::baselines::DitArchitecture>());
  registry.add(std::make_unique<vitrine::baselines::SitArchitecture>());
}
