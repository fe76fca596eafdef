// libFuzzer's entry into one target: VITRINE_FUZZ_TARGET is its name.
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <string>

#include "tests/fuzz/mutate.h"
#include "tests/fuzz/targets.h"

namespace {

const vitrine::fuzz::Target& target() {
  static const vitrine::fuzz::Target& chosen = []() -> const vitrine::fuzz::Target& {
    for (const vitrine::fuzz::Target& each : vitrine::fuzz::targets()) {
      if (std::string(each.name) == VITRINE_FUZZ_TARGET) return each;
    }
    std::abort();
  }();
  return chosen;
}

}  // namespace

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t longest);

// An exception that leaves this function is a finding: libFuzzer keeps the input.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  target().run({data, size});
  return 0;
}

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t longest, unsigned int seed) {
  vitrine::fuzz::Dice dice(seed);
  if (!target().isSafetensors || dice.below(3) == 0) return LLVMFuzzerMutate(data, size, longest);
  const std::string out = vitrine::fuzz::mutateSafetensors(
      std::string(reinterpret_cast<const char*>(data), size), dice, longest);
  std::memcpy(data, out.data(), std::min(out.size(), longest));
  return std::min(out.size(), longest);
}
