#include "core/config/toml/problem.h"

#include <array>

namespace vitrine {

namespace {

/// In the order of the codes.
constexpr std::array kNames = {
    "bad_syntax",    "too_large",     "too_many",     "unknown_key",
    "unknown_item",  "disabled_item", "unknown_name", "missing",
    "empty",         "wrong_type",    "out_of_range", "unknown_choice",
    "refused_value", "bad_name",      "broken_rule",  "missing_capability",
    "conflict",      "duplicate",     "misplaced",    "wrong_order",
    "no_runs",       "item_refused"};
static_assert(kNames.size() == static_cast<std::size_t>(ProblemCode::ItemRefused) + 1);

}  // namespace

std::string toString(ProblemCode code) { return kNames[static_cast<std::size_t>(code)]; }

std::string Problem::sentence() const {
  std::string text;
  if (!file.empty()) text += file + ":";
  if (line > 0) text += std::to_string(line) + ":" + std::to_string(column) + ":";
  if (!text.empty()) text += " ";
  if (!key.empty()) text += key + ": ";
  text += message;
  if (!nearest.empty()) text += " (did you mean '" + nearest + "'?)";
  return text;
}

Json toJson(const Problem& problem) {
  Json json = Json::object();
  json["code"] = toString(problem.code);
  json["item"] = problem.item;
  json["file"] = problem.file;
  json["line"] = problem.line;
  json["column"] = problem.column;
  json["key"] = problem.key;
  json["message"] = problem.message;
  json["nearest"] = problem.nearest;
  json["sentence"] = problem.sentence();
  return json;
}

Json problemsJson(const std::vector<Problem>& problems) {
  Json list = Json::array();
  for (const Problem& problem : problems) list.push_back(toJson(problem));
  return list;
}

}  // namespace vitrine
