// The command line of a verb: CLI11 below, exit code 2 above, two examples at the end of each
// --help.
#pragma once

#include <CLI/CLI.hpp>
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "app/vitrine/cli/verb.h"
#include "core/config/experiment.h"

namespace vitrine::app {

/// --help was asked for: the text to print on stdout; exit 0.
struct HelpRequested {
  std::string text;
};

enum class Csv { No, Offered };

class CommandLine {
 public:
  /// Brings --db and --json, which every verb takes, and --csv where it is offered.
  /// \param examples  complete command lines
  CommandLine(const std::string& verb, const std::array<const char*, 2>& examples,
              Csv csv = Csv::No);

  [[nodiscard]] CLI::App& app() noexcept { return app_; }
  /// \throws ConfigError  arguments that do not fit; HelpRequested
  void parse(const Arguments& arguments);

  [[nodiscard]] const std::string& database() const noexcept {
    return database_;
  }  ///< of --db, or ""
  [[nodiscard]] bool wantsJson() const noexcept { return json_; }
  [[nodiscard]] bool wantsCsv() const noexcept { return csv_; }

 private:
  std::string verb_;
  CLI::App app_;
  std::string database_;
  bool json_ = false;
  bool csv_ = false;
};

/// The experiment and overrides of `check` and `train`.
struct ExperimentChoice {
  std::string file;                    ///< "-": standard input
  std::vector<std::string> overrides;  ///< key=value
};
/// \returns  the option of the file
CLI::Option* addExperiment(CommandLine& line, ExperimentChoice& choice);

/// Why the word is not the number of a run, "" where it is: for CLI::Option::check. CLI11 itself
/// reads 010 as 8, and 0 is the value of an option that was not given.
[[nodiscard]] std::string runNumberProblem(const std::string& word);

/// The run of `retry`, `stop`, `move` (a bare number) and `run` (`name` is "--id").
void addRunId(CommandLine& line, std::int64_t& id, const std::string& name = "id");

/// The weights and images that `analyse` and `evaluate` use.
struct ModelChoice {
  std::int64_t run = 0;
  std::string split;  ///< "": the one that evaluations end with
  std::string which = "latest", use = "model";
  std::string device = "cpu", precision;  ///< precision "": as the run was trained
};
/// --device and --precision; what they hold is the default.
void addComputeOptions(CommandLine& line, std::string& device, std::string& precision);
/// The run alone: an argument of its own, so that others can come before the options.
void addTrainedRun(CommandLine& line, ModelChoice& choice);
/// \param splitHelp  what the split is for; "": there is no --split
void addModelOptions(CommandLine& line, ModelChoice& choice, const std::string& splitHelp);

}  // namespace vitrine::app
