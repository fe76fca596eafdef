#include "core/base/user_folders.h"

#include <array>
#include <cstdlib>

namespace vitrine {

namespace {

struct Place {
  const char *variable, *belowHome;
};
constexpr std::array<Place, 4> kPlaces{{{"XDG_DATA_HOME", ".local/share"},
                                        {"XDG_CONFIG_HOME", ".config"},
                                        {"XDG_CACHE_HOME", ".cache"},
                                        {"XDG_STATE_HOME", ".local/state"}}};

std::filesystem::path absoluteFrom(const char* variable) {
  const char* value = std::getenv(variable);
  return value != nullptr && value[0] == '/' ? std::filesystem::path(value)
                                             : std::filesystem::path();
}

}  // namespace

std::filesystem::path userFolder(UserFolder which) {
  const Place& place = kPlaces[static_cast<std::size_t>(which)];
  if (const auto folder = absoluteFrom(place.variable); !folder.empty()) return folder / "vitrine";
  const auto home = absoluteFrom("HOME");
  return home.empty() ? home : home / place.belowHome / "vitrine";
}

}  // namespace vitrine
