#include "app/vitrine/cli/command_line.h"

#include "core/base/error.h"
#include "core/base/parse_number.h"
#include "core/base/text.h"

namespace vitrine::app {

namespace {

std::string summaryOf(const std::string& name) {
  for (const Verb& verb : allVerbs()) {
    if (name == verb.name) return verb.summary;
  }
  return "";
}

}  // namespace

CommandLine::CommandLine(const std::string& verb, const std::array<const char*, 2>& examples,
                         Csv csv)
    : verb_(verb), app_(summaryOf(verb), "vitrine " + verb) {
  app_.footer(std::string("Examples:\n  ") + examples[0] + "\n  " + examples[1]);
  app_.add_option("--db", database_,
                  "experiment database (default: $VITRINE_DB, else the user's own)")
      ->check([](const std::string& file) {
        // A variable of a script that is not set: not the user's own database instead.
        return std::string(file.empty() ? "names no file; leave it out for your own database" : "");
      })
      ->type_name("FILE");
  app_.add_flag("--json", json_, "print the result as JSON");
  if (csv == Csv::Offered) app_.add_flag("--csv", csv_, "print the result as CSV");
}

void CommandLine::parse(const Arguments& arguments) {
  // CLI11 takes them from the back.
  std::vector<std::string> reversed(arguments.rbegin(), arguments.rend());
  try {
    app_.parse(std::move(reversed));
  } catch (const CLI::CallForHelp&) {
    throw HelpRequested{app_.help()};
  } catch (const CLI::ParseError& error) {
    std::string what = error.what();
    constexpr std::string_view kNotConverted = "Could not convert: ";  // texts always fit
    if (what.starts_with(kNotConverted))
      what = shorten(what.substr(kNotConverted.size()), 100) + " is not a number";
    throw ConfigError("vitrine " + verb_ + ": " + what + "; see `vitrine " + verb_ + " --help`");
  }
  if (json_ && csv_)
    throw ConfigError("vitrine " + verb_ + ": --json and --csv exclude each other; give one");
}

CLI::Option* addExperiment(CommandLine& line, ExperimentChoice& choice) {
  CLI::Option* file = line.app()
                          .add_option("file", choice.file, "an experiment; - reads standard input")
                          ->required()
                          ->type_name("FILE");
  line.app()
      .add_option("overrides", choice.overrides,
                  "values that win over the file: model.depth=6 train.epochs=2")
      ->type_name("KEY=VALUE");
  return file;
}

std::string runNumberProblem(const std::string& word) {
  const auto id = parseNumber<std::int64_t>(word);
  if (id && *id > 0 && std::to_string(*id) == word) return {};
  return "'" + shorten(word, 60) + "' is not the number of a run, as `vitrine runs` lists them";
}

void addRunId(CommandLine& line, std::int64_t& id, const std::string& name) {
  line.app()
      .add_option(name, id, "the run, as `vitrine runs` lists it")
      ->required()
      ->check(runNumberProblem)
      ->type_name("ID");
}

void addTrainedRun(CommandLine& line, ModelChoice& choice) {
  line.app()
      .add_option("run", choice.run, "the run, as `vitrine runs` lists it")
      ->required()
      ->check(runNumberProblem)
      ->type_name("RUN");
}

void addComputeOptions(CommandLine& line, std::string& device, std::string& precision) {
  line.app()
      .add_option("--device", device, "auto, cpu, cuda or cuda:N")
      ->capture_default_str()
      ->type_name("DEVICE");
  line.app()
      .add_option("--precision", precision,
                  "fp32, bf16 or fp16" +
                      std::string(precision.empty() ? " (default: as the run was trained)" : ""))
      ->type_name("PRECISION");
}

void addModelOptions(CommandLine& line, ModelChoice& choice, const std::string& splitHelp) {
  addComputeOptions(line, choice.device, choice.precision);
  if (!splitHelp.empty()) {
    line.app()
        .add_option("--split", choice.split,
                    splitHelp + " (default: test, or validation where the data have no test split)")
        ->type_name("SPLIT");
  }
  line.app()
      .add_option("--checkpoint", choice.which, "latest, best or a step")
      ->capture_default_str()
      ->type_name("WHICH");
  line.app()
      .add_option("--use", choice.use,
                  "model, ema for the averaged weights, or auto: averaged where the run has them")
      ->capture_default_str()
      ->type_name("WEIGHTS");
}

}  // namespace vitrine::app
