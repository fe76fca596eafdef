// vitrine search: runs by words in their names, notes, tags, configurations and logs.
#include "core/store/search.h"

#include <map>

#include "app/vitrine/cli/open_store.h"
#include "app/vitrine/cli/output.h"
#include "core/base/error.h"

namespace vitrine::app {

int searchVerb(const Arguments& arguments) {
  CommandLine line("search", {"vitrine search soft mask cosine", "vitrine search diverged --json"},
                   Csv::Offered);
  std::vector<std::string> words;
  std::size_t limit = 50;
  line.app()
      .add_option("words", words,
                  "all of them must occur in the run, whole or as the beginning of a word")
      ->required()
      ->type_name("WORDS");
  line.app()
      .add_option("--limit", limit, "at most this many runs")
      ->capture_default_str()
      ->check(CLI::Range(1, 1'000'000))
      ->type_name("N");
  line.parse(arguments);
  std::string text;
  for (const std::string& word : words) text += word + " ";
  if (text.find_first_not_of(' ') == std::string::npos)
    throw ConfigError("vitrine search: \"\" is not a word to look for; give one");

  store::RunStore store = openStoreForReading(line);
  std::map<std::int64_t, store::RunRow> runs;
  for (store::RunRow& run : store.runs()) {
    const std::int64_t id = run.id;
    runs.emplace(id, std::move(run));
  }
  Table table{{"id", "experiment", "name", "state", "where", "text"}, {}};
  for (const store::SearchHit& hit :
       store::searchRuns(databaseOf(line), text, limit, store::searchFolder())) {
    const auto run = runs.find(hit.run);
    if (run == runs.end()) continue;  // added in between
    table.rows.push_back({hit.run, run->second.experiment, run->second.name,
                          toString(run->second.state), hit.where, hit.text});
  }
  if (table.rows.empty() && formatOf(line) == Format::Text) {
    print(std::string("no run contains all of these words\n"));
  } else {
    print(table, formatOf(line));
  }
  return 0;
}

}  // namespace vitrine::app
