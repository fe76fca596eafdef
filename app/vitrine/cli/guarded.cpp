// The one place where the program catches: an exception becomes a sentence on stderr, with --json
// an object on stdout, and an exit code.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <new>

#include "app/vitrine/cli/command_line.h"
#include "app/vitrine/cli/output.h"
#include "core/base/error_json.h"
#include "core/base/log.h"
#include "core/base/text.h"

namespace vitrine::app {

namespace {

int fail(const char* what, const Arguments& arguments) {
  // LibTorch's own exceptions carry a backtrace after the first line.
  return reportError(firstLine(what), ExitCode::Failed, arguments);
}

}  // namespace

int reportError(const std::string& message, ExitCode code, const Arguments& arguments) {
  log::error(message);
  const bool wantsJson = std::count(arguments.begin(), arguments.end(), "--json") > 0;
  // A second document behind a result could not be parsed.
  if (wantsJson && !hasPrinted()) {
    print(errorJson(code, message));
    std::fflush(stdout);
  }
  return static_cast<int>(code);
}

int guarded(VerbFunction run, const Arguments& arguments) {
  try {
    int code = static_cast<int>(ExitCode::Done);
    try {
      code = run(arguments);
    } catch (const HelpRequested& help) {
      print(help.text);
    }
    flushPrinted();
    return code;
  } catch (const Error& error) {
    if (error.code() == ExitCode::Failed) return fail(error.what(), arguments);
    return reportError(error.what(), error.code(), arguments);
  } catch (const std::filesystem::filesystem_error& error) {
    const std::string path = error.path1().string();
    return reportError("cannot use '" + path + "': " + error.code().message(), ExitCode::Failed,
                       arguments);
  } catch (const std::bad_alloc&) {
    return fail("out of memory; take a smaller model or batch", arguments);
  } catch (const std::exception& error) {
    return fail(error.what(), arguments);
  }
}

}  // namespace vitrine::app
