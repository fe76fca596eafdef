// The requests of `vitrine serve` that another verb answers, in a process of its own.
#include "app/vitrine/cli/subprocess.h"
#include "app/vitrine/serve/serve_fields.h"
#include "app/vitrine/serve/serve_session.h"
#include "core/base/error.h"
#include "core/base/read_json.h"
#include "core/jobs/launcher.h"
#include "core/jobs/work.h"

namespace vitrine::app {

namespace {

/// The line that a program ended with; `otherwise` where it said nothing.
std::string lastWords(std::string said, const char* otherwise) {
  while (!said.empty() && said.back() == '\n') said.pop_back();
  said.erase(0, said.find_last_of('\n') + 1);
  return said.empty() ? otherwise : said;
}

}  // namespace

void ServeSession::check(const Task& task) {
  const Completed done = runWithInput({jobs::headlessProgram().string(), "check", "-", "--json"},
                                      textOf(task.request, "experiment"));
  // An experiment with problems has a report, too, and an exit code that says so.
  Json report = readJson(done.out);
  if (!report.is_object())
    return fail(task, errorKind(done.code), lastWords(done.err, "it could not be checked"));
  answer(task, {{"report", std::move(report)}});
}

void ServeSession::enqueue(const Task& task) {
  const std::string text = textOf(task.request, "experiment");
  const std::filesystem::path program = jobs::headlessProgram();
  std::vector<std::string> command{
      program.string(), "enqueue", "-",
      "--json",         "--db",    std::filesystem::absolute(database_).string()};
  if (flagOf(task.request, "front")) command.emplace_back("--front");
  if (flagOf(task.request, "needed")) command.emplace_back("--needed");
  for (std::string& override : textsOf(task.request, "overrides")) {
    if (override.empty() || override.front() == '-')
      throw BadRequest("'overrides' has to be a list of texts, KEY=VALUE each");
    command.push_back(std::move(override));
  }
  const Completed done = runWithInput(command, text);
  if (done.code != 0)
    return fail(task, errorKind(done.code), lastWords(done.err, "nothing was enqueued"));
  const Json report = readJson(done.out);
  if (!report.is_object() || !report.contains("ids"))
    throw Error("'" + program.string() + " enqueue' gave no ids");
  jobs::attendQueue(database_, program);
  answer(task, {{"ids", report.at("ids")}});
}

}  // namespace vitrine::app
