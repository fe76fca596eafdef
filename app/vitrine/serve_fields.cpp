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

}  // namespace vitrine::app
