// Bandwidth of the RoPE kernels: q and k of ViT-B at 224 px, forward and backward, against the same
// turn written with ATen operations. The CPU version always; the CUDA version where there is a
// device (else said so).
#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <functional>
#include <vector>

#include "core/kernels/cuda_module.h"
#include "core/kernels/rope.h"

using namespace vitrine;

namespace {

/// The turn as anybody would write it.
at::Tensor turnWithOperations(const at::Tensor& x, const at::Tensor& cosines,
                              const at::Tensor& sines) {
  const at::Tensor pairs = x.unflatten(-1, {x.size(3) / 2, 2});
  const at::Tensor a = pairs.select(-1, 0), b = pairs.select(-1, 1);
  return at::stack({a * cosines - b * sines, a * sines + b * cosines}, -1).flatten(-2);
}

double medianMilliseconds(const std::function<void()>& work, const at::Device& device) {
  const auto wait = [&] {
    // A copy to the host waits for everything before it on the stream.
    if (device.is_cuda()) (void)at::zeros({1}, at::TensorOptions().device(device)).item<float>();
  };
  std::vector<double> times;
  for (int i = 0; i < 15; ++i) {
    wait();
    const auto begin = std::chrono::steady_clock::now();
    work();
    wait();
    times.push_back(
        std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin)
            .count());
  }
  std::nth_element(times.begin() + 3, times.begin() + 9, times.end());  // the first three warm up
  return times[9];
}

void compare(const at::Device& device, at::ScalarType type, std::int64_t batch) {
  const auto options = at::TensorOptions().device(device).dtype(type);
  const at::Tensor qkv = at::randn({batch, 197, 3, 12, 64}, options);
  const at::Tensor q = qkv.select(2, 0).transpose(1, 2), k = qkv.select(2, 1).transpose(1, 2);
  const at::Tensor angles =
      at::randn({197, 32}, at::TensorOptions().device(device).dtype(at::kFloat));
  const at::Tensor cosines = angles.cos().to(type), sines = angles.sin().to(type);
  const double ours = medianMilliseconds([&] { (void)kernels::ropePair(q, k, angles); }, device);
  const double theirs = medianMilliseconds(
      [&] {
        (void)turnWithOperations(q, cosines, sines);
        (void)turnWithOperations(k, cosines, sines);
      },
      device);
  const double bytes = 4.0 * static_cast<double>(q.numel()) * static_cast<double>(q.element_size());
  std::printf(
      "rope %s %s batch %lld   ours %8.3f ms (%6.1f GB/s)   ATen operations %8.3f ms   ratio "
      "%5.2f\n",
      device.str().c_str(), c10::toString(type), static_cast<long long>(batch), ours,
      bytes / ours / 1e6, theirs, theirs / ours);
}

}  // namespace

int main() {
  at::set_num_threads(2);
  std::string why;
  const bool hasGpu = kernels::cudaKernels(&why) != nullptr;
  compare(at::Device(at::kCPU), at::kFloat, 8);
  compare(at::Device(at::kCPU), at::kBFloat16, 8);
  if (!hasGpu) {
    std::printf("rope cuda: skipped, %s\n", why.c_str());
    return 0;
  }
  compare(at::Device(at::kCUDA), at::kFloat, 256);
  compare(at::Device(at::kCUDA), at::kBFloat16, 256);
  return 0;
}
