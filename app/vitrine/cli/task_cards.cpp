#include "app/vitrine/cli/task_cards.h"

#include "core/base/log.h"
#include "core/base/read_json.h"
#include "core/jobs/launcher.h"

namespace vitrine::app {

store::TaskCards describedTaskCards() {
  try {
    return store::taskCards(catalogFromJson(readJson(jobs::describeJson()).at("catalog")));
  } catch (const std::exception& error) {
    log::debug(std::string("the tasks of the plugins are not known: ") + error.what());
    return {};
  }
}

}  // namespace vitrine::app
