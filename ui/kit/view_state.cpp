#include "ui/kit/view_state.h"

#include <cstdint>

namespace vitrine::ui {

int stateInteger(const Json& state, const char* key, int least, int most, int otherwise) {
  const auto found = state.find(key);
  if (found == state.end() || !found->is_number_integer()) return otherwise;
  const auto value = found->get<std::int64_t>();
  return value >= least && value <= most ? static_cast<int>(value) : otherwise;
}

std::string stateText(const Json& state, const char* key) {
  const auto found = state.find(key);
  return found != state.end() && found->is_string() ? found->get<std::string>() : std::string();
}

}  // namespace vitrine::ui
