// The transforms that come with the program, for tests of pipelines.
#pragma once

#include "core/plugin/registry.h"
#include "plugins/transforms/transforms.h"

namespace vitrine::test {

inline const Registry& transformRegistry() {
  static Registry registry;
  static const bool isFilled = (transforms::registerAll(registry), true);
  static_cast<void>(isFilled);
  return registry;
}

}  // namespace vitrine::test
