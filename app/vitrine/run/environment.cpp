#include "app/vitrine/run/environment.h"

#include <QtGlobal>
#include <filesystem>

#include "core/base/cpu_path.h"
#include "core/base/program.h"
#include "core/store/run_store.h"

namespace vitrine::app {

namespace {

void addCommit(Json& out) {
  out["commit"] = nullptr;
  out["dirty"] = nullptr;
  std::vector<std::string> folders;
  if (std::filesystem::exists(VITRINE_SOURCE_FOLDER)) folders.emplace_back(VITRINE_SOURCE_FOLDER);
  folders.emplace_back(".");
  for (const std::string& folder : folders) {
    const auto commit = outputOf({"git", "-C", folder, "rev-parse", "HEAD"});
    if (!commit) continue;
    out["commit"] = *commit;
    if (const auto changes =
            outputOf({"git", "-C", folder, "status", "--porcelain", "--untracked-files=no"})) {
      out["dirty"] = !changes->empty();
    }
    return;
  }
}

}  // namespace

Json describeEnvironment(const LoadedPlugins& plugins, const train::ComputeEnvironment& compute,
                         std::uint64_t seed) {
  Json out = Json::object();
  addCommit(out);
  out["device"] = compute.device;
  out["threads"] = compute.threads;
  out["cpu_capability"] = compute.cpuCapability;
  out["cpu_path"] = nameOf(cpuPath());
  out["host"] = store::thisWorker().host;
  out["versions"] = {{"vitrine", VITRINE_VERSION},
                     {"libtorch", compute.libtorch},
                     {"compiler", VITRINE_COMPILER},
                     {"qt", qVersion()},
                     {"sqlite", store::sqliteVersion()}};
  out["seeds"] = {{"run", seed}};
  Json list = Json::array();
  for (const PluginManifest& plugin : plugins.loaded)
    list.push_back({{"id", plugin.id}, {"version", plugin.version}, {"sha256", plugin.sha256}});
  out["plugins"] = std::move(list);
  return out;
}

}  // namespace vitrine::app
