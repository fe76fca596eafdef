#include "core/plugin/plugin_settings.h"

#include <algorithm>

#include "core/base/error.h"
#include "core/base/joined.h"
#include "core/base/user_folders.h"
#include "core/config/toml/parse_toml.h"
#include "core/config/toml/to_toml.h"
#include "core/files/checkpoint_folder.h"

namespace vitrine {

namespace {

namespace fs = std::filesystem;

constexpr std::uintmax_t kMostBytes = 64 * 1024;

void store(const std::vector<DisabledPlugin>& plugins) {
  const fs::path file = pluginSettingsFile();
  if (file.empty()) {
    throw PluginError(
        "disabled plugins cannot be remembered: neither XDG_CONFIG_HOME nor HOME is set to a "
        "folder");
  }
  std::string text =
      "# Plugins that are not loaded; see `vitrine plugins --disable ID` and --enable ID.\n";
  for (const DisabledPlugin& plugin : plugins) {
    text += "\n[[disabled]]\nid = " + tomlString(plugin.id) + "\nitems = [" +
            joined(plugin.items, [](const std::string& item) { return tomlString(item); }) + "]\n";
  }
  std::error_code error;
  fs::create_directories(file.parent_path(), error);
  if (error)
    throw PluginError("cannot make " + file.parent_path().string() + ": " + error.message());
  writeFileAtomically(file, text);
}

}  // namespace

fs::path pluginSettingsFile() {
  const fs::path folder = userFolder(UserFolder::Config);
  return folder.empty() ? folder : folder / "plugins.toml";
}

std::vector<DisabledPlugin> disabledPlugins() {
  const fs::path file = pluginSettingsFile();
  std::error_code error;
  if (file.empty() || !fs::exists(file, error)) return {};
  const auto broken = [&file](const std::string& why) {
    return PluginError(file.string() + " is not read, so every plugin is loaded: " + why +
                       "; correct or remove it");
  };
  if (fs::file_size(file, error) > kMostBytes || error) throw broken("it is too large");
  std::vector<DisabledPlugin> all;
  TomlRefusal refusal;
  const auto table = parseToml(readTextFile(file), refusal);
  if (!table) throw broken("line " + std::to_string(refusal.line) + ": " + refusal.message);
  const toml::node* disabled = table->get("disabled");
  if (disabled == nullptr) return all;
  if (disabled->as_array() == nullptr) throw broken("'disabled' is not a list of tables");
  for (const toml::node& node : *disabled->as_array()) {
    DisabledPlugin plugin;
    if (const toml::table* entry = node.as_table(); entry != nullptr) {
      plugin.id = (*entry)["id"].value_or(std::string());
      if (const toml::array* items = (*entry)["items"].as_array(); items != nullptr) {
        for (const toml::node& item : *items)
          if (const auto text = item.value<std::string>()) plugin.items.push_back(*text);
      }
    } else if (const auto text = node.value<std::string>()) {
      plugin.id = *text;  // disabled = ["plain_mlp"], as one writes it by hand
    }
    if (plugin.id.empty()) throw broken("an entry of 'disabled' has no id");
    all.push_back(std::move(plugin));
  }
  return all;
}

void disablePlugin(const DisabledPlugin& plugin) {
  std::vector<DisabledPlugin> all = disabledPlugins();
  std::erase_if(all, [&plugin](const DisabledPlugin& other) { return other.id == plugin.id; });
  all.push_back(plugin);
  store(all);
}

bool enablePlugin(const std::string& id) {
  std::vector<DisabledPlugin> all = disabledPlugins();
  const auto before = all.size();
  std::erase_if(all, [&id](const DisabledPlugin& other) { return other.id == id; });
  if (all.size() == before) return false;
  store(all);
  return true;
}

}  // namespace vitrine
