#include "core/kernels/cuda_module.h"

#include <dlfcn.h>

#include <filesystem>

namespace vitrine::kernels {

namespace {

struct Loaded {
  const CudaKernels* kernels = nullptr;
  std::string why;
};

std::string folderOfThisLibrary() {
  Dl_info info{};
  if (dladdr(reinterpret_cast<const void*>(&cudaKernels), &info) == 0 || info.dli_fname == nullptr)
    return ".";
  return std::filesystem::path(info.dli_fname).parent_path().string();
}

Loaded load() {
  // The driver first: without it the module would only cost time and memory.
  if (dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL) == nullptr)
    return {nullptr, "no NVIDIA driver here (libcuda.so.1 not found)"};
  const std::string file = folderOfThisLibrary() + "/libvitrine_kernels_cuda.so";
  if (!std::filesystem::exists(file)) return {nullptr, "this build has no CUDA (VITRINE_CUDA=OFF)"};
  void* module = dlopen(file.c_str(), RTLD_NOW | RTLD_GLOBAL);
  if (module == nullptr)
    return {nullptr, std::string("the CUDA module cannot be loaded: ") + dlerror()};
  using Entry = const CudaKernels* (*)();
  const auto entry = reinterpret_cast<Entry>(dlsym(module, "vitrine_cuda_kernels"));
  if (entry == nullptr) return {nullptr, file + " is not Vitrine's CUDA module"};
  const CudaKernels* kernels = entry();
  if (kernels->deviceCount() == 0) return {nullptr, "the NVIDIA driver reports no usable device"};
  return {kernels, ""};
}

}  // namespace

const CudaKernels* cudaKernels(std::string* why) {
  static const Loaded loaded = load();
  if (why != nullptr) *why = loaded.why;
  return loaded.kernels;
}

}  // namespace vitrine::kernels
