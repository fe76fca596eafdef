// Preloaded into `vitrine`: takes the place of main(), loads the files that the arguments name, and
// forks for each request; the fork continues in main(). The first file is the engine module.
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>
#include <vector>

#include "tests/app/forks_protocol.h"
#include "tests/support/child.h"

namespace vitrine::test {
namespace {

using Main = int (*)(int, char**, char**);
Main program = nullptr;

void answer(int value) {
  const ssize_t sent = ::send(kForksSocket, &value, sizeof value, MSG_NOSIGNAL);
  if (sent != static_cast<ssize_t>(sizeof value)) ::_exit(1);
}

/// \param texts  of ForksRequest::Start
int start(std::vector<char*> texts) {
  std::array<int, 3> files{};
  files[0] = ::open(texts[0], O_RDONLY | O_CLOEXEC);
  for (const std::size_t i : {std::size_t{1}, std::size_t{2}})
    files[i] = ::open(texts[i], O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (std::any_of(files.begin(), files.end(), [](int file) { return file < 0; })) return -1;
  const pid_t child = forkChild();
  if (child == 0) {
    for (std::size_t stream = 0; stream < files.size(); ++stream)
      ::dup2(files[stream], static_cast<int>(stream));
    ::close(kForksSocket);
    const int count = static_cast<int>(texts.size()) - 3;
    texts.push_back(nullptr);
    std::exit(program(count, texts.data() + 3, environ));
  }
  for (const int file : files) ::close(file);
  return child;
}

int wait(pid_t process) {
  int status = 0;
  while (::waitpid(process, &status, 0) < 0) {
    if (errno != EINTR) return -1;
  }
  return status;
}

int hasEnded(pid_t process) {
  siginfo_t info{};
  return ::waitid(P_PID, static_cast<id_t>(process), &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
                 info.si_pid == process
             ? 1
             : 0;
}

int serve(int count, char** words, char** /*variables*/) {
  ::unsetenv("LD_PRELOAD");
  for (int i = 1; i < count; ++i) {
    const bool isEngine = i == 1;
    void* library = ::dlopen(words[i], RTLD_NOW | (isEngine ? RTLD_GLOBAL : RTLD_LOCAL));
    if (library == nullptr && isEngine) {
      std::fprintf(stderr, "%s\n", ::dlerror());
      return 1;
    }
  }
  answer(0);
  static std::array<char, kMostForksBytes + 1> packet;
  for (;;) {
    const ssize_t size = ::recv(kForksSocket, packet.data(), kMostForksBytes, 0);
    if (size < 0 && errno == EINTR) continue;
    if (size <= 0) ::_exit(0);  // the test has ended
    char* const begin = packet.data() + 1;
    char* const end = packet.data() + size;
    *end = '\0';
    pid_t process = -1;
    if (end - begin == static_cast<std::ptrdiff_t>(sizeof process))
      std::memcpy(&process, begin, sizeof process);
    switch (static_cast<ForksRequest>(packet[0])) {
      case ForksRequest::Start: {
        std::vector<char*> texts;
        for (char* text = begin; text < end; text += std::strlen(text) + 1) texts.push_back(text);
        answer(texts.size() > 3 ? start(std::move(texts)) : -1);
        break;
      }
      case ForksRequest::Wait:
        answer(wait(process));
        break;
      case ForksRequest::Ended:
        answer(hasEnded(process));
        break;
    }
  }
}

}  // namespace
}  // namespace vitrine::test

/// The C library calls main() from here; this one gives it another.
extern "C" __attribute__((visibility("default"))) int __libc_start_main(
    int (*program)(int, char**, char**), int count, char** words, void (*init)(), void (*fini)(),
    void (*unload)(), void* stack) {
  using Start = int (*)(int (*)(int, char**, char**), int, char**, void (*)(), void (*)(),
                        void (*)(), void*);
  vitrine::test::program = program;
  const auto start = reinterpret_cast<Start>(::dlsym(RTLD_NEXT, "__libc_start_main"));
  if (start == nullptr) std::abort();
  return start(vitrine::test::serve, count, words, init, fini, unload, stack);
}
