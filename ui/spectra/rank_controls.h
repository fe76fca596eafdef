// The experiment that separates the causes of a rank, among those that come with the program.
#pragma once

#include <filesystem>
#include <string>

namespace vitrine::ui {

struct RankControls {
  std::string title;  ///< of the experiment; "": there is none
  std::filesystem::path file;
};

/// The experiment of this architecture with the most claims about scores of the analysis, at least
/// two. One claim compares two models and separates no causes. Files that cannot be read are
/// skipped.
[[nodiscard]] RankControls controlsOf(const std::string& architecture, const std::string& analysis);

}  // namespace vitrine::ui
