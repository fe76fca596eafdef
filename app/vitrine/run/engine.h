// The plugins of this process, loaded once per verb.
#pragma once

#include "core/config/experiment.h"
#include "core/plugin/loader.h"
#include "core/plugin/registry.h"

namespace vitrine::app {

enum class Refused { Warn, Silent };

struct Engine {
  /// Loads every plugin of the search path; each refused one is a warning on stderr.
  explicit Engine(Refused refused = Refused::Warn);
  Registry registry;
  LoadedPlugins plugins;
  std::int64_t residentBytes = 0;  ///< of the process once they were loaded; estimates begin there
};

/// Plans an experiment file; "-" reads standard input.
[[nodiscard]] Plan planFile(const std::string& file, const Catalog& catalog,
                            const std::vector<std::string>& overrides);

/// Says every problem on stderr. \throws ConfigError  there are some: counts them
void requireValid(const std::vector<Problem>& problems);

/// `values` of one item with `overrides` laid over them, checked and complete.
/// \param prefix  of the keys in problems
/// \throws ConfigError  after saying every problem
[[nodiscard]] Json resolveOrThrow(const Schema& schema, const std::string& prefix, Json values,
                                  const std::vector<Override>& overrides = {});

/// The start of a stored or planned run, as its row keeps it.
[[nodiscard]] Json initToJson(const InitSource& init);
/// \throws ConfigError  not written by initToJson
[[nodiscard]] InitSource initFromJson(const Json& json);

}  // namespace vitrine::app
