#include "ui/spectra/rank_controls.h"

#include <map>
#include <optional>
#include <system_error>
#include <vector>

#include "core/base/error.h"
#include "core/config/edit/document.h"
#include "core/config/papers/claims.h"
#include "core/files/checkpoint_folder.h"
#include "ui/workbench/claims/claim_rows.h"

namespace vitrine::ui {

namespace {

namespace fs = std::filesystem;

constexpr int kLeastClaims = 2;

/// Experiments that a claims file names, with the number of its claims about the analysis.
std::map<std::string, int> claimedExperiments(const fs::path& file, const std::string& analysis) {
  std::map<std::string, int> claimed;
  std::vector<Problem> problems;
  for (const Claim& claim : readClaims(readTextFile(file), file.string(), problems)) {
    if (claim.metric.starts_with("analysis/" + analysis + "/")) ++claimed[claim.experiment];
  }
  return claimed;
}

}  // namespace

RankControls controlsOf(const std::string& architecture, const std::string& analysis) {
  RankControls best;
  if (architecture.empty()) return best;
  int most = kLeastClaims - 1;
  std::error_code none;
  for (const fs::path& root : experimentFolders()) {
    for (const auto& folder : fs::directory_iterator(root, none)) {
      const fs::path claims = folder.path() / "claims.toml";
      if (!fs::exists(claims, none)) continue;
      try {
        for (const auto& [name, claimCount] : claimedExperiments(claims, analysis)) {
          if (claimCount <= most) continue;
          const fs::path file = folder.path() / name;
          Problem problem;
          const std::optional<Document> document = parseDocument(readTextFile(file), problem);
          if (!document || document->text("model.architecture") != architecture) continue;
          most = claimCount;
          best = {document->title, file};
        }
      } catch (const Error&) {
        // A file that cannot be read has no controls.
      }
    }
  }
  return best;
}

}  // namespace vitrine::ui
