// An item of a plugin, as a catalog lists it.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "core/config/catalog.h"

namespace vitrine::ui {

inline ItemCard cardWith(ItemKind kind, const char* id, std::vector<std::string> offers,
                         std::vector<std::string> needs = {}) {
  ItemCard card;
  card.kind = kind;
  card.id = id;
  card.title = id;
  card.offers = std::move(offers);
  card.needs = std::move(needs);
  return card;
}

inline ItemCard withFields(ItemCard card, std::vector<Field> fields) {
  card.schema.fields = std::move(fields);
  return card;
}

}  // namespace vitrine::ui
