// The items of VisionLLaMA.
#include "plugins/visionllama/architectures.h"

static void registerItems(vitrine::Registry& registry) {
  registry.add(std::make_unique<vitrine::visionllama::PlainArchitecture>());
  registry.add(std::make_unique<vitrine::visionllama::PyramidArchitecture>());
  registry.add(std::make_unique<vitrine::visionllama::DensePyramidArchitecture>());
  registry.add(std::make_unique<vitrine::visionllama::VitDetArchitecture>());
}
