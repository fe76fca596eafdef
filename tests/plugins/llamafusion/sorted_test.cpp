// Texts and images that share sequences, whose layers go as one operation each, against the layers
// one by one in double precision.
#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <gtest/gtest.h>
#include <torch/nn/module.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/kernels/cpu/cpu_layers.h"
#include "core/kernels/cpu/taken_paths.h"
#include "core/model/text_image_model.h"
#include "plugins/llamafusion/layout.h"
#include "tests/core/nn/tensors.h"
#include "tests/plugins/llamafusion/small_fusion.h"
#include "tests/support/every_cpu_path.h"
#include "tests/support/golden/case.h"

namespace vitrine::llamafusion {
namespace {

constexpr std::int64_t kRows = 12, kText = 11, kPatches = 16, kAll = kText + kPatches;

struct SortedCase {
  std::string name, separation = "deep", mask = "hybrid", imagePositions = "sequential";
  std::int64_t keyHeads = 2, images = 1;
  bool isShifted = false;     ///< images stand in other columns of every row
  bool isFrozen = false;      ///< the text's parameters
  bool hasDocuments = false;  ///< with positions of their own
};

std::shared_ptr<Model> fusedModel(const SortedCase& c, at::ScalarType type) {
  const std::int64_t side = c.images == 1 ? 8 : 4;
  Json values = smallFusion(side);
  values["kv_heads"] = c.keyHeads;
  values["separation"] = c.separation;
  values["mask"] = c.mask;
  values["image_positions"] = c.imagePositions;
  auto model = movedFusion(values);
  model->module().to(type);
  return model;
}

MixedSequences sequencesOf(const SortedCase& c, at::ScalarType type) {
  MixedSequences sequences;
  const std::int64_t ofImage = kPatches / c.images, images = kRows * c.images;
  sequences.imageIndex = at::zeros({c.isShifted ? kRows : 1, kAll}, at::kLong);
  for (std::int64_t row = 0; row < sequences.imageIndex.size(0); ++row) {
    for (std::int64_t i = 0; i < c.images; ++i) {
      const std::int64_t first = 2 + (c.isShifted ? row % 7 : 3) + i * (ofImage + 1);
      sequences.imageIndex[row].narrow(0, first, ofImage).fill_(i + 1);
    }
  }
  if (!c.isShifted) sequences.imageIndex = sequences.imageIndex[0];
  sequences.tokens = at::randint(3, 37, {kRows, kAll}, nn::seeded(1), at::kLong);
  const std::int64_t side = c.images == 1 ? 8 : 4;
  sequences.images = nn::drawn({images, 1, side, side}, 2, type);
  sequences.time = at::arange(images, at::kLong) * 30;
  if (c.hasDocuments) {
    sequences.documents = at::zeros({kAll}, at::kLong);
    sequences.documents.narrow(0, 0, 2).fill_(-1);
    sequences.positions = at::arange(kAll, at::kLong).add(5).expand({kRows, kAll});
  }
  return sequences;
}

/// Logits, noise and all gradients.
std::vector<std::pair<std::string, at::Tensor>> resultsOf(const SortedCase& c,
                                                          at::ScalarType type) {
  const auto model = fusedModel(c, type);
  auto& mixed = *capabilityOf<TextImageModel>(*model);
  if (c.isFrozen) {
    for (const auto& item : model->module().named_parameters())
      item.value().set_requires_grad(!mixed.isOfText(item.key()));
  }
  const MixedPrediction out = mixed.mixed(sequencesOf(c, type));
  std::vector<std::pair<std::string, at::Tensor>> all{{"logits", out.logits.detach()},
                                                      {"noise", out.noise.detach()}};
  ((out.logits * nn::drawn(out.logits.sizes(), 3, type)).sum() +
   (out.noise * nn::drawn(out.noise.sizes(), 4, type)).sum())
      .backward();
  for (const auto& item : model->module().named_parameters())
    all.emplace_back(item.key(), item.value().grad());
  return all;
}

std::string blockPath() {
  for (const auto& [kind, way] : cpu::takenPaths()) {
    if (kind == "block") return way;
  }
  return "";
}

TEST(SortedSequences, LayersAsOneOperationAgreeWithTheLayersInDoubleOnEveryCpuPath) {
  const SortedCase cases[] = {
      {.name = "deep"},
      {.name = "shallow", .separation = "shallow", .keyHeads = 4},
      {.name = "dense", .separation = "dense"},
      {.name = "deep, frozen", .isFrozen = true},
      {.name = "shallow, frozen", .separation = "shallow", .isFrozen = true},
      {.name = "other columns", .keyHeads = 1, .isShifted = true},
      {.name = "other columns, frozen", .isShifted = true, .isFrozen = true},
      {.name = "causal, shared positions",
       .mask = "causal",
       .imagePositions = "shared",
       .isShifted = true},
      {.name = "four images", .images = 4, .isFrozen = true},
      {.name = "documents", .hasDocuments = true}};
  for (const SortedCase& c : cases) {
    SCOPED_TRACE(c.name);
    const auto wanted = resultsOf(c, at::kDouble);
    testing::onEveryCpuPath([&] {
      cpu::clearTakenPaths();
      const auto ours = resultsOf(c, at::kFloat);
      EXPECT_EQ(blockPath() == "fused", cpu::takesBlock(cpu::BlockShape{kRows, kAll, 32, 4}));
      for (std::size_t i = 0; i < wanted.size(); ++i) {
        ASSERT_EQ(ours[i].second.defined(), wanted[i].second.defined()) << wanted[i].first;
        if (!ours[i].second.defined()) continue;
        EXPECT_TRUE(testing::isClose(ours[i].second, wanted[i].second, 2e-5)) << wanted[i].first;
      }
    });
  }
}

TEST(SortedSequences, HaveTheirTextInFrontAndAreNoneWhereNumbersDiffer) {
  const at::Tensor index = at::tensor({0, 1, 1, 0, 0, 0, 1, 1}, at::kLong).view({2, 4});
  const SortedColumns sorted = sortedColumns(index);
  EXPECT_EQ(sorted.text, 2);
  EXPECT_TRUE(
      at::equal(sorted.columns, at::tensor({0, 3, 1, 2, 0, 1, 2, 3}, at::kLong).view({2, 4})));
  EXPECT_TRUE(at::equal(sortedColumns(index[0]).columns, sorted.columns[0]));
  EXPECT_FALSE(sortedColumns(at::tensor({0, 1, 0, 0}, at::kLong).view({2, 2})).columns.defined());
}

TEST(SortedSequences, WhoseRowsHoldUnequallyManyImagesGoLayerByLayer) {
  const SortedCase c{.name = "unequal", .images = 4, .isShifted = true};
  const auto logits = [&](at::ScalarType type) {
    const auto model = fusedModel(c, type);
    MixedSequences sequences = sequencesOf(c, type);
    sequences.imageIndex[0].fill_(0);  // the first row is text alone
    sequences.images = sequences.images.narrow(0, 4, sequences.images.size(0) - 4);
    sequences.time = sequences.time.narrow(0, 4, sequences.time.size(0) - 4);
    return capabilityOf<TextImageModel>(*model)->mixed(sequences).logits.detach();
  };
  cpu::clearTakenPaths();
  const at::Tensor ours = logits(at::kFloat);
  EXPECT_NE(blockPath(), "fused");
  EXPECT_TRUE(testing::isClose(ours, logits(at::kDouble), 2e-5));
}

}  // namespace
}  // namespace vitrine::llamafusion
