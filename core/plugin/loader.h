// Finds plugin files, refuses the ones that do not fit with one sentence each, loads the others.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/plugin/registry.h"

namespace vitrine {

/// What a plugin file says about itself without being loaded.
struct PluginManifest {
  std::string id, version, interface, torch, compiler;
  std::string file;  ///< absolute path
  std::string sha256;
  bool isBuiltIn = false;  ///< from the build tree or the installation
};

/// Why a plugin is not loaded. toString() gives the name that `--json` prints; names stay.
enum class RefusalCode {
  BadSettings,     ///< the list of disabled plugins cannot be read; they are loaded
  Unreadable,      ///< the file or folder cannot be opened
  Unsafe,          ///< others can change the file or a folder above it
  NotALibrary,     ///< not a shared library
  CutShort,        ///< ends before its section table
  NotAPlugin,      ///< a library without a manifest of ours
  OtherProgram,    ///< a plugin of another program
  OtherInterface,  ///< of another version of the interface
  OtherTorch,      ///< built with another LibTorch
  OtherCompiler,   ///< built with another compiler
  Disabled,        ///< the user disabled it
  NotTrusted,      ///< outside of the first folder and not trusted: `vitrine plugins --trust`
  NotLoadable,     ///< the system's loader refuses it
  NotRegistered,   ///< what it brings is refused, or it threw
};
[[nodiscard]] std::string toString(RefusalCode code);  ///< "not_trusted"

struct PluginRefusal {
  RefusalCode code = RefusalCode::NotRegistered;
  PluginManifest plugin;  ///< as far as it was read: `file` always
  std::string error;      ///< one sentence
};

/// A plugin that is refused, as data.
class PluginRefused : public PluginError {
 public:
  PluginRefused(RefusalCode code, PluginManifest plugin, const std::string& sentence);
  [[nodiscard]] const PluginRefusal& refusal() const noexcept { return refusal_; }

 private:
  PluginRefusal refusal_;
};

struct LoadedPlugins {
  std::vector<PluginManifest> loaded;
  std::vector<PluginRefusal> refused;
};

/// Folders in search order: next to the program, $XDG_DATA_HOME/vitrine/plugins,
/// $VITRINE_PLUGIN_PATH.
[[nodiscard]] std::vector<std::filesystem::path> pluginFolders();

/// Loads every plugin of `folders` into `registry`. A refused file is a sentence and does not stop
/// the others.
[[nodiscard]] LoadedPlugins loadPlugins(Registry& registry,
                                        const std::vector<std::filesystem::path>& folders);

/// Reads the manifest without running any code of the file. \throws PluginRefused
[[nodiscard]] PluginManifest readManifest(const std::filesystem::path& file);

/// Stores the SHA-256 of a file outside the first folder as trusted (`vitrine plugins --trust
/// FILE`).
void trustPlugin(const std::filesystem::path& file);
[[nodiscard]] bool isTrusted(const std::string& sha256);

}  // namespace vitrine
