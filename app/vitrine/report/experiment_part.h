// The part of a report about one experiment, and the parts of that.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "app/vitrine/report/ablation.h"
#include "app/vitrine/report/html.h"
#include "app/vitrine/report/report_figures.h"

namespace vitrine::app {

struct PartOptions {
  std::size_t mostImages = 64;  ///< of each run
  /// Of claims; none: claims.toml next to the experiment file, where it comes with the program.
  std::optional<std::filesystem::path> claims;
  std::string reportName;  ///< file name of the report, for the command line that writes it again
};

/// Results, curves, artifacts, generated samples, claims, configuration and how to make it again,
/// a `section` each in one `article`.
/// \param rows    runs of one experiment, at least one
/// \param anchor  id of the element
[[nodiscard]] Html experimentPart(store::RunReader& store, const std::vector<store::RunRow>& rows,
                                  const std::string& anchor, const PartOptions& options,
                                  FigureDrawer& figures);

/// Generated images and texts of the newest step that each run has, by recipe; images are in the
/// page. Empty where there are none. \param mostImages  of each run
[[nodiscard]] Html samplesPart(store::RunReader& store, const std::vector<store::RunRow>& rows,
                               std::size_t mostImages);

/// Files, commands and hashes that reproduce the runs.
/// \param rows        runs of one experiment, at least one
/// \param reportName  file name of the report
[[nodiscard]] Html remakePart(store::RunReader& store, const std::vector<store::RunRow>& rows,
                              const std::string& reportName);

/// Under what circumstances runs were made: versions, commit, CPU path, plugins.
[[nodiscard]] Html environmentPart(store::RunReader& store, const std::vector<store::RunRow>& rows);

/// `title` as a heading, and what follows.
[[nodiscard]] Html section(const std::string& title, const Html& content);

}  // namespace vitrine::app
