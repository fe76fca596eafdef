#include "core/config/toml/problem_list.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace vitrine {

namespace {

// A user reads no more, and a hostile text could ask for millions.
constexpr std::size_t kMostProblems = 1000;
constexpr const char* kCommandLine = "command line";

}  // namespace

void ProblemList::add(const Node* where, At at, Code code, const std::string& key,
                      const std::string& message, const std::string& nearest,
                      const std::string& item) {
  Problem problem{code, item, fileName_, 0, 0, key, message, nearest};
  if (where && where->source == Source::CommandLine) {
    problem.file = kCommandLine;
  } else if (where) {
    problem.line = at == At::Key ? where->keyLine : where->line;
    problem.column = at == At::Key ? where->keyColumn : where->column;
  }
  addOnce(std::move(problem));
}

void ProblemList::addAt(int line, int column, Code code, const std::string& key,
                        const std::string& message) {
  addOnce({code, "", fileName_, line, column, key, message, ""});
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
    problems_.push_back({Code::TooMany, "", fileName_, 0, 0, "",
                         "there are more problems; these are the first 1000", ""});
  return std::move(problems_);
}

}  // namespace vitrine
