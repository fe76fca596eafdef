#include "app/vitrine/run/item_values.h"

#include "app/vitrine/run/engine.h"
#include "core/base/error.h"
#include "core/base/read_json.h"
#include "core/base/text.h"

namespace vitrine::app {

namespace {

Json valueFrom(const std::string& text) {
  Json value = readJson(text);
  return value.is_discarded() ? Json(text) : value;
}

}  // namespace

void layOverrides(Json& values, const std::vector<std::string>& overrides) {
  for (const std::string& text : overrides) {
    const Override parsed = parseOverride(text);
    Json* place = &values;
    for (const std::string& part : split(parsed.key, '.')) {
      if (!place->is_object()) *place = Json::object();
      place = &(*place)[part];
    }
    *place = valueFrom(parsed.value);
  }
}

Json resolveOrThrow(const Schema& schema, const std::string& prefix, Json values) {
  std::vector<Problem> problems = resolveItem(schema, prefix, values);
  for (Problem& problem : problems) {
    if (problem.file.empty()) problem.file = "command line";
  }
  requireValid(problems);
  return values;
}

}  // namespace vitrine::app
