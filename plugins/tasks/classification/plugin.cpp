// The items of image classification.
#include "plugins/tasks/classification/classification.h"

static void registerItems(vitrine::Registry& registry) {
  registry.add(std::make_unique<vitrine::classification::ClassificationTask>());
}
