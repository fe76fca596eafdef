// Finds plugin files, refuses the ones that do not fit with one sentence each, loads the others.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/plugin/registry.h"

namespace vitrine {

/// What a plugin file says about itself without being loaded.
struct PluginManifest {
  std::string id, version, interface, torch, compiler;
  std::string file;  ///< absolute path
  std::string sha256;
  bool isBuiltIn = false;  ///< from the build tree or the installation
};

struct PluginRefusal {
  std::string file;
  std::string sentence;
};

struct LoadedPlugins {
  std::vector<PluginManifest> loaded;
  std::vector<PluginRefusal> refused;
};

/// Folders in search order: beside the program, $XDG_DATA_HOME/vitrine/plugins,
/// $VITRINE_PLUGIN_PATH.
[[nodiscard]] std::vector<std::filesystem::path> pluginFolders();

/// Loads every plugin of `folders` into `registry`. A refused file is a sentence and does not stop
/// the others.
[[nodiscard]] LoadedPlugins loadPlugins(Registry& registry,
                                        const std::vector<std::filesystem::path>& folders);

/// Reads the manifest without running any code of the file. \throws PluginError  the sentence of
/// the refusal
[[nodiscard]] PluginManifest readManifest(const std::filesystem::path& file);

/// Stores the SHA-256 of a file outside the first folder as trusted (`vitrine plugins --trust
/// FILE`).
void trustPlugin(const std::filesystem::path& file);
[[nodiscard]] bool isTrusted(const std::string& sha256);

}  // namespace vitrine
