#include "core/store/script_runs.h"

#include "core/base/text.h"

namespace vitrine::store {

std::optional<std::string> scriptOf(RunReader& store, std::int64_t run) {
  const Json environment = store.environment(run);
  if (!environment.is_object()) return {};
  const auto script = environment.find(kScriptKey);
  if (script == environment.end() || !script->is_string()) return {};
  return script->get<std::string>();
}

std::string whyNotStarted(std::int64_t run, const std::string& script) {
  constexpr std::size_t kMost = 200;
  return nameOf(run) + " was logged by a script, which Vitrine cannot start; start it again" +
         (script.empty() ? std::string() : ": " + shorten(script, kMost)) + " (with resume=" +
         std::to_string(run) + " it continues this run)";
}

}  // namespace vitrine::store
