// The real program as a subprocess, and the folder that the tests of this room share.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/base/json.h"

namespace vitrine::test {

struct Ended {
  int code = -1;  ///< exit code; 128 + number when a signal ended it
  std::string out, err;
  /// stdout as JSON; a test failure when it is none.
  [[nodiscard]] Json json() const;
};

/// A running `vitrine VERB ...`, with a data and cache home of its own.
class Program {
 public:
  explicit Program(const std::vector<std::string>& arguments, const std::string& input = "");
  ~Program();  ///< kills it when it still runs
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  void signal(int number) const;
  /// Whether none of these signals waits for it any more.
  [[nodiscard]] bool hasTaken(int number) const;
  /// What the system says in this file of the process: "status", "smaps".
  [[nodiscard]] std::string fileOfSystem(const std::string& name) const;
  /// Waits until stderr holds `text`. \returns false after two minutes or when the program ended
  /// without it
  [[nodiscard]] bool waitForError(const std::string& text) const;
  [[nodiscard]] Ended wait();

 private:
  int pid_ = -1;
  std::filesystem::path out_, err_;
};

/// An environment variable of the programs that start while it lives.
class Variable {
 public:
  /// \param value  none: the variable is not set
  Variable(const char* name, const std::optional<std::string>& value);
  ~Variable();
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  void set(const std::optional<std::string>& value) const;

  const char* name_;
  std::optional<std::string> before_;
};

/// Names the devices of this process: its queues and those of another process do not wait for each
/// other.
[[nodiscard]] std::string deviceLocks();

/// Runs to its end.
[[nodiscard]] Ended vitrine(const std::vector<std::string>& arguments,
                            const std::string& input = "");

/// Shared by all tests of this room: images, experiment, database of four finished runs. Made by
/// Prepare.
[[nodiscard]] std::filesystem::path sharedFolder();
[[nodiscard]] std::string sharedDatabase();
/// `vitrine WORDS --db DATABASE` of it.
[[nodiscard]] Ended onShared(std::vector<std::string> words);
[[nodiscard]] std::string sharedExperiment();  ///< two variants with two seeds each
[[nodiscard]] std::string sharedSingle();      ///< the first variant alone, one run
/// Text of an experiment whose model cannot be built: its cells do not divide its tokens.
[[nodiscard]] std::string undividedCells();

/// A new folder for one test, removed at its end.
class Scratch {
 public:
  Scratch();
  Scratch(const Scratch& other);  ///< a new folder with the same files
  Scratch& operator=(const Scratch&) = delete;
  ~Scratch();
  [[nodiscard]] std::string path(const std::string& name) const {
    return (folder_ / name).string();
  }

 private:
  std::filesystem::path folder_;
};

/// A copy of the shared database that a test may change.
class Copy : public Scratch {
 public:
  Copy();
  [[nodiscard]] std::string database() const { return path("runs.sqlite"); }
  [[nodiscard]] Ended run(std::vector<std::string> words) const;
};

/// IDX files of `train` and `test` images of 8 x 8 pixels; a bright quarter tells classes 0 to 3
/// apart.
void writeImages(const std::filesystem::path& folder, int train, int test);
void writeText(const std::filesystem::path& file, const std::string& text);
[[nodiscard]] std::string readText(const std::filesystem::path& file);

}  // namespace vitrine::test
