#include "core/base/cell_text.h"

#include <algorithm>

#include "core/base/text.h"

namespace vitrine {

std::string dumpJson(const Json& value, int indent) {
  return value.dump(indent, ' ', false, Json::error_handler_t::replace);
}

std::string plainText(const Json& value) {
  if (value.is_string()) return cleanUtf8(value.get_ref<const std::string&>());
  if (value.is_number_float()) return formatReal(value.get<double>());
  return dumpJson(value);
}

std::string csvCell(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
  std::string cell = "\"";
  for (const char c : text) {
    if (c == '"') cell += '"';
    cell += c;
  }
  return cell + '"';
}

std::string shellWord(std::string_view text) {
  const bool isPlain = !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("_-./=:+,@%").find(c) != std::string_view::npos;
  });
  if (isPlain) return std::string(text);
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

std::string fileSlug(std::string_view title) {
  constexpr std::size_t kLongest = 60;
  std::string name;
  for (const char c : title) {
    if (name.size() == kLongest) break;
    const bool isUpper = c >= 'A' && c <= 'Z';
    if (isUpper || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9')) {
      name += isUpper ? static_cast<char>(c - 'A' + 'a') : c;
    } else if (!name.empty() && name.back() != '-') {
      name += '-';
    }
  }
  if (name.ends_with('-')) name.pop_back();
  return name.empty() ? "experiment" : name;
}

}  // namespace vitrine
