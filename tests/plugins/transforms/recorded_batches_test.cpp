// Batches of recorded runs, to the bit: their curves and resumes depend on them. The hashes were
// made by the loader that cut, mirrored and normalised images in one step, before transforms were
// items.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "core/base/sha256.h"
#include "tests/plugins/transforms/patterns.h"

namespace vitrine::test {
namespace {

/// SHA-256 of ids, images and labels of the next batches.
std::string hashOf(BatchStream& stream, int batches) {
  std::string text;
  for (int i = 0; i < batches; ++i) {
    const Batch batch = stream.next();
    for (const std::int64_t id : batch.sampleIds) text += std::to_string(id) + " ";
    for (const char* field : {"image", "label"}) {
      const at::Tensor values = batch.at(field).contiguous();
      text.append(static_cast<const char*>(values.const_data_ptr()), values.nbytes());
    }
  }
  return sha256OfText(text);
}

TEST(RecordedBatches, OfAShuffledCroppedAndMirroredSetAreTheSame) {
  const auto set = std::make_shared<Patterns>(1, 6, 5, 21);
  set->info_.mean = {0.3};
  set->info_.deviation = {0.4};
  Json data = dataValues();
  data["augment"] = {{"crop_padding", 2}, {"flip", 0.5}};
  const auto pipeline = pipelineOf(set, data, 11);
  const auto stream =
      pipeline->stream(Split::Train, {.batchSize = 7, .workers = 2, .isTraining = true});
  EXPECT_EQ(hashOf(*stream, 9), "effae11c9678349b95d27ce6db1bbf12f9d6bef4d41f29047f30028bf18acbd7");
}

TEST(RecordedBatches, OfAResizedSetResumedAtTheFourthAreTheSame) {
  const auto set = std::make_shared<Patterns>(3, 9, 7, 37);
  set->info_.mean = {0.485, 0.456, 0.406};
  set->info_.deviation = {0.229, 0.224, 0.225};
  Json data = dataValues();
  data["augment"] = {{"crop_padding", 3}, {"flip", 0.5}};
  const auto pipeline = pipelineOf(set, data, 5, {{12, 8}, 3});
  const auto stream = pipeline->stream(
      Split::Train, {.batchSize = 8, .workers = 0, .isTraining = true, .firstBatch = 3});
  EXPECT_EQ(hashOf(*stream, 9), "13a2615fc3d5d5d2c8e45426d8da1af0249f5ba7aa122ed8bca564caecaf2e07");
}

TEST(RecordedBatches, OfAnEvaluationAreTheSame) {
  Json data = dataValues();
  data["augment"] = {{"crop_padding", 3}, {"flip", 0.5}};
  data["normalize"] = "half";
  const auto pipeline = pipelineOf(std::make_shared<Patterns>(3, 9, 7, 37), data, 0, {{5, 6}, 3});
  const auto stream = pipeline->stream(Split::Test, {.batchSize = 16, .workers = 1});
  EXPECT_EQ(hashOf(*stream, 3), "68c8630277ca30df84361c95988df3d80867fff42133fb7e032e2aae887df790");
}

TEST(RecordedBatches, OfAMirroredSetAsItIsStoredAreTheSame) {
  Json data = dataValues();
  data["augment"] = {{"crop_padding", 0}, {"flip", 0.3}};
  const auto pipeline = pipelineOf(std::make_shared<Patterns>(1, 28, 28, 40), data, 3);
  const auto stream =
      pipeline->stream(Split::Train, {.batchSize = 16, .workers = 1, .isTraining = true});
  EXPECT_EQ(hashOf(*stream, 4), "c6d8ad0b5df90da7e877f6a79b753cc005d48e736b01d7b75f22f93c5d24d050");
}

}  // namespace
}  // namespace vitrine::test
