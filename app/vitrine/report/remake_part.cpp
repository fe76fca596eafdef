#include <set>

#include "app/vitrine/report/experiment_part.h"
#include "app/vitrine/report/stored_json.h"
#include "core/base/cell_text.h"
#include "core/base/error.h"
#include "core/base/joined.h"
#include "core/base/read_json.h"
#include "core/base/sha256.h"
#include "core/config/config.h"
#include "core/config/lookup.h"
#include "core/config/toml/to_toml.h"
#include "core/files/checkpoint_folder.h"
#include "core/store/run_store.h"

namespace vitrine::app {

namespace {

/// Values that the command line gave to a run, as it takes them.
std::string overridesOf(store::RunReader& store, std::int64_t run) {
  const Json config = store.config(run);
  const Json origins = store.origins(run);
  std::set<std::string> words;
  for (const auto& [key, origin] : origins.items()) {
    const Json* value = valueAt(config, key);
    if (wordAt(origin, "layer") != "command line" || value == nullptr) continue;
    words.insert(shellWord(key + "=" + tomlValue(*value)));
  }
  std::string text;
  for (const std::string& word : words) text += " " + word;
  return text;
}

/// One for the runs that the command line gave the same values: it gives them to all of its runs.
std::string trainCommands(store::RunReader& store, const std::vector<store::RunRow>& rows,
                          const std::string& file) {
  std::set<std::string> known;
  std::string text;
  for (const store::RunRow& run : rows) {
    const std::string overrides = overridesOf(store, run.id);
    if (known.insert(overrides).second)
      text += "vitrine train " + file + overrides + " --db again.sqlite\n";
  }
  return text;
}

/// Of the newest weights, as the manifest of their checkpoint says; "" where it is not there.
std::string weightsHash(store::RunReader& store, std::int64_t run) {
  for (const store::CheckpointRow& checkpoint : store.checkpoints(run)) {
    if (!checkpoint.isLatest) continue;
    try {
      const Json manifest = readJson(
          readTextFile(store::filesFolder(store.file()) / checkpoint.folder / "manifest.json"));
      if (!manifest.is_object() || !manifest.contains("files")) return "";
      for (const Json& file : manifest.at("files")) {
        if (wordAt(file, "name") == "model.safetensors") return wordAt(file, "sha256");
      }
    } catch (const Error&) {
      return "";  // copied without its files, or deleted
    }
  }
  return "";
}

}  // namespace

Html remakePart(store::RunReader& store, const std::vector<store::RunRow>& rows,
                const std::string& reportName) {
  const store::RunRow& first = rows.front();
  const std::string source = store.experimentSource(first.experimentId);
  const std::string file = fileSlug(first.experiment) + ".toml";
  Html content;
  if (source.empty()) {
    content += Html::element(
        "p", Html("No experiment file is stored with these runs. The resolved configurations "
                  "above are files that vitrine train takes."));
  } else {
    content += Html::element(
        "p", Html("Save the text below as " + file + ", with the version of the environment."));
    content += Html::element(
        "pre", {{"class", "command"}},
        Html(trainCommands(store, rows, file) + "vitrine compare " + shellWord(first.experiment) +
             " --db again.sqlite\n" + "vitrine report " + shellWord(first.experiment) + " " +
             shellWord(reportName) + " --db again.sqlite"));
    content += folded(file + ", SHA-256 " + sha256OfText(source), source);
  }
  HtmlTable table{{"Run", "Name", "Seed", "State", "Started", "UUID", "Configuration, SHA-256",
                   "Weights, SHA-256"},
                  {},
                  "Runs of this report"};
  for (const store::RunRow& run : rows) {
    const std::string config = plainText(store.config(run.id));
    table.add({numberCell(std::to_string(run.id)), textCell(run.name),
               numberCell(std::to_string(run.seed)), textCell(toString(run.state)),
               textCell(run.startedAt), codeCell(run.uuid), codeCell(sha256OfText(config)),
               codeCell(weightsHash(store, run.id))});
  }
  Html wide = Html::element("summary", Html("Runs, with the hashes of configuration and weights"));
  wide += toHtml(table);
  content += Html::element("details", wide);
  return section("How to reproduce this report", content);
}

}  // namespace vitrine::app
