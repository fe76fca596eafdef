// Under what circumstances a run computes, kept with its segment.
#pragma once

#include "core/base/json.h"
#include "core/plugin/loader.h"
#include "core/train/device.h"

namespace vitrine::app {

/// {vitrine, commit, dirty, versions, device, threads, cpu_capability, cpu_path, host, seeds,
/// plugins: [{id, version, sha256}]}. After the first step on the CPU `cpu_taken` is added: which
/// way each kind of call went, {block: "fused"}. Commit and dirty flag are of the sources this
/// program was built from, else of the working folder; null where neither is a git checkout.
[[nodiscard]] Json describeEnvironment(const LoadedPlugins& plugins,
                                       const train::ComputeEnvironment& compute,
                                       std::uint64_t seed);

}  // namespace vitrine::app
