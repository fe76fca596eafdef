// vitrine: the headless program. Finds the verb, runs it, returns its exit code.
#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <filesystem>

#include "app/vitrine/cli/compute_process.h"
#include "app/vitrine/cli/output.h"
#include "app/vitrine/cli/verb.h"
#include "app/vitrine/engine_module.h"
#include "core/base/cpu_path.h"
#include "core/base/error.h"
#include "core/base/joined.h"
#include "core/base/log.h"
#include "core/base/text.h"

namespace vitrine::app {

namespace {

struct ProgramVerb {
  const char* name;
  VerbFunction run;  ///< nullptr: the engine module has it
};

#define RUN_program(name) name##Verb
#define RUN_engine(name) nullptr
#define VERB(name, part, visibility, summary) {#name, RUN_##part(name)},
constexpr ProgramVerb kProgramVerbs[] = {
#include "app/vitrine/cli/verbs.def"
};
#undef VERB

constexpr const char* kUsage =
    "vitrine VERB [ARGUMENTS]: a workbench for vision-model experiments\n\n"
    "Everywhere: --db FILE names the experiment database, --json prints the result as JSON, --help "
    "explains\n"
    "a verb. Results go to stdout, progress and messages to stderr.\n\nVerbs:\n";

constexpr const char* kExitCodes =
    "\nExit codes: 0 done, 1 failed, 2 bad usage or configuration, 3 not found, 4 refused, 75 "
    "interrupted but\n"
    "resumable, 130 second Ctrl-C.\n"
    "\nExamples:\n  vitrine check experiments/vit/quick.toml\n  vitrine train "
    "experiments/vit/quick.toml train.seed=1\n";

std::string usage() {
  std::string text = kUsage;
  for (const Verb& verb : allVerbs()) {
    if (!verb.isListed) continue;
    const std::string name = verb.name;
    text += "  " + name + std::string(10 - std::min<std::size_t>(name.size(), 9), ' ') +
            verb.summary + "\n";
  }
  return text + kExitCodes;
}

const Verb* findVerb(const std::string& name) {
  for (const Verb& verb : allVerbs()) {
    if (name == verb.name) return &verb;
  }
  return nullptr;
}

int unknownVerb(const std::string& name, const Arguments& arguments) {
  std::vector<std::string> names;
  for (const Verb& verb : allVerbs()) {
    if (verb.isListed) names.emplace_back(verb.name);
  }
  const std::string close = nearest(name, names);
  return reportError("there is no verb '" + name + "'" +
                         (close.empty() ? "." : "; did you mean '" + close + "'?") +
                         " Known verbs: " + joined(names),
                     ExitCode::BadUsage, arguments);
}

/// Loads the module that brings LibTorch, runs one of its verbs and ends the process.
/// \param words  the arguments of main()
int runInEngine(const std::string& verb, const Arguments& arguments, char** words) {
  namespace fs = std::filesystem;
  const fs::path folder = fs::read_symlink("/proc/self/exe").parent_path().parent_path();
  fs::path file = folder / "lib/vitrine" / kEngineModuleFile;
  if (!fs::exists(file)) file = folder / VITRINE_LIBDIR "/vitrine" / kEngineModuleFile;
  becomeComputeProcess(words);
  void* module = ::dlopen(file.c_str(), RTLD_NOW | RTLD_GLOBAL);
  if (module == nullptr) throw Error(std::string("the engine cannot be loaded: ") + ::dlerror());
  auto* entry = reinterpret_cast<EngineEntry>(::dlsym(module, kEngineEntryName));
  if (entry == nullptr)
    throw Error(file.string() + " is not this program's engine module; install Vitrine again");
  const int code = entry(verb, arguments);
#ifndef __SANITIZE_ADDRESS__  // it looks for leaks at the usual end
  // All is written; taking LibTorch's tables apart takes a tenth of a second.
  ::_exit(code);
#endif
  return code;
}

int show(const std::string& text) {
  print(text);
  flushPrinted();
  return 0;
}

/// \param given  the arguments of main(), `words` among them
int dispatch(const Arguments& words, char** given) {
  if (words.empty()) {
    std::fputs(usage().c_str(), stderr);
    return static_cast<int>(ExitCode::BadUsage);
  }
  std::string name = words.front();
  Arguments arguments(words.begin() + 1, words.end());
  if (name == "--version" || name == "version") return show("vitrine " VITRINE_VERSION "\n");
  if (name == "help" && !arguments.empty()) {
    name = arguments.front();
    arguments = {"--help"};
  }
  if (name == "--help" || name == "-h" || name == "help") return show(usage());
  const Verb* verb = findVerb(name);
  if (verb == nullptr) return unknownVerb(name, arguments);
  if (name != "doctor")
    static_cast<void>(cpuPath());  // a wrong VITRINE_CPU is said before all else
  for (const ProgramVerb& own : kProgramVerbs) {
    if (name == own.name && own.run != nullptr) return guarded(own.run, arguments);
  }
  return runInEngine(name, arguments, given);
}

}  // namespace

}  // namespace vitrine::app

int main(int argc, char** argv) {
  std::signal(SIGXFSZ, [](int) {});  // a limit on the size of files is an error of write()
  const vitrine::app::Arguments words(argv + 1, argv + argc);
  try {
    return vitrine::app::dispatch(words, argv);
  } catch (const vitrine::Error& error) {
    return vitrine::app::reportError(error.what(), error.code(), words);
  } catch (const std::exception& error) {
    return vitrine::app::reportError(error.what(), vitrine::ExitCode::Failed, words);
  }
}
