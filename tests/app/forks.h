// Programs as forks of one process that has loaded LibTorch and the plugins: loading takes a second,
// which is more than most verbs take.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace vitrine::test {

/// The process that is forked; see forks_server.cpp.
class Forks {
 public:
  /// The process is started by the first call. \returns  nullptr where there is none or where it
  /// has other variables: the program is to be started itself
  [[nodiscard]] static Forks* with(std::vector<std::string> variables);
  ~Forks();
  Forks(const Forks&) = delete;
  Forks& operator=(const Forks&) = delete;

  /// \param words  of main(), the program first \returns  the process, -1 where there is none
  [[nodiscard]] pid_t start(const std::string& in, const std::string& out, const std::string& err,
                            const std::vector<std::string>& words);
  /// waitpid(2) for a process of start(). \returns  its status
  [[nodiscard]] int wait(pid_t process);
  /// Whether wait() would return at once.
  [[nodiscard]] bool hasEnded(pid_t process);

 private:
  explicit Forks(const std::vector<std::string>& variables);
  /// \returns  -1 where there is none
  [[nodiscard]] int answer() const;
  [[nodiscard]] int ask(const std::string& request) const;

  std::vector<std::string> variables_;  ///< in alphabetical order
  pid_t server_ = -1;
  int socket_ = -1;
};

}  // namespace vitrine::test
