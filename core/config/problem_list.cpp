#include "core/config/problem_list.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace vitrine {

namespace {

// A user reads no more, and a hostile text could ask for millions.
constexpr std::size_t kMostProblems = 1000;
constexpr const char* kCommandLine = "command line";

}  // namespace

std::string Problem::sentence() const {
  std::string text;
  if (!file.empty()) text += file + ":";
  if (line > 0) text += std::to_string(line) + ":" + std::to_string(column) + ":";
  if (!text.empty()) text += " ";
  if (!key.empty()) text += key + ": ";
  text += message;
  if (!nearest.empty()) text += " (did you mean '" + nearest + "'?)";
  return text;
}

Json toJson(const Problem& problem) {
  Json json = Json::object();
  json["file"] = problem.file;
  json["line"] = problem.line;
  json["column"] = problem.column;
  json["key"] = problem.key;
  json["message"] = problem.message;
  json["nearest"] = problem.nearest;
  json["sentence"] = problem.sentence();
  return json;
}

Json problemsJson(const std::vector<Problem>& problems) {
  Json list = Json::array();
  for (const Problem& problem : problems) list.push_back(toJson(problem));
  return list;
}

void ProblemList::add(const Node* where, At at, const std::string& key, const std::string& message,
                      const std::string& nearest) {
  Problem problem{fileName_, 0, 0, key, message, nearest};
  if (where && where->source == Source::CommandLine) {
    problem.file = kCommandLine;
  } else if (where) {
    problem.line = at == At::Key ? where->keyLine : where->line;
    problem.column = at == At::Key ? where->keyColumn : where->column;
  }
  addOnce(std::move(problem));
}

void ProblemList::addAt(int line, int column, const std::string& key, const std::string& message,
                        const std::string& nearest) {
  addOnce({fileName_, line, column, key, message, nearest});
}

void ProblemList::addOnce(Problem problem) {
  if (isFull_) return;
  std::string identity = problem.file + '\n' + std::to_string(problem.line) + ':' +
                         std::to_string(problem.column) + '\n' + problem.key + '\n' +
                         problem.message;
  if (!seen_.insert(std::move(identity)).second) return;
  problems_.push_back(std::move(problem));
  isFull_ = problems_.size() >= kMostProblems;
}

std::vector<Problem> ProblemList::take() {
  std::stable_sort(problems_.begin(), problems_.end(), [](const Problem& a, const Problem& b) {
    return std::tuple(a.file == kCommandLine, a.line, a.column) <
           std::tuple(b.file == kCommandLine, b.line, b.column);
  });
  if (isFull_)
    problems_.push_back(
        {fileName_, 0, 0, "", "there are more problems; these are the first 1000", ""});
  return std::move(problems_);
}

}  // namespace vitrine
