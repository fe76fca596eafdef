// Times RoPE on the queries and keys of ViT-B at 224 px, forward and backward, in turns: with our
// kernel, or written with ATen operations as a user would.
//
// Reads one line per turn from stdin, a number of iterations; answers with one line, their
// milliseconds. Says "skipped, why" in place of "ready" where the device is not there.
#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <torch/csrc/autograd/autograd.h>

#include <iostream>
#include <map>
#include <string>

#include "core/kernels/cuda_module.h"
#include "core/kernels/rope.h"
#include "tests/bench/turns.h"

using namespace vitrine;

namespace {

at::Tensor turnWithOperations(const at::Tensor& x, const at::Tensor& cosines,
                              const at::Tensor& sines) {
  const at::Tensor pairs = x.unflatten(-1, {x.size(3) / 2, 2});
  const at::Tensor a = pairs.select(-1, 0), b = pairs.select(-1, 1);
  return at::stack({a * cosines - b * sines, a * sines + b * cosines}, -1).flatten(-2);
}

}  // namespace

int main(int count, char** words) {
  std::map<std::string, std::string> options = bench::readOptions(count, words);
  const bool isGpu = options["--device"] == "cuda", isKernel = options["--with"] == "kernel";
  std::string why;
  if (isGpu && kernels::cudaKernels(&why) == nullptr) {
    std::cout << "skipped, " << why << std::endl;
    return 0;
  }
  at::set_num_threads(std::stoi(options["--threads"]));
  const at::Device device(isGpu ? at::kCUDA : at::kCPU);
  const auto type = options["--precision"] == "bf16" ? at::kBFloat16 : at::kFloat;
  const auto floats = at::TensorOptions().device(device).dtype(at::kFloat);
  const at::Tensor qkv =
      at::randn({std::stoll(options["--batch"]), 197, 3, 12, 64}, floats.dtype(type));
  at::Tensor q = qkv.select(2, 0).transpose(1, 2).detach().requires_grad_(),
             k = qkv.select(2, 1).transpose(1, 2).detach().requires_grad_();
  const at::Tensor angles = at::randn({197, 32}, floats);
  const at::Tensor cosines = angles.cos().to(type), sines = angles.sin().to(type);
  const at::Tensor gradient = at::randn(q.sizes(), q.options().requires_grad(false));

  const auto iterate = [&] {
    torch::autograd::variable_list turned;
    if (isKernel) {
      const auto both = kernels::ropePair(q, k, angles);
      turned = {both[0], both[1]};
    } else {
      turned = {turnWithOperations(q, cosines, sines), turnWithOperations(k, cosines, sines)};
    }
    const auto gradients = torch::autograd::grad(turned, {q, k}, {gradient, gradient});
    // A copy to the host waits for everything before it on the stream.
    if (isGpu) static_cast<void>(gradients[1].select(0, 0).select(0, 0).sum().item<float>());
  };
  bench::takeTurns(3, [&] { return bench::timed(iterate); });
  return 0;
}
