// Plugins that the user disabled: $XDG_CONFIG_HOME/vitrine/plugins.toml, read by the loader,
// written by `vitrine plugins --disable ID`.
//
//     [[disabled]]
//     id = "plain_mlp"
//     items = ["architecture/plain_mlp"]  # so that a run that needs one hears why it is not there
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace vitrine {

struct DisabledPlugin {
  std::string id;
  std::vector<std::string> items;  ///< "kind/id"; may be empty
};

/// $XDG_CONFIG_HOME/vitrine/plugins.toml, else ~/.config/vitrine/plugins.toml; empty without a
/// home.
[[nodiscard]] std::filesystem::path pluginSettingsFile();
/// Those that are not loaded; none where there is no such file. \throws PluginError  it cannot be
/// read: says where and why
[[nodiscard]] std::vector<DisabledPlugin> disabledPlugins();
/// From the next process on. \throws PluginError  the file cannot be written
void disablePlugin(const DisabledPlugin& plugin);
/// \returns  whether it was disabled
bool enablePlugin(const std::string& id);

}  // namespace vitrine
