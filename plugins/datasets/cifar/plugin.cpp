// The items of CIFAR-10 and CIFAR-100.
#include "plugins/datasets/cifar/cifar_dataset.h"

static void registerItems(vitrine::Registry& registry) {
  registry.add(std::make_unique<vitrine::cifar::Cifar10Source>());
  registry.add(std::make_unique<vitrine::cifar::Cifar100Source>());
}
