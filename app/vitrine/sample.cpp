#include "app/vitrine/verb.h"
namespace vitrine::app {
int runSample(const Arguments&) { return 1; }
}  // namespace vitrine::app
