#include "core/train/device.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/Context.h>
#include <ATen/DeviceAccelerator.h>
#include <ATen/Parallel.h>
#include <ATen/Version.h>
#include <ATen/autocast_mode.h>
#include <ATen/ops/conv2d.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/ones.h>
#include <dlfcn.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <torch/headeronly/version.h>
#include <unistd.h>

#include <cstring>
#include <fstream>
#include <new>

#include "core/base/cpu_path.h"
#include "core/base/error.h"
#include "core/kernels/cuda_module.h"

namespace vitrine::train {

Precision precisionFrom(const std::string& name) {
  if (name == "fp32") return Precision::Float32;
  if (name == "bf16") return Precision::BFloat16;
  if (name == "fp16") return Precision::Float16;
  throw ConfigError("'" + name + "' is not a precision; use fp32, bf16 or fp16");
}

std::string toString(Precision precision) {
  if (precision == Precision::Float16) return "fp16";
  return precision == Precision::BFloat16 ? "bf16" : "fp32";
}

void requirePrecision(Precision precision, const at::Device& device) {
  if (precision != Precision::Float16 || !device.is_cpu()) return;
  try {
    const AutocastScope autocast(precision, device.type());
    const at::Tensor image = at::ones({1, 2, 4, 4}).requires_grad_(true);
    const at::Tensor kernel = at::ones({2, 2, 2, 2}), map = at::ones({2, 4});
    at::linear(at::conv2d(image, kernel), map.narrow(1, 0, 3)).sum().to(at::kFloat).backward();
  } catch (const c10::Error& error) {
    throw RefusedError("train.precision: LibTorch cannot compute in fp16 on this CPU (" +
                       std::string(error.what_without_backtrace()) + "); use bf16 or fp32");
  }
}

at::Device resolveDevice(const std::string& name) {
  if (name == "cpu") return {at::kCPU};
  std::string why;
  if (name == "auto" || name.empty())
    return kernels::cudaKernels(&why) != nullptr ? at::Device(at::kCUDA, 0) : at::Device(at::kCPU);
  int index = 0;
  if (name != "cuda") {
    char rest = 0;
    if (std::sscanf(name.c_str(), "cuda:%d%c", &index, &rest) != 1 || index < 0 || index > 127) {
      throw ConfigError("'" + name + "' is not a device; use auto, cpu or cuda:N");
    }
  }
  const kernels::CudaKernels* cuda = kernels::cudaKernels(&why);
  if (cuda == nullptr) {
    throw RefusedError("device '" + name + "' cannot be used: " + why + "; use cpu or auto");
  }
  if (index >= cuda->deviceCount()) {
    throw RefusedError("there is no device '" + name + "', only " +
                       std::to_string(cuda->deviceCount()) + " GPU(s), counted from 0");
  }
  return {at::kCUDA, static_cast<at::DeviceIndex>(index)};
}

bool isShortOfMemory(const std::exception& error) {
  return dynamic_cast<const std::bad_alloc*>(&error) != nullptr ||
         dynamic_cast<const c10::OutOfMemoryError*>(&error) != nullptr;
}

int useThreads(std::optional<std::int64_t> threads) {
  static const int atStart = at::get_num_threads();
  const int wanted = threads ? static_cast<int>(*threads) : atStart;
  if (wanted != at::get_num_threads()) at::set_num_threads(wanted);
  return wanted;
}

at::Generator makeGenerator(const at::Device& device, std::uint64_t seed) {
  if (device.is_cpu()) return at::detail::createCPUGenerator(seed);
  at::Generator generator = at::globalContext()
                                .getAcceleratorHooksInterface(device.type())
                                .getNewGenerator(device.index());
  generator.set_current_seed(seed);
  return generator;
}

AutocastScope::AutocastScope(Precision precision, at::DeviceType device)
    : isOn_(precision != Precision::Float32), device_(device), wasType_(at::kBFloat16) {
  if (!isOn_) return;
  wasOn_ = at::autocast::is_autocast_enabled(device_);
  wasType_ = at::autocast::get_autocast_dtype(device_);
  at::autocast::set_autocast_dtype(device_,
                                   precision == Precision::Float16 ? at::kHalf : at::kBFloat16);
  at::autocast::set_autocast_enabled(device_, true);
  at::autocast::increment_nesting();
}

AutocastScope::~AutocastScope() {
  if (!isOn_) return;
  // Leaving the outermost scope drops the half-precision copies of the weights: the next step
  // changes them.
  if (at::autocast::decrement_nesting() == 0) at::autocast::clear_cache();
  at::autocast::set_autocast_enabled(device_, wasOn_);
  at::autocast::set_autocast_dtype(device_, wasType_);
}

void becomeBackgroundThread() noexcept {
  // LibTorch sets a thread's number from a process-wide one at its first use. Let that happen
  // first, then set OpenMP itself, whose number is the thread's own.
  static_cast<void>(at::get_num_threads());
  using SetThreads = void (*)(int);
  if (const auto set = reinterpret_cast<SetThreads>(dlsym(RTLD_DEFAULT, "omp_set_num_threads")))
    set(1);
  static_cast<void>(setpriority(PRIO_PROCESS, static_cast<id_t>(syscall(SYS_gettid)), 10));
}

ProcessMemory processMemory() {
  ProcessMemory memory;
  std::ifstream status("/proc/self/status");
  std::string line;
  while (std::getline(status, line)) {
    const auto read = [&](const char* key, std::int64_t& out) {
      if (line.rfind(key, 0) == 0) out = std::atoll(line.c_str() + std::strlen(key)) * 1024;
    };
    read("VmHWM:", memory.peakBytes);
    read("VmRSS:", memory.residentBytes);
  }
  return memory;
}

std::int64_t peakMemory(const at::Device& device) {
  if (device.is_cpu()) return processMemory().peakBytes;
  const auto stats = at::accelerator::getDeviceStats(device.index());
  return stats.allocated_bytes[static_cast<std::size_t>(c10::CachingAllocator::StatType::AGGREGATE)]
      .peak;
}

ComputeEnvironment computeEnvironment(const at::Device& device) {
  // A forced path gives other last bits, so a run that is resumed on another one says so.
  std::string capability = at::get_cpu_capability();
  if (cpuPath() != cpuPathsHere().back()) capability += std::string(" (") + nameOf(cpuPath()) + ")";
  return {device.str(), TORCH_VERSION, capability, at::get_num_threads()};
}

}  // namespace vitrine::train
