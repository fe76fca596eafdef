// What stands in for the headless program when it is asked what there is.
#pragma once

#include <QByteArray>
#include <string>

#include "core/base/json.h"
#include "core/config/catalog.h"

namespace vitrine::ui {

/// A script that describes one architecture.
inline QByteArray describing(const std::string& id) {
  ItemCard card{.kind = ItemKind::Architecture, .id = id, .title = "Vision Transformer"};
  const std::string described =
      Json{{"catalog", toJson(Catalog{{card}})}, {"refused", Json::array()}}.dump();
  return "cat <<'JSON'\n" + QByteArray::fromStdString(described) + "\nJSON";
}

}  // namespace vitrine::ui
