// Trains what the other tests look at, once.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/app/program.h"

namespace vitrine::test {
namespace {

TEST(Prepare, TrainsTheRunsThatTheOthersLookAt) {
  std::filesystem::remove_all(sharedFolder());
  std::filesystem::create_directories(sharedFolder());
  writeImages(sharedFolder() / "images", 128, 64);
  const std::string one = R"(title = "Tiny"
[model]
architecture = "vit"
image_size = 8
patch_size = 4
in_channels = 1
num_classes = 4
width = 16
depth = 2
heads = 2
[task]
name = "classification"
[data]
dataset = "idx"
folder = ")" + (sharedFolder() / "images").string() +
                          R"("
[train]
steps = 24
batch_size = 32
threads = 1
optimizer = { learning_rate = 0.01 }
[observe]
calibration = { every_epochs = 2 }
)";
  writeText(sharedSingle(), one);
  writeText(sharedExperiment(), one + R"([sweep]
"train.seed" = [0, 1]
[[variant]]
name = "narrow"
[[variant]]
name = "wide"
set = { "model.width" = 32 }
)");
  const Ended ended = vitrine({"train", sharedExperiment(), "--db", sharedDatabase(), "--json"});
  ASSERT_EQ(ended.code, 0) << ended.err;
  for (const Json& run : ended.json()) {
    // Brightness alone tells the classes apart: a program that trains gets there.
    EXPECT_GT(run.at("scores").at("test/top1").get<double>(), 0.6) << run.dump();
  }
  writeText(sharedFolder() / "train.json", ended.out);
  writeText(sharedFolder() / "train.log", ended.err);
}

}  // namespace
}  // namespace vitrine::test
