// Folders of this user, as the XDG Base Directory Specification places them.
#pragma once

#include <filesystem>

#include "core/foundation_export.h"

namespace vitrine {

enum class UserFolder {
  Data,    ///< $XDG_DATA_HOME/vitrine, else ~/.local/share/vitrine
  Config,  ///< $XDG_CONFIG_HOME/vitrine, else ~/.config/vitrine
  Cache,   ///< $XDG_CACHE_HOME/vitrine, else ~/.cache/vitrine
  State,   ///< $XDG_STATE_HOME/vitrine, else ~/.local/state/vitrine
};

/// Need not exist. \returns  "" where neither its variable nor HOME is an absolute path
[[nodiscard]] VITRINE_FOUNDATION_EXPORT std::filesystem::path userFolder(UserFolder which);

}  // namespace vitrine
