#include "app/vitrine/serve_fields.h"

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
