// Every reader of files from outside over its seeds, over what fuzzing once found, and over some
// thousand changes of both. The long search is tests/fuzz/run.sh.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <ostream>
#include <string>
#include <vector>

#include "tests/fuzz/mutate.h"
#include "tests/fuzz/targets.h"
#include "tests/support/long_tier.h"

namespace vitrine::fuzz {

/// How GoogleTest names a target; its bytes, the default, are another every time.
void PrintTo(const Target& target, std::ostream* out);
void PrintTo(const Target& target, std::ostream* out) { *out << target.name; }

namespace {

/// Per target.
int changes() { return isLong() ? 100'000 : 2000; }

struct Input {
  std::string name, bytes;
};

std::vector<Input> inputsOf(const std::string& kind, const std::string& target) {
  std::vector<Input> inputs;
  std::error_code ignored;  // a target without findings has no folder of them
  for (const auto& entry : std::filesystem::directory_iterator(
           std::filesystem::path(VITRINE_SOURCE_DIR) / "tests/fuzz" / kind / target, ignored)) {
    std::ifstream in(entry.path(), std::ios::binary);
    inputs.push_back({entry.path().string(), {std::istreambuf_iterator<char>(in), {}}});
  }
  std::sort(inputs.begin(), inputs.end(),
            [](const Input& a, const Input& b) { return a.name < b.name; });
  return inputs;
}

std::string hexOf(const std::string& bytes) {
  std::string out;
  for (const char c : bytes.substr(0, 512)) {
    out += "0123456789abcdef"[static_cast<unsigned char>(c) >> 4];
    out += "0123456789abcdef"[static_cast<unsigned char>(c) & 15];
  }
  return out;
}

class Parsers : public ::testing::TestWithParam<Target> {
 protected:
  void expectHarmless(const std::string& bytes, const std::string& name) {
    try {
      GetParam().run({reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()});
    } catch (const std::exception& finding) {
      ADD_FAILURE() << name << ": " << finding.what() << "\n" << hexOf(bytes);
    }
  }
};

TEST_P(Parsers, TakeOrRefuseSeedsAndWhatWasOnceFound) {
  const std::vector<Input> seeds = inputsOf("seeds", GetParam().name);
  ASSERT_FALSE(seeds.empty());
  for (const Input& seed : seeds) expectHarmless(seed.bytes, seed.name);
  for (const Input& found : inputsOf("found", GetParam().name))
    expectHarmless(found.bytes, found.name);
}

TEST_P(Parsers, TakeOrRefuseChangedSeeds) {
  std::vector<Input> pool = inputsOf("seeds", GetParam().name);
  for (Input& found : inputsOf("found", GetParam().name)) pool.push_back(std::move(found));
  ASSERT_FALSE(pool.empty());
  Dice dice(1);
  for (int i = 0; i < changes() && !HasFailure(); ++i) {
    const std::string& from = pool[dice.below(pool.size())].bytes;
    const std::string bytes = GetParam().isSafetensors
                                  ? mutateSafetensors(from, dice, GetParam().longest)
                                  : mutate(from, dice, GetParam().longest);
    expectHarmless(bytes, "change " + std::to_string(i));
  }
}

INSTANTIATE_TEST_SUITE_P(All, Parsers, ::testing::ValuesIn(targets().begin(), targets().end()),
                         [](const auto& about) { return std::string(about.param.name); });

}  // namespace
}  // namespace vitrine::fuzz
