// The items of iLLaMA.
#include "plugins/illama/illama.h"

static void registerItems(vitrine::Registry& registry) {
  registry.add(std::make_unique<vitrine::illama::IllamaArchitecture>());
}
