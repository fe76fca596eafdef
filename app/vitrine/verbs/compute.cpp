// vitrine compute: keeps models loaded and computes with them. `vitrine serve` starts it, asks in
// frames on its standard input and ends it by closing that.
#include <sys/prctl.h>
#include <unistd.h>

#include <csignal>
#include <thread>

#include "app/vitrine/cli/open_store.h"
#include "app/vitrine/serve/compute_session.h"
#include "core/base/log.h"

namespace vitrine::app {

namespace {

/// Until the stream ends. \returns  the exit code
int readRequests(ComputeSession& session) {
  int code = 0;
  try {
    while (const auto frame = remote::readFrame(STDIN_FILENO))
      session.take(remote::frameMap(*frame));
  } catch (const std::exception& error) {
    log::error(std::string("the request of serve cannot be read: ") + error.what());
    code = static_cast<int>(ExitCode::Failed);
  }
  session.end();
  return code;
}

}  // namespace

int computeVerb(const Arguments& arguments) {
  CommandLine line("compute", {"vitrine serve --db lab.sqlite",
                               "vitrine compute --db lab.sqlite   # started by serve"});
  ModelLimits limits;
  line.app()
      .add_option("--idle-minutes", limits.idleMinutes,
                  "models unused for this long may be unloaded for others")
      ->capture_default_str()
      ->check(CLI::NonNegativeNumber)
      ->type_name("MINUTES");
  line.app()
      .add_option("--model-memory", limits.memoryBytes,
                  "bytes that all loaded models may take (default: the free memory of the machine)")
      ->check(CLI::PositiveNumber)
      ->type_name("BYTES");
  line.parse(arguments);
  // Without a client the process ends, also in the middle of a step.
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  std::signal(SIGPIPE, [](int) {});
  // Whatever else prints must not come between two frames.
  const int out = ::dup(STDOUT_FILENO);
  ::dup2(STDERR_FILENO, STDOUT_FILENO);
  remote::FrameWriter writer(out);
  Engine engine;
  ComputeSession session(engine, databaseOf(line), limits, writer);
  int code = 0;
  std::thread reader([&] { code = readRequests(session); });
  session.work();
  reader.join();
  return code;
}

}  // namespace vitrine::app
