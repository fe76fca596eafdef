// Models whose attention an analysis can look at: those that read images.
#pragma once

#include <string>
#include <vector>

#include "core/config/catalog.h"

namespace vitrine {

/// Whether a model that offers these reads images; `hasTexts`: with texts next to them, too.
[[nodiscard]] inline bool readsImages(const std::vector<std::string>& offers,
                                      bool hasTexts = true) {
  return offersEvery(offers, {"image_classifier"}) || offersEvery(offers, {"token_encoder"}) ||
         (hasTexts && offersEvery(offers, {"text_image_model"}));
}

/// Whether `analysis` looks at attention on samples, and the model shows its attention in another
/// way alone: a generator does while it draws.
[[nodiscard]] inline bool lacksImages(const ItemCard& analysis, const ItemCard& architecture,
                                      const ItemCard* task) {
  const bool hasTexts = task != nullptr && offersEvery(task->needs, {"text_image_model"});
  return offersEvery(analysis.needs, {"attention_source"}) &&
         offersEvery(architecture.offers, {"attention_source"}) &&
         !readsImages(architecture.offers, hasTexts);
}

}  // namespace vitrine
