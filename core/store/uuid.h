// Random identifiers.
#pragma once

#include <string>

namespace vitrine {

/// A version 4 UUID: "2c1f8a0e-....".
[[nodiscard]] std::string newUuid();

}  // namespace vitrine
