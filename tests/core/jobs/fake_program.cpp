// Stands in for the headless program. `run` says what it was given, who it is and waits for
// SIGTERM; `describe` counts its calls in the file $FAKE_CALLS; `work --supervise` and `work
// --drain` are supervisor and worker as they are.
#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>

#include "core/jobs/run_supervisor.h"
#include "core/jobs/work.h"

namespace {
volatile sig_atomic_t isAsked = 0;
}

int main(int count, char** words) {
  const std::string verb = count > 1 ? words[1] : "";
  if (verb == "describe") {
    std::ofstream(std::getenv("FAKE_CALLS"), std::ios::app) << "x";
    if (std::getenv("FAKE_FAILURE") != nullptr) {
      std::fputs("a plugin is broken\n", stderr);
      return 1;
    }
    std::puts(R"({"items": []})");
    return 0;
  }
  if (verb == "work" && std::string(words[2]) == "--drain") {  // work --drain --db FILE
    vitrine::store::RunStore store(words[4]);
    vitrine::jobs::SystemDevices devices;
    vitrine::jobs::workQueue(store, devices,
                             {.until = vitrine::jobs::WorkUntil::Drained, .program = words[0]});
    return 0;
  }
  if (verb == "work")  // work --supervise N --db FILE ...
    return vitrine::jobs::superviseQueuedRun(words[5], std::atoll(words[3]), words[0], {});
  struct sigaction action {};
  action.sa_handler = [](int) { isAsked = 1; };
  sigaction(SIGTERM, &action, nullptr);
  char byte = 0;
  std::printf("session %d group %d pid %d stdin %zd:", getsid(0), getpgrp(), getpid(),
              read(0, &byte, 1));
  for (int i = 1; i < count; ++i) std::printf(" %s", words[i]);
  const char* visible = std::getenv("CUDA_VISIBLE_DEVICES");
  std::printf(" visible '%s'\n", visible != nullptr ? visible : "");
  std::fflush(stdout);
  std::fputs("this is stderr\n", stderr);
  for (int i = 0; i < 3000 && isAsked == 0; ++i) usleep(10'000);
  std::puts(isAsked != 0 ? "asked to end" : "never asked");
  return 0;
}
