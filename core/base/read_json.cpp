#include "core/base/read_json.h"

namespace vitrine {

namespace {

/// Counts brackets outside of strings: up to the first error the parser sees the same ones.
bool isTooDeep(std::string_view text) {
  int depth = 0;
  bool isInString = false;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (isInString) {
      if (c == '\\') ++at;
      isInString = c != '"';
    } else if (c == '"') {
      isInString = true;
    } else if (c == '[' || c == '{') {
      if (++depth > kDeepestJson) return true;
    } else if (c == ']' || c == '}') {
      --depth;
    }
  }
  return false;
}

}  // namespace

Json readJson(std::string_view text) {
  if (isTooDeep(text)) return Json(Json::value_t::discarded);
  return Json::parse(text, nullptr, /*allow_exceptions=*/false);
}

bool isJson(std::string_view text) { return !isTooDeep(text) && Json::accept(text); }

}  // namespace vitrine
