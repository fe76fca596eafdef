// compare --claims: the verdicts on a claims.toml.
#pragma once

#include <string>

#include "app/vitrine/cli/command_line.h"

namespace vitrine::app {

/// Prints a verdict for each claim, from the finished runs in the database; exit code 0 whatever
/// they are. \throws ConfigError  every problem of the file; FileError
int judgeClaims(const CommandLine& line, const std::string& file);

}  // namespace vitrine::app
