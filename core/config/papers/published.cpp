#include "core/config/papers/published.h"

#include <cmath>

#include "core/base/cell_text.h"
#include "core/config/toml/toml_reader.h"

namespace vitrine {

namespace {

PublishedResult readResult(const Node& table, ProblemList& problems) {
  PublishedResult result;
  bool hasValue = false;
  for (const auto& [key, node] : table.children) {
    const Json& value = node.value;
    if (key == "value") {
      hasValue = value.is_number() && std::isfinite(value.get<double>());
      if (hasValue) result.value = value.get<double>();
      if (!hasValue) {
        problems.add(&node, kAtValue, Code::WrongType, "result.value", "must be a number");
        hasValue = true;
      }
    } else if (key == "metric") {
      result.metric = plainText(value);
    } else if (key == "table" || key == "figure") {
      result.place = plainText(value);
    } else if (!node.isTable && node.items.empty()) {
      result.conditions.emplace_back(key, plainText(value));
    }
  }
  if (!hasValue) problems.add(&table, kAtValue, Code::Missing, "result.value", "is missing");
  if (result.metric.empty())
    problems.add(&table, kAtValue, Code::Missing, "result.metric", "is missing");
  return result;
}

}  // namespace

std::string PublishedResult::condition(const std::string& key) const {
  for (const auto& [name, text] : conditions) {
    if (name == key) return text;
  }
  return "";
}

PublishedNumbers readPublished(const std::string& text, const std::string& fileName,
                               std::vector<Problem>& problems) {
  ProblemList list(fileName);
  PublishedNumbers numbers;
  const Node document = readToml(text, list);
  if (const Node* paper = document.find("paper"); paper != nullptr && paper->value.is_string())
    numbers.paper = paper->value.get<std::string>();
  if (const Node* results = document.find("result")) {
    for (const Node& item : results->items) {
      if (item.isTable) numbers.results.push_back(readResult(item, list));
    }
  }
  if (numbers.results.empty() && list.isEmpty())
    list.add(&document, kAtValue, Code::Missing, "result", "there are no [[result]] entries");
  problems = list.take();
  return numbers;
}

}  // namespace vitrine
