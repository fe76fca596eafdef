// The verbs of the command line. Light verbs live in the program; those that need LibTorch live in
// a module beside it, which is loaded when one of them is called: `vitrine runs` starts in a tenth
// of the time.
#pragma once

#include <span>
#include <string>
#include <vector>

namespace vitrine::app {

using Arguments = std::vector<std::string>;  ///< what follows the verb

/// Returns the exit code; throws vitrine::Error and its children.
using VerbFunction = int (*)(const Arguments& arguments);

struct Verb {
  const char* name;
  const char* summary;   ///< one line, no full stop
  bool isListed = true;  ///< in `vitrine --help`; what another verb starts is not
};

/// Every verb, in the order in which `vitrine --help` lists them.
[[nodiscard]] std::span<const Verb> allVerbs();

// In the program.
int runRuns(const Arguments& arguments);
int runShow(const Arguments& arguments);
int runCompare(const Arguments& arguments);
int runQuery(const Arguments& arguments);
int runSearch(const Arguments& arguments);
int runStop(const Arguments& arguments);
int runPause(const Arguments& arguments);
int runQueue(const Arguments& arguments);
int runWork(const Arguments& arguments);
int runMove(const Arguments& arguments);
int runRetry(const Arguments& arguments);
int runDelete(const Arguments& arguments);
int runTrash(const Arguments& arguments);
int runNote(const Arguments& arguments);
int runTag(const Arguments& arguments);
int runExport(const Arguments& arguments);
int runImport(const Arguments& arguments);
int runDb(const Arguments& arguments);
int runServe(const Arguments& arguments);
int runDoctor(const Arguments& arguments);

// In the engine module.
int runPlugins(const Arguments& arguments);
int runDescribe(const Arguments& arguments);
int runCheck(const Arguments& arguments);
int runTrain(const Arguments& arguments);
int runEnqueue(const Arguments& arguments);
int runRun(const Arguments& arguments);
int runResume(const Arguments& arguments);
int runAnalyse(const Arguments& arguments);
int runEvaluate(const Arguments& arguments);
int runInfer(const Arguments& arguments);
int runSample(const Arguments& arguments);
int runCompute(const Arguments& arguments);
int runDemo(const Arguments& arguments);

/// Runs one verb and turns what it throws into one sentence on stderr and an exit code.
[[nodiscard]] int guarded(VerbFunction run, const Arguments& arguments);

}  // namespace vitrine::app
