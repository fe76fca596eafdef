// The requests of `vitrine serve` that another verb answers, in a process of its own.
#include "app/vitrine/serve/serve_fields.h"
#include "app/vitrine/serve/serve_session.h"
#include "core/base/cell_text.h"
#include "core/base/error_json.h"
#include "core/base/program.h"
#include "core/base/read_json.h"
#include "core/base/text.h"
#include "core/jobs/launcher.h"
#include "core/jobs/work.h"

namespace vitrine::app {

namespace {

/// In a session of its own: what ends that of the server does not end it.
ProgramEnd runApart(std::vector<std::string> arguments, const std::string& input) {
  return runProgram({.arguments = std::move(arguments), .isOwnSession = true}, input);
}

struct Failure {
  std::string kind, message;
};
/// The error that a verb reported; `otherwise` where it wrote nothing.
Failure failureOf(const ProgramEnd& program, const Json& output, const char* otherwise) {
  if (auto error = reportedError(output))
    return {std::move(error->code), std::move(error->message)};
  const std::string line = lastLine(program.err);
  return {errorWord(static_cast<ExitCode>(program.code)), line.empty() ? otherwise : line};
}

}  // namespace

void ServeSession::check(const Task& task) {
  const ProgramEnd done = runApart({jobs::headlessProgram().string(), "check", "-", "--json"},
                                   textOf(task.request, "experiment"));
  // An experiment with problems has a report, too, and an exit code that says so.
  Json report = readJson(done.out);
  if (!report.is_object() || reportedError(report)) {
    const Failure failure = failureOf(done, report, "it could not be checked");
    return fail(task, failure.kind, failure.message);
  }
  answer(task, {{"report", std::move(report)}});
}

void ServeSession::enqueue(const Task& task) {
  const bool isPlan = task.request.contains("plan");
  const std::string text =
      isPlan ? dumpJson(task.request["plan"]) : textOf(task.request, "experiment");
  const std::filesystem::path program = jobs::headlessProgram();
  std::vector<std::string> command{program.string(), "enqueue", "--json", "--db",
                                   std::filesystem::absolute(database_).string()};
  if (isPlan) command.emplace_back("--plan");
  command.emplace_back("-");
  if (flagOf(task.request, "front")) command.emplace_back("--front");
  if (flagOf(task.request, "needed")) command.emplace_back("--needed");
  for (std::string& override : textsOf(task.request, "overrides")) {
    if (override.empty() || override.front() == '-')
      throw BadRequest("'overrides' has to be a list of texts, KEY=VALUE each");
    command.push_back(std::move(override));
  }
  const ProgramEnd done = runApart(std::move(command), text);
  const Json report = readJson(done.out);
  if (done.code != 0) {
    const Failure failure = failureOf(done, report, "nothing was enqueued");
    return fail(task, failure.kind, failure.message);
  }
  if (!report.is_object() || !report.contains("ids"))
    throw Error("'" + program.string() + " enqueue' gave no ids");
  jobs::startQueueWorker(database_, program);
  answer(task, {{"ids", report.at("ids")}});
}

}  // namespace vitrine::app
