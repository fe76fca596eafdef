#include "app/vitrine/engine_module.h"

#include <cstdio>

namespace {

struct EngineVerb {
  const char* name;
  vitrine::app::VerbFunction run;
};

constexpr EngineVerb kEngineVerbs[] = {
    {"plugins", vitrine::app::runPlugins},   {"describe", vitrine::app::runDescribe},
    {"check", vitrine::app::runCheck},       {"train", vitrine::app::runTrain},
    {"enqueue", vitrine::app::runEnqueue},   {"run", vitrine::app::runRun},
    {"resume", vitrine::app::runResume},     {"analyse", vitrine::app::runAnalyse},
    {"evaluate", vitrine::app::runEvaluate}, {"sample", vitrine::app::runSample},
    {"infer", vitrine::app::runInfer},       {"demo", vitrine::app::runDemo},
    {"compute", vitrine::app::runCompute},
};

}  // namespace

extern "C" __attribute__((visibility("default"))) int vitrineEngineVerb(
    const std::string& name, const vitrine::app::Arguments& arguments) {
  for (const EngineVerb& verb : kEngineVerbs) {
    if (name == verb.name) return vitrine::app::guarded(verb.run, arguments);
  }
  std::fprintf(stderr,
               "error: the engine module does not know the verb '%s'; install Vitrine again\n",
               name.c_str());
  return 1;
}
