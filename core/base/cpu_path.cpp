#include "core/base/cpu_path.h"

#include <array>
#include <atomic>
#include <cstdlib>
#include <string>

#include "core/base/error.h"
#include "core/base/joined.h"

namespace vitrine {

namespace {

constexpr CpuPath kAllPaths[] = {CpuPath::Reference, CpuPath::Baseline, CpuPath::Avx2,
                                 CpuPath::Avx512};

bool canRun(CpuPath path) {
#if defined(__x86_64__)
  const bool hasAvx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  if (path == CpuPath::Avx2) return hasAvx2;
  if (path == CpuPath::Avx512) {
    return hasAvx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("avx512vl");
  }
  return true;
#else
  return path < CpuPath::Avx2;
#endif
}

std::string listOf(const std::vector<CpuPath>& paths) {
  return joined(paths, [](CpuPath path) { return nameOf(path); });
}

CpuPath chosenPath() {
  const std::vector<CpuPath>& here = cpuPathsHere();
  const char* wanted = std::getenv("VITRINE_CPU");
  if (wanted == nullptr || *wanted == '\0') return here.back();
  for (const CpuPath path : kAllPaths) {
    if (wanted != std::string(nameOf(path))) continue;
    if (canRun(path)) return path;
    throw ConfigError("VITRINE_CPU=" + std::string(wanted) +
                      " needs instructions that this processor does not have; use one of " +
                      listOf(here));
  }
  throw ConfigError("VITRINE_CPU=" + std::string(wanted) +
                    " is not a path of the engine; use one of " + listOf(here) +
                    ", or unset it for the fastest");
}

std::atomic<CpuPath>& current() {
  static std::atomic<CpuPath> path{chosenPath()};
  return path;
}

}  // namespace

const char* nameOf(CpuPath path) noexcept {
  static constexpr std::array kNames = {"reference", "baseline", "avx2", "avx512"};
  return kNames[static_cast<std::size_t>(path)];
}

const std::vector<CpuPath>& cpuPathsHere() {
  static const std::vector<CpuPath> paths = [] {
    std::vector<CpuPath> all;
    for (const CpuPath path : kAllPaths) {
      if (canRun(path)) all.push_back(path);
    }
    return all;
  }();
  return paths;
}

CpuPath cpuPath() { return current().load(std::memory_order_relaxed); }
void setCpuPath(CpuPath path) { current().store(path, std::memory_order_relaxed); }

}  // namespace vitrine
