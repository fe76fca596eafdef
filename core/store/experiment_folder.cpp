#include "core/store/experiment_folder.h"

#include "core/base/error.h"
#include "core/config/papers/claims.h"
#include "core/files/checkpoint_folder.h"

namespace vitrine::store {

namespace fs = std::filesystem;

fs::path folderOfExperiment(const std::string& title, const std::vector<fs::path>& roots) {
  std::error_code none;
  for (const fs::path& root : roots) {
    for (const auto& folder : fs::directory_iterator(root, none)) {
      for (const auto& file : fs::directory_iterator(folder.path(), none)) {
        const std::string name = file.path().filename().string();
        if (file.path().extension() != ".toml" || name == "published.toml" || name == "claims.toml")
          continue;
        try {
          if (titleOf(readTextFile(file.path()), name) == title) return folder.path();
        } catch (const Error&) {
          // A file that cannot be read is not the one.
        }
      }
    }
  }
  return {};
}

}  // namespace vitrine::store
