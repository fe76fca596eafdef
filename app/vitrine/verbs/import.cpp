// vitrine import: runs of an exported file or of TensorBoard into the database.
#include "app/vitrine/cli/open_store.h"
#include "app/vitrine/cli/output.h"
#include "core/base/log.h"
#include "core/store/exchange/exchange.h"

namespace vitrine::app {

int importVerb(const Arguments& arguments) {
  CommandLine line("import", {"vitrine import roadmap.vitrine",
                              "vitrine import logs/ --experiment \"from TensorBoard\""});
  std::string file, experiment;
  bool isAgain = false;
  line.app()
      .add_option("file", file,
                  "a .vitrine file of `vitrine export`, a TensorBoard event file, or a folder of "
                  "such")
      ->required()
      ->type_name("FILE");
  line.app().add_flag("--again", isAgain,
                      "import runs that are here already once more, as copies with new UUIDs");
  line.app()
      .add_option("--experiment", experiment,
                  "title for runs of TensorBoard (default: the name of the folder)")
      ->type_name("TITLE");
  line.parse(arguments);
  // One that is there is checked as by every verb that writes; one that is not is made by
  // importRuns.
  if (std::filesystem::exists(databaseOf(line))) (void)openStore(line, Missing::Create);
  const store::ImportReport report = importRuns(
      databaseOf(line), file, isAgain ? store::Duplicates::Copy : store::Duplicates::Skip,
      experiment, [](const std::string& what) { log::info("importing " + what); });
  for (const std::string& note : report.notes) log::info(note);
  if (line.wantsJson()) {
    Json runs = Json::array();
    for (const store::ImportReport::Run& run : report.runs) {
      runs.push_back(
          {{"id", run.id}, {"uuid", run.uuid}, {"name", run.name}, {"imported", run.isNew}});
    }
    print(Json::object({{"file", file}, {"runs", std::move(runs)}, {"notes", report.notes}}));
    return 0;
  }
  Table table{{"id", "name", "imported"}, {}};
  for (const store::ImportReport::Run& run : report.runs)
    table.rows.push_back({run.id, run.name, run.isNew ? "yes" : "was here already"});
  if (table.rows.empty()) {
    print(std::string("there are no runs in it\n"));
  } else {
    print(table, Format::Text);
  }
  return 0;
}

}  // namespace vitrine::app
