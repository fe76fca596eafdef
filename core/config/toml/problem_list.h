// The problems of one text, each once, with a limit. Internal to core/config.
#pragma once

#include <string>
#include <unordered_set>
#include <vector>

#include "core/config/toml/node.h"
#include "core/config/toml/problem.h"

namespace vitrine {

using Code = ProblemCode;

/// Part of an entry that a problem points at.
enum class At { Key, Value };
inline constexpr At kAtKey = At::Key, kAtValue = At::Value;

class ProblemList {
 public:
  explicit ProblemList(std::string fileName) : fileName_(std::move(fileName)) {}

  /// `where` may be null: the text says nothing there.
  void add(const Node* where, At at, Code code, const std::string& key, const std::string& message,
           const std::string& nearest = "", const std::string& item = "");
  void addAt(int line, int column, Code code, const std::string& key, const std::string& message);
  [[nodiscard]] bool isEmpty() const noexcept { return problems_.empty(); }
  [[nodiscard]] bool isFull() const noexcept { return isFull_; }
  /// In the order of the text, those of the command line last.
  [[nodiscard]] std::vector<Problem> take();

 private:
  void addOnce(Problem problem);

  std::string fileName_;
  std::vector<Problem> problems_;
  std::unordered_set<std::string> seen_;
  bool isFull_ = false;
};

}  // namespace vitrine
