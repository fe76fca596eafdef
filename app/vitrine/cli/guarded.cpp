// The one place where the program catches: an exception becomes a sentence on stderr and an exit
// code.
#include <cstdio>
#include <new>

#include "app/vitrine/cli/command_line.h"
#include "core/base/error.h"
#include "core/base/log.h"

namespace vitrine::app {

namespace {

int sayAndReturn(const char* what, ExitCode code) {
  std::string sentence = what;
  // LibTorch's own exceptions carry a backtrace after the first line.
  if (code == ExitCode::Failed) sentence = sentence.substr(0, sentence.find('\n'));
  log::error(sentence);
  return static_cast<int>(code);
}

}  // namespace

int guarded(VerbFunction run, const Arguments& arguments) {
  try {
    const int code = run(arguments);
    if (std::fflush(stdout) != 0) throw Error("the result could not be written to standard output");
    return code;
  } catch (const HelpAsked& help) {
    std::fputs(help.text.c_str(), stdout);
    return static_cast<int>(ExitCode::Done);
  } catch (const Error& problem) {
    return sayAndReturn(problem.what(), problem.code());
  } catch (const std::bad_alloc&) {
    return sayAndReturn("out of memory; take a smaller model or batch", ExitCode::Failed);
  } catch (const std::exception& problem) {
    return sayAndReturn(problem.what(), ExitCode::Failed);
  }
}

}  // namespace vitrine::app
