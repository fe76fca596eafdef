#include "app/vitrine/engine_module.h"

#include <cstdio>

namespace {

struct EngineVerb {
  const char* name;
  vitrine::app::VerbFunction run;  ///< nullptr: the program has it
};

#define RUN_program(name) nullptr
#define RUN_engine(name) vitrine::app::name##Verb
#define VERB(name, part, visibility, summary) {#name, RUN_##part(name)},
constexpr EngineVerb kVerbs[] = {
#include "app/vitrine/cli/verbs.def"
};
#undef VERB

}  // namespace

extern "C" __attribute__((visibility("default"))) int vitrineEngineVerb(
    const std::string& name, const vitrine::app::Arguments& arguments) {
  for (const EngineVerb& verb : kVerbs) {
    if (name == verb.name && verb.run != nullptr) return vitrine::app::guarded(verb.run, arguments);
  }
  std::fprintf(stderr,
               "error: the engine module does not know the verb '%s'; install Vitrine again\n",
               name.c_str());
  return 1;
}
