// The items of texts and images.
#include "plugins/tasks/text_image/text_image.h"

static void registerItems(vitrine::Registry& registry) {
  registry.add(std::make_unique<vitrine::text_image::TextImageTask>());
  registry.add(std::make_unique<vitrine::text_image::TextImageSampler>());
}
