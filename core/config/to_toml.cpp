// A resolved configuration as a file that reads back the same.
#include "core/base/text.h"
#include "core/config/experiment.h"

namespace vitrine {

namespace {

bool isBareKey(const std::string& key) {
  if (key.empty()) return false;
  for (const char c : key) {
    const bool isWord = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    if (!isWord && c != '_' && c != '-') return false;
  }
  return true;
}

std::string quoted(const std::string& text) {
  static constexpr char kDigits[] = "0123456789ABCDEF";
  std::string out = "\"";
  for (const char c : text) {
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

std::string keyText(const std::string& key) { return isBareKey(key) ? key : quoted(key); }

std::string valueText(const Json& value) {
  if (value.is_null()) return "\"none\"";
  if (value.is_string()) return quoted(value.get<std::string>());
  if (value.is_number_float()) {
    std::string text = formatReal(value.get<double>());
    if (text.find_first_of(".eni") == std::string::npos) text += ".0";
    return text;
  }
  if (value.is_array()) {
    std::string text = "[";
    for (const Json& item : value) text += (text.size() > 1 ? ", " : "") + valueText(item);
    return text + "]";
  }
  if (value.is_object()) {
    if (value.empty()) return "{}";
    std::string text = "{ ";
    for (const auto& [key, item] : value.items()) {
      text += (text.size() > 2 ? ", " : "") + keyText(key) + " = " + valueText(item);
    }
    return text + " }";
  }
  return value.dump();
}

}  // namespace

std::string toToml(const Json& config) {
  std::string text;
  for (const auto& [section, values] : config.items()) {
    if (!values.is_object()) text += keyText(section) + " = " + valueText(values) + "\n";
  }
  for (const auto& [section, values] : config.items()) {
    if (!values.is_object()) continue;
    text += (text.empty() ? "[" : "\n[") + keyText(section) + "]\n";
    for (const auto& [key, value] : values.items())
      text += keyText(key) + " = " + valueText(value) + "\n";
  }
  return text;
}

}  // namespace vitrine
