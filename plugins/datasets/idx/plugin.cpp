// The items of the IDX data sets.
#include "plugins/datasets/idx/idx_dataset.h"

static void registerItems(vitrine::Registry& registry) {
  registry.add(std::make_unique<vitrine::idx::FashionMnistSource>());
  registry.add(std::make_unique<vitrine::idx::IdxFolderSource>());
}
