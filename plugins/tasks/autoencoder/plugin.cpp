// The items of training and looking at autoencoders.
#include "plugins/tasks/autoencoder/autoencoder_task.h"
#include "plugins/tasks/autoencoder/reconstruction.h"

static void registerItems(vitrine::Registry& registry) {
  registry.add(std::make_unique<vitrine::autoencoder_task::AutoencoderTask>());
  registry.add(std::make_unique<vitrine::autoencoder_task::Reconstruction>());
}
