// The items of the autoencoders.
#include "plugins/autoencoder/autoencoder_kl.h"
#include "plugins/autoencoder/taesd.h"

static void registerItems(vitrine::Registry& registry) {
  registry.add(std::make_unique<vitrine::autoencoder::KlArchitecture>());
  registry.add(std::make_unique<vitrine::autoencoder::TaesdArchitecture>());
}
