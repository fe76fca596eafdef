#include "../../support/paired/paired.h"
#include "signed_steps.h"

static void registerItems(vitrine::Registry& registry) {
  paired::addPairedItems(registry);
  registry.add(std::make_unique<outside::SignedSteps>());
}
