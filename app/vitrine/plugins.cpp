// vitrine plugins: what is loaded, what was refused and why.
#include "app/vitrine/engine.h"
#include "app/vitrine/output.h"
#include "core/base/log.h"

namespace vitrine::app {

namespace {

std::string itemsOf(const Catalog& catalog, const std::string& plugin) {
  std::string list;
  for (const ItemCard& item : catalog.items) {
    if (item.plugin == plugin)
      list += (list.empty() ? "" : ", ") + toString(item.kind) + " " + item.id;
  }
  return list;
}

Json pluginReport(const Engine& engine) {
  Json loaded = Json::array(), refused = Json::array(), folders = Json::array();
  for (const PluginManifest& plugin : engine.plugins.loaded) {
    Json items = Json::array();
    for (const ItemCard& item : engine.registry.catalog().items) {
      if (item.plugin == plugin.id)
        items.push_back({{"kind", toString(item.kind)}, {"id", item.id}});
    }
    loaded.push_back({{"id", plugin.id},
                      {"version", plugin.version},
                      {"interface", plugin.interface},
                      {"torch", plugin.torch},
                      {"compiler", plugin.compiler},
                      {"file", plugin.file},
                      {"sha256", plugin.sha256},
                      {"built_in", plugin.isBuiltIn},
                      {"items", items}});
  }
  for (const PluginRefusal& refusal : engine.plugins.refused) {
    refused.push_back({{"file", refusal.file}, {"sentence", refusal.sentence}});
  }
  for (const auto& folder : pluginFolders()) folders.push_back(folder.string());
  return Json{{"loaded", loaded}, {"refused", refused}, {"folders", folders}};
}

}  // namespace

int runPlugins(const Arguments& arguments) {
  CommandLine line("plugins", {"vitrine plugins",
                               "vitrine plugins --trust ~/.local/share/vitrine/plugins/mine.so"});
  std::string trust;
  line.app()
      .add_option("--trust", trust,
                  "from now on load FILE from $XDG_DATA_HOME/vitrine/plugins or "
                  "$VITRINE_PLUGIN_PATH, as it is today")
      ->type_name("FILE");
  line.parse(arguments);
  if (!trust.empty()) {
    const PluginManifest manifest = readManifest(trust);
    trustPlugin(trust);
    log::info(manifest.file + " is trusted as long as its content stays " +
              manifest.sha256.substr(0, 12) + "...");
  }
  Engine engine;
  loadEngine(engine, Refused::Silent);
  if (line.wantsJson()) {
    print(pluginReport(engine));
    return 0;
  }
  Table table{{"plugin", "version", "items", "file"}, {}};
  for (const PluginManifest& plugin : engine.plugins.loaded) {
    table.rows.push_back(
        {plugin.id, plugin.version, itemsOf(engine.registry.catalog(), plugin.id), plugin.file});
  }
  print(table, Format::Text);
  if (!engine.plugins.refused.empty()) print(std::string("\nrefused\n"));
  for (const PluginRefusal& refusal : engine.plugins.refused) print("  " + refusal.sentence + "\n");
  return 0;
}

}  // namespace vitrine::app
