#include "core/base/cell_text.h"

#include "core/base/text.h"

namespace vitrine {

std::string plainText(const Json& value) {
  if (value.is_string()) return cleanUtf8(value.get_ref<const std::string&>());
  if (value.is_number_float()) return formatReal(value.get<double>());
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
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

}  // namespace vitrine
