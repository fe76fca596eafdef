// Times the chunkwise mLSTM cell, forward and backward, at the shapes of a Vision-LSTM's blocks.
//
// Reads one line per turn from stdin, a number of iterations; answers with one line, their
// milliseconds.
#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <torch/csrc/autograd/autograd.h>

#include <map>
#include <string>

#include "core/kernels/mlstm.h"
#include "tests/bench/turns.h"

using namespace vitrine;

int main(int count, char** words) {
  bench::becomeComputeProcess(words);
  std::map<std::string, std::string> options = bench::readOptions(count, words);
  at::set_num_threads(std::stoi(options["--threads"]));
  const std::int64_t batch = std::stoll(options["--batch"]), heads = 4,
                     tokens = std::stoll(options["--tokens"]),
                     width = std::stoll(options["--width"]);
  // As projections leave them: heads next to each other.
  const auto rows = [&] {
    return at::randn({batch, tokens, heads, width}).transpose(1, 2).detach().requires_grad_();
  };
  kernels::MlstmInput in;
  in.q = rows(), in.k = rows(), in.v = rows();
  in.inputGate = at::randn({batch, heads, tokens}).requires_grad_();
  in.forgetGate = (at::randn({batch, heads, tokens}) + 3).requires_grad_();
  kernels::MlstmOptions cell{.eps = 1e-6, .chunk = std::stoll(options["--chunk"])};
  const at::Tensor slope = at::randn({batch, tokens, heads, width}).transpose(1, 2);
  bench::takeTurns(3, [&] {
    return bench::timed([&] {
      const at::Tensor h = kernels::mlstm(in, cell).h;
      static_cast<void>(
          torch::autograd::grad({h}, {in.q, in.k, in.v, in.inputGate, in.forgetGate}, {slope}));
    });
  });
  return 0;
}
