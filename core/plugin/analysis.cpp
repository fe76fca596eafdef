#include "core/plugin/analysis.h"

#include "core/base/error.h"
#include "core/base/joined.h"

namespace vitrine {

Results::~Results() = default;
void Results::progress(std::int64_t, std::int64_t) {}
bool Results::isCancelled() { return false; }

EvaluationListener::~EvaluationListener() = default;

const at::Tensor& EvaluationBatch::output(const std::string& name) const {
  if (const auto found = outputs.find(name); found != outputs.end()) return found->second;
  const std::string known = joined(outputs, [](const auto& each) { return each.first; });
  throw ConfigError("the evaluation has no output '" + name + "'; it has " +
                    (known.empty() ? "none" : known));
}

void Analysis::requireStartable(const Config& /*config*/, const Task& /*task*/) const {}
std::vector<std::string> Analysis::outputs() const { return {}; }
std::unique_ptr<EvaluationListener> Analysis::listen(const Config&, const DatasetInfo&) const {
  throw PluginError("analysis '" + card().id + "' is not a listener");
}
ProbeSamples Analysis::probeSamples(const Config&) const { return {}; }
std::function<Analysis::Findings()> Analysis::probe(const Config&, ProbeContext&) const {
  throw PluginError("analysis '" + card().id + "' is not a probe");
}

}  // namespace vitrine
