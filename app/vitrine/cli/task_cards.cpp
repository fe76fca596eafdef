#include "app/vitrine/cli/task_cards.h"

#include "core/base/read_json.h"
#include "core/jobs/launcher.h"

namespace vitrine::app {

store::TaskCards describedTaskCards() {
  try {
    return store::taskCards(catalogFromJson(readJson(jobs::describeJson()).at("catalog")));
  } catch (const std::exception&) {
    return {};  // tables of runs do without the titles of a task's own metrics
  }
}

}  // namespace vitrine::app
