#include "core/plugin/loader.h"

#include <elf.h>
#include <grp.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <QJsonObject>
#include <QPluginLoader>
#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <set>
#include <utility>

#include "core/base/error.h"
#include "core/base/sha256.h"
#include "core/base/text.h"
#include "core/base/user_folders.h"
#include "core/files/checkpoint_folder.h"
#include "core/plugin/missing_items.h"
#include "core/plugin/plugin.h"
#include "core/plugin/plugin_settings.h"

namespace vitrine {

namespace {

namespace fs = std::filesystem;

constexpr const char* kInterfaceFamily = "org.vitrine.Plugin/";

fs::path trustFile() {
  const fs::path folder = userFolder(UserFolder::Data);
  if (folder.empty()) {
    throw PluginError(
        "trusted plugins cannot be remembered: neither XDG_DATA_HOME nor HOME is set to a folder");
  }
  return folder / "trusted_plugins";
}

std::string text(const QJsonObject& object, const char* key) {
  return object.value(QLatin1String(key)).toString().toStdString();
}

/// "GNU 12.2.0" -> "GNU 12": what decides whether two objects fit together.
std::string compilerFamily(const std::string& compiler) {
  return compiler.substr(0, compiler.find('.'));
}

fs::path programFile() {
  std::error_code error;
  return fs::read_symlink("/proc/self/exe", error);
}

/// A group that may write here without more harm. It is of root, can replace this program, or has
/// no member but this user. Systems that give every user such a group let it write every new file.
bool isGroupTrusted(gid_t number) {
  struct stat folder {};
  const bool canReplaceProgram = ::stat(programFile().parent_path().c_str(), &folder) == 0 &&
                                 folder.st_gid == number && (folder.st_mode & S_IWGRP) != 0;
  if (number == 0 || canReplaceProgram) return true;
  const passwd* user = ::getpwuid(::geteuid());
  if (user == nullptr || user->pw_gid != number) return false;
  const std::string name = user->pw_name;
  const group* entry = ::getgrgid(number);
  if (entry == nullptr || name != entry->gr_name) return false;
  for (char** member = entry->gr_mem; *member != nullptr; ++member) {
    if (name != *member) return false;
  }
  return true;
}

/// Root, this user, and the user who owns this program can run code here as it is.
bool isOwnerTrusted(uid_t owner) {
  struct stat program {};
  return owner == 0 || owner == ::geteuid() ||
         (::stat(programFile().c_str(), &program) == 0 && owner == program.st_uid);
}

/// Empty, or why nothing is loaded from `path`. Where this is empty for a file and the folders
/// above it, no other user can replace the file between the check and the loading.
std::string whyUnsafe(const fs::path& path, const char* what) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return path.string() + " cannot be inspected";
  const std::string refused = path.string() + " is not loaded because the " + what;
  if ((status.st_mode & S_IWOTH) != 0) {
    return refused + " can be changed by every user; run `chmod o-w " + path.string() +
           "` if you know its content";
  }
  if ((status.st_mode & S_IWGRP) != 0 && !isGroupTrusted(status.st_gid)) {
    return refused + " can be changed by every user of its group; run `chmod g-w " + path.string() +
           "` if you know its content";
  }
  if (!isOwnerTrusted(status.st_uid)) {
    return refused + " belongs to user " + std::to_string(status.st_uid) +
           "; copy it into a folder of your own if you know its content";
  }
  return "";
}

/// The same for a file, its folder, and the folders above, in which others must not be able to
/// rename. A folder with the sticky bit, like /tmp, does not let them.
std::string whyUnsafeFile(const fs::path& file) {
  if (std::string unsafe = whyUnsafe(file, "file"); !unsafe.empty()) return unsafe;
  fs::path folder = file.parent_path();
  if (std::string unsafe = whyUnsafe(folder, "folder"); !unsafe.empty()) return unsafe;
  while (folder.has_relative_path()) {
    folder = folder.parent_path();
    struct stat status {};
    if (::stat(folder.c_str(), &status) != 0) continue;
    if ((status.st_mode & S_IWOTH) != 0 && (status.st_mode & S_ISVTX) == 0) {
      return file.string() + " is not loaded because the folder " + folder.string() +
             " can be changed by every user; run `chmod o-w " + folder.string() + "`";
    }
  }
  return "";
}

/// \param sentence  begins with the file's name
[[noreturn]] void refuse(RefusalCode code, const PluginManifest& plugin,
                         const std::string& sentence) {
  throw PluginRefused(code, plugin, plugin.file + sentence);
}

PluginManifest manifestOf(const fs::path& file) { return {.file = file.string()}; }

fs::path realFile(const fs::path& file) {
  std::error_code error;
  fs::path found = fs::canonical(file, error);
  if (error)
    refuse(RefusalCode::Unreadable, manifestOf(file), " cannot be opened: " + error.message());
  return found;
}

/// \throws PluginRefused  no ELF file, or one that ends before its section table, which linkers
/// write last. Neither Qt nor the system's loader looks for the end, and a cut file may load and
/// miss what came after.
void requireWholeLibrary(const PluginManifest& plugin) {
  std::FILE* stream = std::fopen(plugin.file.c_str(), "rb");
  if (stream == nullptr) refuse(RefusalCode::Unreadable, plugin, " cannot be read");
  Elf64_Ehdr header{};
  const std::size_t got = std::fread(&header, 1, sizeof header, stream);
  std::fclose(stream);
  if (got < SELFMAG || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) {
    refuse(RefusalCode::NotALibrary, plugin,
           " is not a plugin: it is not a shared library; build it with vitrine_add_plugin");
  }
  const std::uint64_t size = fs::file_size(plugin.file);
  const std::uint64_t table = std::uint64_t{header.e_shnum} * header.e_shentsize;
  if (got < sizeof header || header.e_shoff > size || table > size - header.e_shoff) {
    refuse(RefusalCode::CutShort, plugin,
           " is cut short: it ends after " + std::to_string(size) +
               " bytes, before its section table; build or copy it again");
  }
}

/// The last part of Qt's "Cannot load library X: (reason)", which is the loader's own sentence.
std::string loaderReason(const QPluginLoader& loader) {
  std::string reason = loader.errorString().toStdString();
  const std::string marker = ": (";
  if (const auto at = reason.find(marker); at != std::string::npos && reason.back() == ')')
    reason = reason.substr(at + marker.size(), reason.size() - at - marker.size() - 1);
  return reason;
}

/// Refuses what does not fit this host; nothing of the file has run yet.
void checkFits(const PluginManifest& manifest) {
  if (manifest.interface != VITRINE_PLUGIN_IID) {
    refuse(RefusalCode::OtherInterface, manifest,
           " speaks " + manifest.interface +
               ", this host speaks " VITRINE_PLUGIN_IID
               "; rebuild the plugin against this Vitrine");
  }
  if (manifest.torch != VITRINE_HOST_TORCH) {
    refuse(RefusalCode::OtherTorch, manifest,
           " was built with LibTorch " + manifest.torch +
               ", this host with LibTorch " VITRINE_HOST_TORCH
               "; rebuild the plugin with the host's LibTorch");
  }
  if (compilerFamily(manifest.compiler) != compilerFamily(VITRINE_HOST_COMPILER)) {
    refuse(RefusalCode::OtherCompiler, manifest,
           " was built with compiler " + manifest.compiler +
               ", this host with " VITRINE_HOST_COMPILER
               "; rebuild the plugin with the host's compiler");
  }
}

void loadInto(Registry& registry, const PluginManifest& manifest) {
  QPluginLoader loader(QString::fromStdString(manifest.file));
  // Every symbol now, so that one that is missing is a sentence here and not a crash in the middle
  // of a run.
  loader.setLoadHints(QLibrary::ResolveAllSymbolsHint | QLibrary::PreventUnloadHint);
  if (!loader.load()) {
    refuse(
        RefusalCode::NotLoadable, manifest,
        " cannot be loaded: " + loaderReason(loader) + "; install or rebuild what it depends on");
  }
  auto* plugin = qobject_cast<Plugin*>(loader.instance());
  if (plugin == nullptr) {
    refuse(RefusalCode::NotAPlugin, manifest,
           " has no root object of " VITRINE_PLUGIN_IID "; see Q_INTERFACES in plugin.h");
  }
  Registry own;
  own.setPlugin(manifest.id);
  try {
    plugin->registerInto(own);
    registry.absorb(own);
  } catch (const std::exception& error) {
    refuse(RefusalCode::NotRegistered, manifest, " is not loaded: " + firstLine(error.what()));
  }
}

}  // namespace

std::string toString(RefusalCode code) {
  constexpr std::array kNames = {
      "bad_settings", "unreadable",    "unsafe",          "not_a_library", "cut_short",
      "not_a_plugin", "other_program", "other_interface", "other_torch",   "other_compiler",
      "disabled",     "not_trusted",   "not_loadable",    "not_registered"};
  static_assert(kNames.size() == static_cast<std::size_t>(RefusalCode::NotRegistered) + 1);
  return kNames[static_cast<std::size_t>(code)];
}

PluginRefused::PluginRefused(RefusalCode code, PluginManifest plugin, const std::string& sentence)
    : PluginError(sentence), refusal_{code, std::move(plugin), sentence} {}

std::vector<fs::path> pluginFolders() {
  std::vector<fs::path> folders;
  const fs::path prefix = programFile().parent_path().parent_path();
  fs::path beside = prefix / "lib/vitrine/plugins";
  if (const fs::path installed = prefix / VITRINE_HOST_LIBDIR / "vitrine/plugins";
      !fs::exists(beside) && fs::exists(installed)) {
    beside = installed;
  }
  folders.push_back(beside);
  if (const fs::path data = userFolder(UserFolder::Data); !data.empty())
    folders.push_back(data / "plugins");
  if (const char* path = std::getenv("VITRINE_PLUGIN_PATH"); path != nullptr) {
    for (const std::string& folder : split(path, ':')) {
      // Relative entries would mean the working folder, which a plugin must never come from.
      if (!folder.empty() && folder.front() == '/') folders.emplace_back(folder);
    }
  }
  return folders;
}

PluginManifest readManifest(const fs::path& given) {
  const fs::path file = realFile(given);
  PluginManifest manifest = manifestOf(file);
  requireWholeLibrary(manifest);
  const QPluginLoader loader(QString::fromStdString(manifest.file));
  const QJsonObject data = loader.metaData();
  if (data.isEmpty()) {
    refuse(RefusalCode::NotAPlugin, manifest,
           " is not a plugin, or is cut short: " + loader.errorString().toStdString() +
               "; build it again with vitrine_add_plugin");
  }
  manifest.interface = text(data, "IID");
  if (manifest.interface.rfind(kInterfaceFamily, 0) != 0) {
    refuse(RefusalCode::OtherProgram, manifest,
           " is a plugin of another program: it speaks '" + manifest.interface +
               "', this host speaks " VITRINE_PLUGIN_IID);
  }
  const QJsonObject own = data.value(QLatin1String("MetaData")).toObject();
  manifest.id = text(own, "id");
  manifest.version = text(own, "version");
  manifest.torch = text(own, "torch");
  manifest.compiler = text(own, "compiler");
  if (manifest.id.empty()) {
    refuse(RefusalCode::NotAPlugin, manifest,
           " has a manifest without an id; build it with vitrine_add_plugin");
  }
  checkFits(manifest);
  manifest.sha256 = sha256OfFile(file);
  std::error_code error;
  manifest.isBuiltIn = fs::equivalent(file.parent_path(), pluginFolders().front(), error) && !error;
  return manifest;
}

LoadedPlugins loadPlugins(Registry& registry, const std::vector<fs::path>& folders) {
  LoadedPlugins result;
  std::set<std::string> disabled;
  std::map<std::string, std::string> missing;
  try {
    for (const DisabledPlugin& plugin : disabledPlugins()) {
      disabled.insert(plugin.id);
      for (const std::string& item : plugin.items) missing[item] = plugin.id;
    }
  } catch (const std::exception& error) {
    result.refused.push_back(
        {RefusalCode::BadSettings, manifestOf(pluginSettingsFile()), firstLine(error.what())});
  }
  setMissingItems(std::move(missing));
  std::set<fs::path> seen;
  bool isFirst = true;
  for (const fs::path& given : folders) {
    const bool isBuiltIn = std::exchange(isFirst, false);
    std::error_code code;
    const fs::path folder = fs::canonical(given, code);
    if (code || !seen.insert(folder).second) continue;
    if (const std::string unsafe = whyUnsafe(folder, "folder"); !unsafe.empty()) {
      result.refused.push_back({RefusalCode::Unsafe, manifestOf(folder), unsafe});
      continue;
    }
    std::vector<fs::path> files;
    for (const auto& entry : fs::directory_iterator(folder, code)) {
      if (entry.path().extension() == ".so") files.push_back(entry.path());
    }
    if (code) {
      result.refused.push_back(
          {RefusalCode::Unreadable, manifestOf(folder),
           folder.string() + " cannot be read as a folder of plugins: " + code.message()});
    }
    std::sort(files.begin(), files.end());
    for (const fs::path& file : files) {
      PluginManifest manifest = manifestOf(file);
      try {
        const fs::path real = realFile(file);
        if (!seen.insert(real).second) continue;
        if (const std::string unsafe = whyUnsafeFile(real); !unsafe.empty())
          throw PluginRefused(RefusalCode::Unsafe, manifestOf(real), unsafe);
        manifest = readManifest(real);
        manifest.isBuiltIn = isBuiltIn;
        if (disabled.count(manifest.id) > 0) {
          refuse(
              RefusalCode::Disabled, manifest,
              " is disabled; run `vitrine plugins --enable " + manifest.id + "` to load it again");
        }
        if (!isBuiltIn && !isTrusted(manifest.sha256)) {
          refuse(RefusalCode::NotTrusted, manifest,
                 " is not trusted; run `vitrine plugins --trust " + manifest.file +
                     "` if you know where it comes from");
        }
        loadInto(registry, manifest);
        result.loaded.push_back(std::move(manifest));
      } catch (const PluginRefused& error) {
        result.refused.push_back(error.refusal());
      } catch (const std::exception& error) {
        // What one plugin throws must not stop the others.
        result.refused.push_back({RefusalCode::Unreadable, manifest, firstLine(error.what())});
      }
    }
  }
  return result;
}

void trustPlugin(const fs::path& file) {
  const PluginManifest manifest = readManifest(file);
  if (isTrusted(manifest.sha256)) return;
  const fs::path list = trustFile();
  fs::create_directories(list.parent_path());
  std::string lines;
  if (fs::exists(list)) lines = readTextFile(list);
  if (!lines.empty() && lines.back() != '\n') lines += '\n';
  lines += manifest.sha256 + "  " + manifest.file + "  " + utcNow() + "\n";
  writeFileAtomically(list, lines);
}

bool isTrusted(const std::string& sha256) {
  if (sha256.size() != 64 || userFolder(UserFolder::Data).empty()) return false;
  const fs::path list = trustFile();
  // A list that others can write vouches for nothing.
  if (!fs::exists(list) || !whyUnsafe(list, "file").empty()) return false;
  for (const std::string& line : split(readTextFile(list), '\n')) {
    if (line.compare(0, sha256.size(), sha256) == 0) return true;
  }
  return false;
}

}  // namespace vitrine
