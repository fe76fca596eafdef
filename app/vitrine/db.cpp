// vitrine db: the database itself.
#include "app/vitrine/open_store.h"
#include "app/vitrine/output.h"
#include "core/base/error.h"
#include "core/base/log.h"
#include "core/config/config.h"

namespace vitrine::app {

namespace {

int check(const CommandLine& line) {
  const std::vector<std::string> problems = openStore(line, Missing::Refuse).check();
  if (line.wantsJson()) {
    print(Json::object({{"database", databaseOf(line).string()},
                        {"ok", problems.empty()},
                        {"problems", problems}}));
  } else if (problems.empty()) {
    print(databaseOf(line).string() + ": ok\n");
  } else {
    for (const std::string& problem : problems) print(problem + "\n");
  }
  return static_cast<int>(problems.empty() ? ExitCode::Done : ExitCode::Failed);
}

int info(const CommandLine& line) {
  RunStore store = openStore(line, Missing::Create);
  Json facts = Json::object();
  facts["database"] = databaseOf(line).string();
  facts["files"] = filesFolder(databaseOf(line)).string();
  facts["runs"] = store.runs().size();
  facts.update(store.info());
  if (line.wantsJson()) {
    print(facts);
    return 0;
  }
  Table table{{"fact", "value"}, {}};
  for (const auto& [key, value] : flatten(facts)) {
    table.rows.push_back({key, value.is_string() ? value : Json(value.dump())});
  }
  print(table, Format::Text);
  return 0;
}

}  // namespace

int runDb(const Arguments& arguments) {
  CommandLine line("db", {"vitrine db info", "vitrine db check --db lab.sqlite"});
  std::string action;
  line.app()
      .add_option("action", action, "check: is the file whole; info: where it is and what is in it")
      ->required()
      ->check(CLI::IsMember({"check", "info"}));
  line.parse(arguments);
  return action == "check" ? check(line) : info(line);
}

}  // namespace vitrine::app
