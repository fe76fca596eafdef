#include "core/kernels/cpu/taken_paths.h"

#include <array>
#include <atomic>
#include <cstdint>

namespace vitrine::cpu {

namespace {

struct KindNames {
  const char *kind, *ours, *other;
};
constexpr std::array<KindNames, 2> kKindNames{
    {{"block", "fused", "layers"}, {"attention", "short", "library"}}};

struct CallCounts {
  std::atomic<std::int64_t> ours{0}, other{0};
};
std::array<CallCounts, kKindNames.size()> callCounts;

}  // namespace

void recordCall(CallKind kind, bool isOurs) {
  CallCounts& counts = callCounts[static_cast<std::size_t>(kind)];
  (isOurs ? counts.ours : counts.other).fetch_add(1, std::memory_order_relaxed);
}

std::vector<std::pair<std::string, std::string>> takenPaths() {
  std::vector<std::pair<std::string, std::string>> taken;
  for (std::size_t i = 0; i < kKindNames.size(); ++i) {
    const auto& [kind, oursName, otherName] = kKindNames[i];
    const std::int64_t ours = callCounts[i].ours, other = callCounts[i].other;
    if (ours > 0 && other > 0) {
      taken.emplace_back(kind, std::string(oursName) + " " + std::to_string(ours) + ", " +
                                   otherName + " " + std::to_string(other));
    } else if (ours > 0 || other > 0) {
      taken.emplace_back(kind, ours > 0 ? oursName : otherName);
    }
  }
  return taken;
}

void clearTakenPaths() {
  for (CallCounts& counts : callCounts) counts.ours = counts.other = 0;
}

}  // namespace vitrine::cpu
