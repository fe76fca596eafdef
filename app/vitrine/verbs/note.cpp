// vitrine note: a sentence that stays with a run.
#include "app/vitrine/cli/open_store.h"
#include "app/vitrine/cli/output.h"

namespace vitrine::app {

int noteVerb(const Arguments& arguments) {
  CommandLine line("note", {"vitrine note 3 \"learning rate too high\"", "vitrine note 3 \"\""});
  std::int64_t id = 0;
  std::string text;
  line.app().add_option("id", id, "the run")->required()->check(runNumberProblem)->type_name("ID");
  line.app().add_option("text", text, "the note; \"\" removes it")->required()->type_name("TEXT");
  line.parse(arguments);
  store::RunStore store = openStore(line, Missing::Refuse);
  store.setNote(store.run(id).id, text);
  if (line.wantsJson()) print(Json::object({{"id", id}, {"note", text}}));
  return 0;
}

}  // namespace vitrine::app
