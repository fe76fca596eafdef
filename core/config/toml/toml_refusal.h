// Why a TOML text is not read.
#pragma once

#include <string>

#include "core/config/toml/problem.h"

namespace vitrine {

/// Why and where a text is refused.
struct TomlRefusal {
  int line = 0, column = 0;                  ///< 0 where it is the whole text
  std::string message{};                     ///< "" where it is not refused
  ProblemCode code = ProblemCode::TooLarge;  ///< BadSyntax: it is not TOML; TooLarge: a bound
};

}  // namespace vitrine
