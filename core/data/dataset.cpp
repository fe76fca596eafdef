#include "core/data/dataset.h"

#include "core/base/error.h"

namespace vitrine {

Dataset::~Dataset() = default;

std::string toString(Split split) {
  switch (split) {
    case Split::Train:
      return "train";
    case Split::Validation:
      return "validation";
    case Split::Test:
      return "test";
  }
  return "";
}

Split splitFromString(const std::string& name) {
  for (const Split split : {Split::Train, Split::Validation, Split::Test}) {
    if (toString(split) == name) return split;
  }
  throw ConfigError("there is no split '" + name + "'; use train, validation or test");
}

}  // namespace vitrine
