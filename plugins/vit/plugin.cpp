// The items of the Vision Transformer.
#include "plugins/vit/vit.h"

static void registerItems(vitrine::Registry& registry) {
  registry.add(std::make_unique<vitrine::vit::VitArchitecture>());
}
