// The items of image generation: the task and its samplers.
#include "plugins/tasks/generation/generation.h"
#include "plugins/tasks/generation/samplers.h"

static void registerItems(vitrine::Registry& registry) {
  registry.add(std::make_unique<vitrine::generation::GenerationTask>());
  vitrine::generation::addSamplers(registry);
}
