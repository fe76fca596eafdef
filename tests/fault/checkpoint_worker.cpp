// Saves one checkpoint as a trainer does and removes the older ones, without LibTorch: what is
// killed at every one of its system calls.
//
//   checkpoint_worker FOLDER STEP [--stop]     --stop: raises SIGSTOP before the save begins
#include <signal.h>

#include <cstdio>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/files/checkpoint_folder.h"
#include "core/files/checkpoint_use.h"
#include "core/files/safetensors.h"

int main(int count, char** words) {
  using namespace vitrine;
  if (count < 3) return 2;
  const std::filesystem::path folder = words[1];
  const std::int64_t step = std::stoll(words[2]);
  if (count > 3 && std::strcmp(words[3], "--stop") == 0) ::raise(SIGSTOP);
  try {
    const CheckpointWriterLock lock(folder);
    const std::vector<std::byte> bytes(4096, static_cast<std::byte>(step % 251));
    const auto write = [&](const std::filesystem::path& into) {
      writeSafetensors(into / "model.safetensors", {{"w", "F32", {1024}, bytes}});
      writeSafetensors(into / "optimizer.safetensors", {{"w/exp_avg", "F32", {1024}, bytes}});
      std::ofstream state(into / "state.json", std::ios::binary);
      state << Json{{"step", step}}.dump() << '\n';
      state.close();
      if (!state) throw FileError((into / "state.json").string() + " cannot be written");
    };
    writeCheckpointFolder(folder, step, Json{{"config_hash", "x"}}, write);
    pruneCheckpoints(folder, step, {2, 0, {}});
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
