// checkpoint_worker with the trainer's own writer: its thread, its tensors, its retention.
#include <ATen/ops/full.h>
#include <signal.h>

#include <cstdio>
#include <cstring>
#include <string>

#include "core/train/checkpoint.h"

int main(int count, char** words) {
  using namespace vitrine;
  if (count < 3) return 2;
  const std::int64_t step = std::stoll(words[2]);
  train::CheckpointSnapshot snapshot;
  const at::Tensor weights = at::full({1024}, static_cast<double>(step));
  snapshot.model = {{"w", weights}};
  snapshot.ema = {{"w", weights}};
  snapshot.optimizer = {{"w/exp_avg", weights}, {"w/exp_avg_sq", weights}};
  snapshot.trained = {"w"};
  snapshot.state.step = step;
  snapshot.state.generator = std::string(5056, 'g');
  try {
    train::CheckpointWriter writer(words[1], "run-test", {2, true});
    if (count > 3 && std::strcmp(words[3], "--stop") == 0) ::raise(SIGSTOP);
    writer.save(std::move(snapshot));
    writer.wait();
    for (const train::SaveResult& result : writer.results()) {
      if (result.error.empty()) continue;
      std::fprintf(stderr, "%s\n", result.error.c_str());
      return 1;
    }
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
