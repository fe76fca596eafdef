// demo --tour: every paper trained, sampled and reported.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "app/vitrine/cli/command_line.h"
#include "app/vitrine/run/planned_runs.h"

namespace vitrine::app {

/// The folder of this program.
[[nodiscard]] std::filesystem::path programFolder();
/// A file of the experiments that come with the program. \param name  "demo.toml"
[[nodiscard]] std::filesystem::path builtInExperiment(const std::string& name);
/// Whether a window could be opened.
[[nodiscard]] bool hasDisplay();

struct TourChoice {
  Again again = Again::No;
  bool isWindowless = false;           ///< no window although there is a display
  std::vector<std::string> overrides;  ///< of every experiment of the tour
};

/// Trains the missing runs of experiments/tour/tour.toml, samples, and writes report.html and
/// tour.png below the files of the database. \returns the exit code
[[nodiscard]] int runTour(const CommandLine& line, const TourChoice& choice);

}  // namespace vitrine::app
