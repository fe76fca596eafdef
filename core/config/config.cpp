#include "core/config/config.h"

#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/config/lookup.h"

namespace vitrine {

const Json* valueAt(const Json& tables, std::string_view dottedKey) {
  const Json* level = &tables;
  while (level->is_object()) {
    const std::size_t dot = dottedKey.find('.');
    const auto found = level->find(std::string(dottedKey.substr(0, dot)));
    if (found == level->end()) return nullptr;
    level = &*found;
    if (dot == std::string_view::npos) return level;
    dottedKey.remove_prefix(dot + 1);
  }
  return nullptr;
}

std::string textAt(const Json& tables, std::string_view dottedKey) {
  const Json* value = valueAt(tables, dottedKey);
  return value != nullptr && value->is_string() ? value->get<std::string>() : std::string();
}

namespace {

const Json& present(const Json& values, const std::string& key) {
  const Json* value = valueAt(values, key);
  if (!value) throw ConfigError("the configuration has no key '" + key + "'");
  return *value;
}

[[noreturn]] void wrongType(const std::string& key, const char* wanted, const Json& value) {
  throw ConfigError("'" + key + "' is " + shorten(value.dump(), 60) + ", not " + wanted);
}

std::int64_t integerOf(const Json& value, const std::string& key) {
  if (!value.is_number_integer()) wrongType(key, "an integer", value);
  return value.get<std::int64_t>();
}

double realOf(const Json& value, const std::string& key) {
  if (!value.is_number()) wrongType(key, "a number", value);
  return value.get<double>();
}

template <class Element>
auto listOf(const Json& values, const std::string& key, Element element) {
  std::vector<decltype(element(values, key))> list;
  const Json& value = present(values, key);
  if (value.is_null()) return list;
  if (!value.is_array()) wrongType(key, "a list", value);
  for (const Json& item : value) list.push_back(element(item, key));
  return list;
}

void flattenInto(const Json& values, const std::string& prefix,
                 std::vector<std::pair<std::string, Json>>& leaves) {
  for (const auto& [name, value] : values.items()) {
    if (value.is_object()) {
      flattenInto(value, prefix + name + ".", leaves);
    } else {
      leaves.emplace_back(prefix + name, value);
    }
  }
}

}  // namespace

bool Config::has(const std::string& key) const {
  const Json* value = valueAt(values_, key);
  return value && !value->is_null();
}

bool Config::flag(const std::string& key) const {
  const Json& value = present(values_, key);
  if (!value.is_boolean()) wrongType(key, "true or false", value);
  return value.get<bool>();
}

std::int64_t Config::integer(const std::string& key) const {
  return integerOf(present(values_, key), key);
}

double Config::real(const std::string& key) const { return realOf(present(values_, key), key); }

std::string Config::text(const std::string& key) const {
  const Json& value = present(values_, key);
  if (value.is_null()) return "";
  if (!value.is_string()) wrongType(key, "text", value);
  return value.get<std::string>();
}

std::array<std::int64_t, 2> Config::size(const std::string& key) const {
  const Json& value = present(values_, key);
  if (value.is_number_integer()) return {value.get<std::int64_t>(), value.get<std::int64_t>()};
  if (!value.is_array() || value.size() != 2) wrongType(key, "a size [height, width]", value);
  return {integerOf(value[0], key), integerOf(value[1], key)};
}

std::vector<double> Config::reals(const std::string& key) const {
  return listOf(values_, key, realOf);
}

std::vector<std::int64_t> Config::integers(const std::string& key) const {
  return listOf(values_, key, integerOf);
}

std::vector<std::string> Config::texts(const std::string& key) const {
  return listOf(values_, key, [](const Json& value, const std::string& of) {
    if (!value.is_string()) wrongType(of, "a list of texts", value);
    return value.get<std::string>();
  });
}

Config Config::table(const std::string& key) const {
  const Json* value = valueAt(values_, key);
  if (!value || value->is_null()) return {};
  if (!value->is_object()) wrongType(key, "a table", *value);
  return Config(*value);
}

std::optional<std::int64_t> Config::maybeInteger(const std::string& key) const {
  const Json* value = valueAt(values_, key);
  if (!value || value->is_null()) return std::nullopt;
  return integerOf(*value, key);
}

std::optional<double> Config::maybeReal(const std::string& key) const {
  const Json* value = valueAt(values_, key);
  if (!value || value->is_null()) return std::nullopt;
  return realOf(*value, key);
}

Json Config::at(const std::string& key) const {
  const Json* value = valueAt(values_, key);
  return value ? *value : Json();
}

std::vector<std::pair<std::string, Json>> flatten(const Json& values) {
  std::vector<std::pair<std::string, Json>> leaves;
  if (values.is_object()) flattenInto(values, "", leaves);
  return leaves;
}

std::vector<Difference> difference(const Json& before, const Json& after) {
  const auto old = flatten(before);
  const auto now = flatten(after);
  std::unordered_map<std::string, const Json*> nowByKey;
  for (const auto& [key, value] : now) nowByKey.emplace(key, &value);
  std::unordered_set<std::string> oldKeys;
  std::vector<Difference> differences;
  for (const auto& [key, value] : old) {
    oldKeys.insert(key);
    const auto found = nowByKey.find(key);
    const Json other = found == nowByKey.end() ? Json() : *found->second;
    if (value != other) differences.push_back({key, value, other});
  }
  for (const auto& [key, value] : now) {
    if (!oldKeys.contains(key) && !value.is_null()) differences.push_back({key, nullptr, value});
  }
  return differences;
}

}  // namespace vitrine
