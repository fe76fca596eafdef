// Words of JSON that a database holds, whatever that is.
#pragma once

#include <string>

#include "core/base/cell_text.h"

namespace vitrine::app {

/// The value of `key`; "" where there is none or null, or `values` is not a table.
[[nodiscard]] inline std::string wordAt(const Json& values, const std::string& key) {
  if (!values.is_object()) return "";
  const auto found = values.find(key);
  return found == values.end() || found->is_null() ? "" : plainText(*found);
}

/// The table below `key`; an empty one where there is none.
[[nodiscard]] inline Json tableAt(const Json& values, const std::string& key) {
  if (!values.is_object()) return Json::object();
  const auto found = values.find(key);
  return found == values.end() || !found->is_object() ? Json::object() : *found;
}

}  // namespace vitrine::app
