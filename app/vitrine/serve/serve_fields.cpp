#include "app/vitrine/serve/serve_fields.h"

namespace vitrine::app {

std::string textOf(const Json& request, const char* key) {
  const auto found = request.find(key);
  if (found == request.end() || !found->is_string())
    throw BadRequest(std::string("'") + key + "' has to be a text");
  return found->get<std::string>();
}

std::int64_t integerOf(const Json& request, const char* key,
                       std::optional<std::int64_t> otherwise) {
  const auto found = request.find(key);
  if (found == request.end() && otherwise) return *otherwise;
  if (found == request.end() || !found->is_number_integer())
    throw BadRequest(std::string("'") + key + "' has to be an integer");
  return found->get<std::int64_t>();
}

bool flagOf(const Json& request, const char* key) {
  const auto found = request.find(key);
  if (found == request.end()) return false;
  if (!found->is_boolean()) throw BadRequest(std::string("'") + key + "' has to be true or false");
  return found->get<bool>();
}

std::vector<std::string> textsOf(const Json& request, const char* key) {
  std::vector<std::string> texts;
  const auto found = request.find(key);
  if (found == request.end()) return texts;
  const BadRequest wrong(std::string("'") + key + "' has to be a list of texts");
  if (!found->is_array()) throw wrong;
  for (const Json& one : *found) {
    if (!one.is_string()) throw wrong;
    texts.push_back(one.get<std::string>());
  }
  return texts;
}

std::string keyOf(const Json& id) {
  if (id.is_string()) return "t" + id.get<std::string>();
  return "i" + (id.is_number_integer() ? std::to_string(id.get<std::int64_t>()) : std::string());
}

std::size_t frameBytes(const Json& value) {
  constexpr std::size_t kHead = 9;  // of one value, at most
  std::size_t bytes = kHead;
  if (value.is_string()) bytes += value.get_ref<const std::string&>().size();
  if (value.is_binary()) bytes += value.get_binary().size();
  if (value.is_array()) {
    for (const Json& one : value) bytes += frameBytes(one);
  } else if (value.is_object()) {
    for (const auto& [key, one] : value.items()) bytes += kHead + key.size() + frameBytes(one);
  }
  return bytes;
}

}  // namespace vitrine::app
