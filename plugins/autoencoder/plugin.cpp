// The items of the autoencoders.
#include "plugins/autoencoder/architectures.h"

static void registerItems(vitrine::Registry& registry) {
  registry.add(std::make_unique<vitrine::autoencoder::KlArchitecture>());
  registry.add(std::make_unique<vitrine::autoencoder::TaesdArchitecture>());
}
