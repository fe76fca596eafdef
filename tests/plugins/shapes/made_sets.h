// Opening the sets of this plugin and reading single samples of them.
#pragma once

#include <memory>
#include <string>

#include "plugins/datasets/shapes/generated_set.h"

namespace vitrine::shapes::test {

inline const Registry& registry() {
  static const std::unique_ptr<Registry> made = [] {
    auto all = std::make_unique<Registry>();
    registerAll(*all);
    return all;
  }();
  return *made;
}

inline std::shared_ptr<const Dataset> open(const std::string& id,
                                           const Json& changes = Json::object()) {
  const DatasetSource& source = registry().dataset(id);
  Json values = source.card().schema.defaults();
  values.update(changes);
  return source.open(Config(values));
}

inline Sample sampleOf(const Dataset& set, Split split, std::int64_t id) {
  Sample sample;
  sample.begin(id);
  set.read(split, id, sample);
  return sample;
}

}  // namespace vitrine::shapes::test
