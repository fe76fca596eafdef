#include "app/vitrine/run/checkpoint_choice.h"

#include "app/vitrine/cli/open_store.h"
#include "core/base/error.h"
#include "core/base/joined.h"
#include "core/base/log.h"
#include "core/base/parse_number.h"
#include "core/files/checkpoint_folder.h"

namespace vitrine::app {

namespace fs = std::filesystem;

namespace {

std::int64_t stepFrom(const store::RunRow& run, const std::string& which) {
  if (which == "best") {
    if (run.bestCheckpoint < 0)
      throw NotFoundError(nameOf(run) + " has no best checkpoint; take latest or a step");
    return run.bestCheckpoint;
  }
  const auto step = parseNumber<std::int64_t>(which);
  if (!step || *step < 0)
    throw ConfigError("checkpoint '" + which + "' is none of latest, best and a step");
  return *step;
}

/// "" where it is whole.
std::string damageOf(const store::RunRow& run, const CheckpointFolder& checkpoint) {
  const std::string why = verifyCheckpointFolder(checkpoint.folder);
  if (why.empty()) return "";
  return "the checkpoint of step " + std::to_string(checkpoint.step) + " of " + nameOf(run) + ", " +
         checkpoint.folder.string() + ", is not whole: " + why;
}

}  // namespace

fs::path runFolder(const store::RunStore& store, const store::RunRow& run) {
  return store::filesFolder(store.file()) / store::runFolderName(run.uuid);
}

CheckpointChoice chooseCheckpoint(const store::RunStore& store, const store::RunRow& run,
                                  const std::string& which, const std::string& use) {
  if (use != "model" && use != "ema" && use != "auto")
    throw ConfigError("weights '" + use + "' are none of model, ema and auto");
  const fs::path parent = runFolder(store, run);
  CheckpointChoice choice;
  if (which == "latest") {
    std::vector<std::string> leftOut;
    const auto newest = holdNewestCheckpoint(
        parent, [&](const std::string& why) { leftOut.push_back(why); });
    if (!newest) {
      const std::vector<CheckpointFolder> damaged = listCheckpoints(parent);
      const std::string damage = damaged.empty() ? "" : damageOf(run, damaged.back());
      if (!damage.empty())
        throw FileError(damage + "; restore it from a backup or train the run again");
      throw NotFoundError(nameOf(run) + " has no whole checkpoint in " + parent.string() +
                          "; train it first");
    }
    for (const std::string& why : leftOut) log::warning(why);
    choice.step = newest->checkpoint.step;
    choice.folder = newest->checkpoint.folder;
    choice.hold = newest->hold;
  } else {
    choice.step = stepFrom(run, which);
    choice.folder = parent / checkpointName(choice.step);
    if (!fs::exists(choice.folder)) {
      const std::string there = joined(listCheckpoints(parent), [](const CheckpointFolder& other) {
        return std::to_string(other.step);
      });
      throw NotFoundError(nameOf(run) + " has no checkpoint of step " +
                          std::to_string(choice.step) +
                          (there.empty() ? "" : "; there are those of steps " + there));
    }
    choice.hold = std::make_shared<CheckpointHold>(choice.folder);
    if (const std::string damage = damageOf(run, {choice.step, choice.folder}); !damage.empty())
      throw FileError(damage + "; choose another checkpoint");
  }
  const bool isAveraged =
      use == "ema" || (use == "auto" && fs::exists(choice.folder / "ema.safetensors"));
  choice.use = isAveraged ? "ema" : "model";
  choice.weights = choice.folder / (choice.use + ".safetensors");
  if (!fs::exists(choice.weights)) {
    throw NotFoundError(nameOf(run) + " has no averaged weights at step " +
                        std::to_string(choice.step) + "; take the model's own");
  }
  return choice;
}

}  // namespace vitrine::app
