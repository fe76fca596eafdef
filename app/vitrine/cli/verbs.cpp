#include "app/vitrine/cli/verb.h"

namespace vitrine::app {

#define IS_listed true
#define IS_hidden false
#define VERB(name, part, visibility, summary) {#name, summary, IS_##visibility},

std::span<const Verb> allVerbs() {
  static constexpr Verb kVerbs[] = {
#include "app/vitrine/cli/verbs.def"
  };
  return kVerbs;
}

#undef VERB
#undef IS_hidden
#undef IS_listed

}  // namespace vitrine::app
