// vitrine report: experiments as one HTML or PDF file that needs nothing else.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <set>

#include "app/vitrine/cli/open_store.h"
#include "app/vitrine/cli/output.h"
#include "app/vitrine/cli/quantities.h"
#include "app/vitrine/report/report_page.h"
#include "core/base/error.h"
#include "core/base/joined.h"
#include "core/base/text.h"
#include "core/files/checkpoint_folder.h"

namespace vitrine::app {

namespace {

namespace fs = std::filesystem;

using Experiments = std::vector<std::vector<store::RunRow>>;

constexpr double kDay = 86'400;  // seconds

enum class ReportForm { Html, Pdf };

/// \throws ConfigError  it is not the name of an HTML or PDF file
ReportForm formOf(const std::string& file) {
  const std::string ending = lowerCase(fs::path(file).extension().string());
  if (ending == ".html" || ending == ".htm") return ReportForm::Html;
  if (ending == ".pdf") return ReportForm::Pdf;
  throw ConfigError("'" + file +
                    "' does not name an HTML or PDF file; end the command with the file to write, "
                    "as in `vitrine report EXPERIMENT report.html`");
}

/// Grouped by experiment, in the order in which the runs are given, each once.
Experiments experimentsOf(store::RunReader& store, const std::vector<std::int64_t>& ids) {
  Experiments experiments;
  std::set<std::int64_t> known;
  for (const std::int64_t id : ids) {
    if (!known.insert(id).second) continue;
    store::RunRow row = store.run(id);
    const auto found = std::find_if(experiments.begin(), experiments.end(), [&](const auto& rows) {
      return rows.front().experimentId == row.experimentId;
    });
    if (found == experiments.end()) {
      experiments.push_back({std::move(row)});
    } else {
      found->push_back(std::move(row));
    }
  }
  return experiments;
}

}  // namespace

int reportVerb(const Arguments& arguments) {
  CommandLine line("report", {"vitrine report \"iLLaMA roadmap, laptop size\" roadmap.html",
                              "vitrine report --run 3,4 runs.pdf"});
  std::vector<std::string> words;
  std::vector<std::int64_t> runs;
  std::string title, claims;
  PartOptions options;
  line.app()
      .add_option("experiment", words,
                  "titles or numbers of experiments, then the HTML or PDF file to write")
      ->type_name("EXPERIMENT... FILE");
  line.app()
      .add_option("--run", runs, "these runs instead of whole experiments")
      ->delimiter(',')
      ->check(runNumberProblem)
      ->allow_extra_args(false)
      ->type_name("ID[,ID]");
  line.app()
      .add_option("--title", title, "of the report (default: that of the first experiment)")
      ->type_name("TEXT");
  line.app()
      .add_option("--claims", claims,
                  "judge the claims of this file (default: claims.toml next to the experiment)")
      ->type_name("FILE");
  line.app()
      .add_option("--images", options.mostImages, "generated images of each run, at most")
      ->capture_default_str()
      ->check(CLI::Range(0, 1'000'000))
      ->type_name("N");
  std::string chartTime = "2m";
  line.app()
      .add_option("--chart-time", chartTime, "time for drawing one chart; it is left out after it")
      ->capture_default_str()
      ->type_name("TIME");
  bool isWithoutCharts = false;
  line.app().add_flag("--no-charts", isWithoutCharts, "tables, texts and generated images alone");
  line.parse(arguments);
  if (words.empty() || (words.size() == 1 && runs.empty() && !fs::path(words[0]).has_extension())) {
    throw ConfigError(
        "report needs an EXPERIMENT, by title or number, or --run ID, and then the file to "
        "write");
  }
  const std::string file = words.back();
  words.pop_back();
  const ReportForm form = formOf(file);
  if (form == ReportForm::Pdf && !fs::exists(studioProgram())) {
    throw RefusedError(
        "a PDF report is printed by vitrine-studio, which is not installed here; "
        "write an .html file and print it from a browser");
  }
  if (words.empty() == runs.empty()) {
    throw ConfigError(words.empty() ? "report needs an EXPERIMENT before the file, or --run ID"
                                    : "report takes either an EXPERIMENT or --run ID, not both");
  }
  if (!claims.empty()) options.claims = claims;
  options.reportName = fs::path(file).filename().string();

  store::RunStore store = openStoreForReading(line);
  for (const std::string& word : words) {
    for (const store::RunRow& row : runsOfExperiment(store, word)) runs.push_back(row.id);
  }
  const Experiments experiments = experimentsOf(store, runs);
  if (title.empty()) title = experiments.front().front().experiment;
  FigureDrawer figures(
      fs::absolute(store.file()),
      isWithoutCharts ? FigureDrawer::Charts::LeftOut : FigureDrawer::Charts::Drawn,
      std::chrono::milliseconds(
          std::llround(std::min(parseDuration("--chart-time", chartTime), kDay) * 1000)));
  const std::string page = reportPage(store, experiments, title, options, figures);
  if (form == ReportForm::Pdf) {
    figures.print(page, fs::absolute(file));
  } else {
    writeFileAtomically(fs::absolute(file), page);
  }
  if (line.wantsJson()) {
    print(Json{{"file", fs::absolute(file).string()},
               {"bytes", fs::file_size(fs::absolute(file))},
               {"experiments", experiments.size()},
               {"not_drawn", figures.problems()}});
  } else {
    print(fs::absolute(file).string() + "\n");
  }
  return 0;
}

}  // namespace vitrine::app
