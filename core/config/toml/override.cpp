#include "core/config/toml/override.h"

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/config/toml/to_toml.h"
#include "core/config/toml/toml_reader.h"

namespace vitrine {

std::optional<Override> splitOverride(std::string_view text) {
  const auto trimmed = [](std::string_view part) {
    const std::size_t first = part.find_first_not_of(" \t\r");
    if (first == std::string_view::npos) return std::string();
    return std::string(part.substr(first, part.find_last_not_of(" \t\r") - first + 1));
  };
  const std::size_t at = text.find('=');
  if (at == std::string_view::npos) return std::nullopt;
  std::string key = trimmed(text.substr(0, at));
  if (key.size() > 2 && key.front() == '"' && key.back() == '"')
    key = key.substr(1, key.size() - 2);
  if (key.empty()) return std::nullopt;
  return Override{std::move(key), trimmed(text.substr(at + 1))};
}

std::string overrideValue(const Json& value) {
  if (value.is_null()) return "none";
  if (value.is_string()) {
    const std::string& text = value.get_ref<const std::string&>();
    Node read;
    const bool isBare = parseOverride("key=" + text).value == text &&
                        readTomlValue(text, read).message.empty() && read.value == value;
    if (isBare) return text;
  }
  return tomlValue(value);
}

Override parseOverride(const std::string& text) {
  if (auto override = splitOverride(text)) return *std::move(override);
  throw ConfigError("'" + shorten(cleanUtf8(text), 80) +
                    "' is not a KEY=VALUE; write for example train.epochs=5");
}

std::vector<Override> parseOverrides(const std::vector<std::string>& texts) {
  std::vector<Override> overrides;
  overrides.reserve(texts.size());
  for (const std::string& text : texts) overrides.push_back(parseOverride(text));
  return overrides;
}

bool readOverride(const Override& given, ProblemList& problems, std::vector<std::string>& path,
                  Node& node) {
  TomlRefusal refusal = readTomlValue(given.value, node);
  node.mark(Source::CommandLine);
  const std::string key = cleanUtf8(given.key);
  path = split(key, '.');
  if (path.size() > static_cast<std::size_t>(kDeepestTable))
    refusal = {0, 0, "has more than 64 parts"};
  if (refusal.message.empty()) return true;
  problems.add(&node, kAtValue, refusal.code, shorten(key, 80), refusal.message);
  return false;
}

void layOverrides(Json& tables, const std::vector<Override>& overrides) {
  ProblemList problems("");
  for (const Override& each : overrides) {
    std::vector<std::string> path;
    Node node;
    if (!readOverride(each, problems, path, node))
      throw ConfigError(problems.take().front().sentence());
    Json* place = &tables;
    for (const std::string& part : path) {
      if (!place->is_object()) *place = Json::object();
      place = &(*place)[part];
    }
    const bool isTyped = node.value.is_number() || node.value.is_boolean();
    const bool isNone = !node.isTable && node.value.is_null() && node.raw == "none";
    *place = isNone || (isTyped && place->is_string()) ? Json(node.raw) : jsonOf(node);
  }
}

}  // namespace vitrine
