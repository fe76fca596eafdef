// vitrine tag: short words to find a run by.
#include "app/vitrine/cli/open_store.h"
#include "app/vitrine/cli/output.h"

namespace vitrine::app {

int tagVerb(const Arguments& arguments) {
  CommandLine line("tag", {"vitrine tag 3 baseline paper", "vitrine tag 3"});
  std::int64_t id = 0;
  std::vector<std::string> tags;
  line.app().add_option("id", id, "the run")->required()->check(runNumberProblem)->type_name("ID");
  line.app()
      .add_option("tags", tags, "its tags from now on; none removes them")
      ->check([](const std::string& tag) {
        const bool isTag = tag.find_first_not_of(" \t\r\n,") != std::string::npos;
        return isTag ? ""
                     : "'" + tag + "' has no word; give a tag with one, or no tag to remove all";
      })
      ->type_name("TAG");
  line.parse(arguments);
  store::RunStore store = openStore(line, Missing::Refuse);
  store.setTags(store.run(id).id, tags);
  if (line.wantsJson()) print(Json::object({{"id", id}, {"tags", tags}}));
  return 0;
}

}  // namespace vitrine::app
