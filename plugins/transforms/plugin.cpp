// The items of the transforms.
#include "plugins/transforms/transforms.h"

static void registerItems(vitrine::Registry& registry) {
  vitrine::transforms::registerAll(registry);
}
