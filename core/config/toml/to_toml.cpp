#include "core/config/toml/to_toml.h"

#include <algorithm>

#include "core/base/joined.h"
#include "core/base/text.h"

namespace vitrine {

namespace {

bool isBareKey(std::string_view key) {
  return !key.empty() && std::all_of(key.begin(), key.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-';
  });
}

}  // namespace

std::string tomlString(std::string_view text) {
  static constexpr char kDigits[] = "0123456789ABCDEF";
  std::string out = "\"";
  for (const char c : cleanUtf8(text)) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '\t') {
      out += "\\t";
    } else if (byte < 0x20 || byte == 0x7F) {
      out += "\\u00";
      out += kDigits[byte >> 4];
      out += kDigits[byte & 15];
    } else {
      out += c;
    }
  }
  return out + "\"";
}

std::string tomlKey(std::string_view key) {
  return isBareKey(key) ? std::string(key) : tomlString(key);
}

std::string tomlValue(const Json& value) {
  if (value.is_null()) return "\"none\"";
  if (value.is_string()) return tomlString(value.get_ref<const std::string&>());
  if (value.is_number_float()) {
    std::string text = formatReal(value.get<double>());
    if (text.find_first_of(".eni") == std::string::npos) text += ".0";
    return text;
  }
  if (value.is_array())
    return "[" + joined(value, [](const Json& item) { return tomlValue(item); }) + "]";
  if (value.is_object()) {
    std::vector<std::pair<std::string, Json>> entries;
    for (const auto& [key, item] : value.items()) entries.emplace_back(key, item);
    return tomlTable(entries);
  }
  return value.dump();
}

std::string tomlTable(const std::vector<std::pair<std::string, Json>>& entries) {
  if (entries.empty()) return "{}";
  const auto textOf = [](const auto& entry) {
    return tomlKey(entry.first) + " = " + tomlValue(entry.second);
  };
  return "{ " + joined(entries, textOf) + " }";
}

}  // namespace vitrine
