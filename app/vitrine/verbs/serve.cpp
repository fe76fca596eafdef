// vitrine serve: the worker at the other end of a pipe, here or behind ssh.
#include <unistd.h>

#include <csignal>

#include "app/vitrine/cli/open_store.h"
#include "app/vitrine/cli/quantities.h"
#include "app/vitrine/serve/serve_session.h"
#include "core/base/error.h"
#include "core/base/log.h"

namespace vitrine::app {

int serveVerb(const Arguments& arguments) {
  CommandLine line("serve", {"vitrine serve --db lab.sqlite",
                             "ssh lab vitrine serve --db lab.sqlite   # the same, on the other "
                             "machine"});
  line.app().footer(line.app().get_footer() +
                    "\n\nRequests come in on standard input, answers go out on standard output: "
                    "frames of a length and a CBOR map, described in resources/docs/serve.md.");
  std::string idleMinutes = "10", modelMemory;
  line.app()
      .add_option("--idle-minutes", idleMinutes,
                  "models unused for this long may be unloaded for others")
      ->capture_default_str()
      ->check(CLI::NonNegativeNumber)
      ->type_name("MINUTES");
  line.app()
      .add_option("--model-memory", modelMemory,
                  "memory that all loaded models may take: 8GB, 500MB (default: the free memory of "
                  "the machine)")
      ->type_name("SIZE");
  line.parse(arguments);
  std::vector<std::string> computeOptions{"--idle-minutes", idleMinutes};
  if (!modelMemory.empty()) {
    const std::int64_t bytes = parseBytes(modelMemory);
    if (bytes == 0)
      throw ConfigError("--model-memory " + modelMemory +
                        " leaves models no memory; give more, or leave it out for no limit");
    computeOptions.insert(computeOptions.end(), {"--model-memory", std::to_string(bytes)});
  }
  // A reader that is gone is an error of write(), and no reason to end before what was accepted is
  // done. Handlers of nothing, for what is ignored stays ignored in every process started from
  // here.
  std::signal(SIGPIPE, [](int) {});
  std::signal(SIGHUP, [](int) {});
  // Whatever else prints must not come between two frames.
  const int out = ::dup(STDOUT_FILENO);
  ::dup2(STDERR_FILENO, STDOUT_FILENO);
  remote::FrameWriter writer(out);
  { (void)openStore(line, Missing::Create); }
  ServeSession session(databaseOf(line), writer, computeOptions);
  for (;;) {
    std::optional<std::vector<std::uint8_t>> frame;
    try {
      frame = remote::readFrame(STDIN_FILENO);
    } catch (const remote::BrokenStream& error) {
      writer.write({{"id", nullptr}, {"error", {{"kind", "protocol"}, {"message", error.what()}}}});
      log::error(error.what());
      return static_cast<int>(ExitCode::Failed);
    }
    if (!frame) return 0;
    Json request;
    try {
      request = remote::frameMap(*frame);
    } catch (const std::invalid_argument& error) {
      writer.write({{"id", nullptr}, {"error", {{"kind", "protocol"}, {"message", error.what()}}}});
      continue;
    }
    if (!session.take(request)) return static_cast<int>(ExitCode::BadUsage);
  }
}

}  // namespace vitrine::app
