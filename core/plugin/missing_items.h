// Items that are known but not loaded, since their plugin is disabled. A caller that asks for one
// gets the reason in one sentence, instead of "there is no such thing".
#pragma once

#include <map>
#include <string>

#include "core/engine_export.h"

namespace vitrine {

/// By "architecture/plain_mlp": id of the plugin. Set by the loader; as process-wide as loading is.
VITRINE_ENGINE_EXPORT void setMissingItems(std::map<std::string, std::string> pluginByItem);
/// Why "architecture/plain_mlp" is not there and what to do; "" where nothing is known of it.
[[nodiscard]] VITRINE_ENGINE_EXPORT std::string missingItemSentence(const std::string& item);

}  // namespace vitrine
