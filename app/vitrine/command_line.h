// How every verb reads its arguments: CLI11 below, exit code 2 above, two examples at the end of
// each --help.
#pragma once

#include <CLI/CLI.hpp>
#include <array>
#include <string>
#include <vector>

#include "app/vitrine/verb.h"
#include "core/config/experiment.h"

namespace vitrine::app {

/// --help was asked for: the text to print on stdout; exit 0.
struct HelpAsked {
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
  /// \throws ConfigError  arguments that do not fit; HelpAsked
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

/// \throws ConfigError  one of them is no key=value
[[nodiscard]] std::vector<Override> parseOverrides(const std::vector<std::string>& texts);

}  // namespace vitrine::app
