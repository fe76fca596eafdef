#include "tests/app/forks.h"

#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "app/vitrine/engine_module.h"
#include "tests/app/forks_protocol.h"

namespace vitrine::test {

namespace fs = std::filesystem;

namespace {

std::vector<char*> pointersTo(std::vector<std::string>& texts) {
  std::vector<char*> out;
  for (std::string& text : texts) out.push_back(text.data());
  out.push_back(nullptr);
  return out;
}

/// The program, the engine module and the plugins of its folder.
std::vector<std::string> serverWords() {
  const fs::path libraries =
      fs::path(VITRINE_PROGRAM).parent_path().parent_path() / "lib" / "vitrine";
  std::vector<std::string> words{VITRINE_PROGRAM,
                                 (libraries / app::kEngineModuleFile).string()};
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(libraries / "plugins", error)) {
    if (entry.path().extension() == ".so") words.push_back(entry.path().string());
  }
  std::sort(words.begin() + 2, words.end());
  return words;
}

std::string requestOf(ForksRequest kind, pid_t process) {
  std::string request(1 + sizeof process, static_cast<char>(kind));
  std::memcpy(request.data() + 1, &process, sizeof process);
  return request;
}

}  // namespace

Forks* Forks::with(std::vector<std::string> variables) {
  std::sort(variables.begin(), variables.end());
  static Forks forks(variables);
  return forks.socket_ >= 0 && forks.variables_ == variables ? &forks : nullptr;
}

Forks::Forks(const std::vector<std::string>& variables) : variables_(variables) {
  // A sanitizer wants to be the library that is loaded first.
  if (std::string_view(VITRINE_FORKS).empty() || std::getenv("LD_PRELOAD") != nullptr) return;
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0) return;
  std::vector<std::string> words = serverWords(), preloading = variables;
  preloading.emplace_back("LD_PRELOAD=" VITRINE_FORKS);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], kForksSocket);
  const int failed = ::posix_spawn(&server_, VITRINE_PROGRAM, &actions, nullptr,
                                   pointersTo(words).data(), pointersTo(preloading).data());
  posix_spawn_file_actions_destroy(&actions);
  ::close(ends[1]);
  if (failed != 0) server_ = -1;
  socket_ = ends[0];
  if (failed == 0 && answer() == 0) return;
  std::fprintf(stderr, "none can be forked here: each program is started by itself\n");
  ::close(socket_);
  socket_ = -1;
}

Forks::~Forks() {
  if (socket_ >= 0) {
    ::shutdown(socket_, SHUT_RDWR);  // which ends it
    ::close(socket_);
  }
  if (server_ > 0) ::waitpid(server_, nullptr, 0);
}

int Forks::answer() const {
  int value = -1;
  ssize_t size = 0;
  do {
    size = ::recv(socket_, &value, sizeof value, 0);
  } while (size < 0 && errno == EINTR);
  return size == static_cast<ssize_t>(sizeof value) ? value : -1;
}

int Forks::ask(const std::string& request) const {
  const bool isSent = request.size() <= kMostForksBytes &&
                      ::send(socket_, request.data(), request.size(), MSG_NOSIGNAL) ==
                          static_cast<ssize_t>(request.size());
  return isSent ? answer() : -1;
}

pid_t Forks::start(const std::string& in, const std::string& out, const std::string& err,
                   const std::vector<std::string>& words) {
  std::string request(1, static_cast<char>(ForksRequest::Start));
  for (const std::string* text : {&in, &out, &err}) request += *text + '\0';
  for (const std::string& word : words) request += word + '\0';
  return ask(request);
}

int Forks::wait(pid_t process) { return ask(requestOf(ForksRequest::Wait, process)); }

bool Forks::hasEnded(pid_t process) {
  return ask(requestOf(ForksRequest::Ended, process)) == 1;
}

}  // namespace vitrine::test
