// vitrine query: any one read-only statement.
#include "app/vitrine/cli/open_store.h"
#include "app/vitrine/cli/output.h"

namespace vitrine::app {

int queryVerb(const Arguments& arguments) {
  CommandLine line("query",
                   {"vitrine query \"SELECT id, name, state FROM runs\"",
                    "vitrine query --csv \"SELECT step, value FROM metrics WHERE run_id = 1 AND "
                    "name = 'train/loss'\""},
                   Csv::Offered);
  std::string sql;
  line.app()
      .add_option("sql", sql,
                  "one statement; the views are described in resources/docs/database.md")
      ->required()
      ->type_name("SQL");
  line.parse(arguments);
  store::RunStore::Table result = openStoreForReading(line).query(sql);
  print(Table{std::move(result.columns), std::move(result.rows)}, formatOf(line));
  return 0;
}

}  // namespace vitrine::app
