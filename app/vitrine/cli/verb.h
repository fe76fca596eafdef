// The verbs of the command line, as cli/verbs.def lists them. Those that need LibTorch are in a
// module next to the program, which is loaded when one of them is called.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/base/error.h"

namespace vitrine::app {

using Arguments = std::vector<std::string>;  ///< what follows the verb

/// Returns the exit code; throws vitrine::Error and its children.
using VerbFunction = int (*)(const Arguments& arguments);

#define VERB(name, part, visibility, summary) int name##Verb(const Arguments& arguments);
#include "app/vitrine/cli/verbs.def"
#undef VERB

struct Verb {
  const char* name;
  const char* summary;  ///< one line, no full stop
  bool isListed;        ///< in `vitrine --help`
};

/// Every verb, in the order in which `vitrine --help` lists them.
[[nodiscard]] std::span<const Verb> allVerbs();

/// Runs one verb; reports what it throws.
[[nodiscard]] int guarded(VerbFunction run, const Arguments& arguments);
/// Writes the message to stderr and, with --json and unless there is a result, as an object to
/// stdout. Returns the exit code.
[[nodiscard]] int reportError(const std::string& message, ExitCode code,
                              const Arguments& arguments);

}  // namespace vitrine::app
