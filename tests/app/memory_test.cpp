// What `check` says a run will take, against what it takes.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <cmath>

#include "tests/app/program.h"
#include "tests/support/has_texts.h"

namespace vitrine::test {
namespace {

struct Case {
  const char* name;
  const char* model;  ///< the table's lines
  const char* train;
};

// Between 50 MB and 1 GB, few operations for processors without half precision, and different in
// what takes the most: activations of short and of long sequences, masks of dropout, half
// precision, weights with their moments and average.
const Case kCases[] = {
    {"AveragedViTWithAccumulation", R"(architecture = "vit"
image_size = 28
patch_size = 4
width = 96
depth = 4
heads = 3)",
     R"(batch_size = 96
accumulate = 2
ema = { decay = 0.99 })"},
    {"ILlamaWithDropoutAndDropPath", R"(architecture = "illama"
image_size = 28
patch_size = 4
width = 128
depth = 4
heads = 4
dropout = 0.1
drop_path = 0.2)",
     "batch_size = 48"},
    {"LongSequencesInBFloat16", R"(architecture = "vit"
image_size = 112
patch_size = 8
width = 96
depth = 4
heads = 3)",
     R"(batch_size = 24
precision = "bf16")"},
    {"MostlyWeights", R"(architecture = "vit"
image_size = 28
patch_size = 7
width = 384
depth = 8
heads = 6)",
     "batch_size = 8"},
};

class Memory : public ::testing::TestWithParam<Case> {};

TEST_P(Memory, IsEstimatedWithinAQuarter) {
#if defined(__SANITIZE_ADDRESS__)
  GTEST_SKIP() << "the sanitizer takes memory of its own";
#endif
  Scratch scratch;
  writeImages(scratch.path("images"), 512, 32);  // one batch is evaluated
  const std::string file = scratch.path("memory.toml"), database = scratch.path("x.sqlite");
  writeText(file,
            std::string("title = \"Memory\"\n[model]\nin_channels = 1\nnum_classes = 4\n") +
                GetParam().model +
                "\n[task]\nname = \"classification\"\n[data]\ndataset = \"idx\"\nfolder = \"" +
                scratch.path("images") +
                "\"\n[train]\nsteps = 2\nthreads = 2\nevaluation_batch_size = 32\n" +
                GetParam().train + "\n");
  const double estimate =
      vitrine({"check", file, "--json"}).json().at("totals").at("memory_bytes").get<double>();
  const Ended trained = vitrine({"train", file, "--db", database});
  ASSERT_EQ(trained.code, 0) << trained.err;
  const Json run = vitrine({"show", "1", "--json", "--db", database}).json();
  const double measured = run.at("memory_bytes").get<double>() -
                          run.at("environment").at("resident_bytes").get<double>();
  RecordProperty("estimated_mb", std::to_string(std::llround(estimate / 1e6)));
  RecordProperty("measured_mb", std::to_string(std::llround(measured / 1e6)));
  EXPECT_GT(measured, 50e6);
  EXPECT_LT(measured, 1e9);
  EXPECT_LE(std::abs(estimate - measured), 0.25 * measured)
      << "estimated " << estimate / 1e6 << " MB, measured " << measured / 1e6 << " MB";
}

/// Programs that start while it lives have at most so much address space.
class AddressSpace {
 public:
  explicit AddressSpace(rlim_t bytes) {
    ::getrlimit(RLIMIT_AS, &before_);
    const rlimit less{bytes, before_.rlim_max};
    ::setrlimit(RLIMIT_AS, &less);
  }
  ~AddressSpace() { ::setrlimit(RLIMIT_AS, &before_); }
  AddressSpace(const AddressSpace&) = delete;
  AddressSpace& operator=(const AddressSpace&) = delete;

 private:
  rlimit before_{};
};

TEST(Memory, ThatIsMissingIsSaidWithTheSettingToChange) {
#if defined(__SANITIZE_ADDRESS__)
  GTEST_SKIP() << "the sanitizer reserves more address space than any limit";
#endif
  Scratch scratch;
  writeImages(scratch.path("images"), 32768, 64);
  const std::string file = scratch.path("wide.toml"), database = scratch.path("x.sqlite");
  // 32,768 images of 49 patches and 1,024 channels: the first activations, 6.6 GB, are more than
  // there may be. What fits is quickly computed.
  writeText(file, R"(title = "Wide"
[model]
architecture = "vit"
image_size = 28
patch_size = 4
in_channels = 1
num_classes = 4
width = 1024
depth = 1
heads = 8
[task]
name = "classification"
[data]
dataset = "idx"
folder = ")" + scratch.path("images") +
                      R"("
[train]
steps = 2
threads = 2
batch_size = 32768
)");
  Ended trained;
  {
    const AddressSpace limit(rlim_t{6} << 30);
    trained = vitrine({"train", file, "--db", database});
  }
  EXPECT_EQ(trained.code, 1) << trained.err;
  const Json run = vitrine({"show", "1", "--json", "--db", database}).json();
  EXPECT_EQ(run.at("state"), "failed");
  EXPECT_THAT(run.at("reason").get<std::string>(),
              HasTexts("too little memory", "train.batch_size smaller than 32768"));
}

INSTANTIATE_TEST_SUITE_P(Of, Memory, ::testing::ValuesIn(kCases),
                         [](const auto& given) { return std::string(given.param.name); });

}  // namespace
}  // namespace vitrine::test
