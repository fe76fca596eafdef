// A data set that an experiment can name.
#pragma once

#include <memory>

#include "core/config/catalog.h"
#include "core/config/config.h"
#include "core/data/dataset.h"

namespace vitrine {

class VITRINE_ENGINE_EXPORT DatasetSource {
 public:
  virtual ~DatasetSource();
  [[nodiscard]] virtual ItemCard card() const = 0;
  /// \throws FileError  the files are not there: says where they were looked for and which package
  /// brings them
  [[nodiscard]] virtual std::shared_ptr<const Dataset> open(const Config& config) const = 0;
};

}  // namespace vitrine
