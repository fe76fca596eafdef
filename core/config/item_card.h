// The first fields of an item's card.
#pragma once

#include <string>
#include <utility>

#include "core/config/catalog.h"

namespace vitrine {

/// A card with these words; what the item offers, needs and is set by is for its caller to add.
[[nodiscard]] inline ItemCard itemCard(ItemKind kind, std::string id, std::string title,
                                       std::string doc = {}) {
  ItemCard card;
  card.kind = kind;
  card.id = std::move(id);
  card.title = std::move(title);
  card.doc = std::move(doc);
  return card;
}

}  // namespace vitrine
