// The one JSON type of the project: objects keep the order in which their keys were written.
#pragma once

#include <nlohmann/json.hpp>

namespace vitrine {

using Json = nlohmann::ordered_json;

}  // namespace vitrine
