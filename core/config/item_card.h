// The first fields of an item's card.
#pragma once

#include <string>
#include <utility>

#include "core/config/catalog.h"

namespace vitrine {

/// A card with these words; what the item offers, needs and is set by is for its caller to add.
[[nodiscard]] inline ItemCard itemCard(ItemKind kind, std::string id, std::string title,
                                       std::string doc = {}) {
  return {.kind = kind, .id = std::move(id), .title = std::move(title), .doc = std::move(doc)};
}

}  // namespace vitrine
