// vitrine plugins: loaded, refused and disabled plugins with reasons; trusts, disables, enables.
#include <utility>

#include "app/vitrine/cli/output.h"
#include "app/vitrine/run/engine.h"
#include "core/base/error.h"
#include "core/base/log.h"
#include "core/base/text.h"
#include "core/plugin/plugin_settings.h"

namespace vitrine::app {

namespace {

/// A row of the list: items of one kind and paper.
struct ItemLine {
  std::string kind, paper, items;
};

/// The items of a plugin by kind and paper, at most kWidest characters a row.
std::vector<ItemLine> itemLines(const Catalog& catalog, const std::string& plugin) {
  constexpr std::size_t kWidest = 60;
  std::vector<ItemLine> lines;
  for (const ItemCard& item : catalog.items) {
    if (item.plugin != plugin) continue;
    const bool isNext = !lines.empty() && lines.back().kind == toString(item.kind) &&
                        lines.back().paper == item.paper &&
                        lines.back().items.size() + item.id.size() < kWidest;
    if (isNext) {
      lines.back().items += ", " + item.id;
    } else {
      lines.push_back({toString(item.kind), item.paper, item.id});
    }
  }
  return lines;
}

/// Facts about a plugin; of one that is not loaded, only those of its file.
Json toJson(const PluginManifest& plugin) {
  Json entry = Json::object();
  for (const auto& [key, value] :
       {std::pair("id", plugin.id), std::pair("version", plugin.version),
        std::pair("interface", plugin.interface), std::pair("torch", plugin.torch),
        std::pair("compiler", plugin.compiler), std::pair("file", plugin.file),
        std::pair("sha256", plugin.sha256)}) {
    if (!value.empty()) entry[key] = value;
  }
  if (plugin.sha256.empty()) return entry;
  entry["built_in"] = plugin.isBuiltIn;
  entry["trust"] = plugin.isBuiltIn           ? "built in"
                   : isTrusted(plugin.sha256) ? "trusted"
                                              : "not trusted";
  return entry;
}

Json pluginReport(const Engine& engine) {
  Json loaded = Json::array(), refused = Json::array(), disabled = Json::array(),
       folders = Json::array();
  for (const PluginManifest& plugin : engine.plugins.loaded) {
    Json entry = toJson(plugin);
    entry["items"] = Json::array();
    for (const ItemCard& item : engine.registry.catalog().items) {
      if (item.plugin == plugin.id)
        entry["items"].push_back({{"kind", toString(item.kind)}, {"id", item.id}});
    }
    loaded.push_back(std::move(entry));
  }
  for (const PluginRefusal& refusal : engine.plugins.refused) {
    Json entry = toJson(refusal.plugin);
    entry["code"] = toString(refusal.code);
    entry["sentence"] = refusal.error;
    const bool isDisabled = refusal.code == RefusalCode::Disabled;
    if (!isDisabled) entry["can_be_trusted"] = refusal.code == RefusalCode::NotTrusted;
    (isDisabled ? disabled : refused).push_back(std::move(entry));
  }
  for (const auto& folder : pluginFolders()) folders.push_back(folder.string());
  return Json{{"loaded", loaded},
              {"refused", refused},
              {"disabled", disabled},
              {"folders", folders},
              {"settings", pluginSettingsFile().string()}};
}

/// Remembers what the plugin brings, so that a run that needs it hears why it is not there.
void disable(const std::string& id) {
  Engine engine(Refused::Silent);
  std::vector<std::string> ids;
  for (const PluginManifest& plugin : engine.plugins.loaded) {
    ids.push_back(plugin.id);
    if (plugin.id != id) continue;
    DisabledPlugin disabled{id, {}};
    for (const ItemCard& item : engine.registry.catalog().items) {
      if (item.plugin == id) disabled.items.push_back(itemName(item.kind, item.id));
    }
    disablePlugin(disabled);
    log::info("plugin '" + id + "' is not loaded from now on; runs in progress keep it");
    return;
  }
  for (const DisabledPlugin& plugin : disabledPlugins()) {
    if (plugin.id != id) continue;
    log::info("plugin '" + id + "' is disabled already");
    return;
  }
  const std::string close = nearest(id, ids);
  throw NotFoundError(
      "there is no loaded plugin '" + id + "'" +
      (close.empty() ? "; `vitrine plugins` lists them" : "; did you mean '" + close + "'?"));
}

void enable(const std::string& id) {
  if (enablePlugin(id)) {
    log::info("plugin '" + id + "' is loaded again from now on");
    return;
  }
  std::vector<std::string> ids;
  for (const DisabledPlugin& plugin : disabledPlugins()) ids.push_back(plugin.id);
  const std::string close = nearest(id, ids);
  throw NotFoundError("the plugin '" + id + "' is not disabled" +
                      (close.empty() ? "" : "; did you mean '" + close + "'?"));
}

}  // namespace

int pluginsVerb(const Arguments& arguments) {
  CommandLine line("plugins", {"vitrine plugins --disable illama",
                               "vitrine plugins --trust ~/.local/share/vitrine/plugins/mine.so"});
  std::string trust, disabled, enabled;
  line.app()
      .add_option("--trust", trust,
                  "from now on load FILE from $XDG_DATA_HOME/vitrine/plugins or "
                  "$VITRINE_PLUGIN_PATH, as it is today")
      ->type_name("FILE");
  line.app()
      .add_option("--disable", disabled, "from now on do not load the plugin ID")
      ->type_name("ID");
  line.app().add_option("--enable", enabled, "load the plugin ID again")->type_name("ID");
  line.parse(arguments);
  if (!trust.empty()) {
    const PluginManifest manifest = readManifest(trust);
    trustPlugin(trust);
    log::info(manifest.file + " is trusted as long as its content does not change " +
              manifest.sha256.substr(0, 12) + "...");
  }
  if (!enabled.empty()) enable(enabled);
  if (!disabled.empty()) disable(disabled);
  Engine engine(Refused::Silent);
  if (line.wantsJson()) {
    print(pluginReport(engine));
    return 0;
  }
  Table table{{"plugin", "version", "kind", "items", "paper"}, {}};
  for (const PluginManifest& plugin : engine.plugins.loaded) {
    std::string id = plugin.id, version = plugin.version;  // on the first of its rows
    for (const ItemLine& row : itemLines(engine.registry.catalog(), plugin.id)) {
      table.rows.push_back(
          {std::exchange(id, ""), std::exchange(version, ""), row.kind, row.items, row.paper});
    }
  }
  print(table, Format::Text);
  for (const bool isDisabled : {true, false}) {
    const char* title = isDisabled ? "\ndisabled\n" : "\nrefused\n";
    for (const PluginRefusal& refusal : engine.plugins.refused) {
      if ((refusal.code == RefusalCode::Disabled) != isDisabled) continue;
      print(std::exchange(title, "") + std::string("  ") + refusal.error + "\n");
    }
  }
  return 0;
}

}  // namespace vitrine::app
