// The items of the generated sets.
#include "plugins/datasets/shapes/generated_set.h"

static void registerItems(vitrine::Registry& registry) { vitrine::shapes::registerAll(registry); }
