// Small codecs and images for the tests of autoencoders.
#pragma once

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "core/base/error.h"
#include "core/base/random.h"
#include "core/config/experiment.h"
#include "core/plugin/pipeline.h"
#include "core/plugin/registry.h"
#include "plugins/autoencoder/architectures.h"
#include "tests/plugins/transforms/registry.h"
#include "tests/support/refusal.h"

namespace vitrine::autoencoder {

inline const KlArchitecture kKl;
inline const TaesdArchitecture kTaesd;

/// A model of these values over the defaults.
inline std::shared_ptr<Model> buildCodec(const Architecture& architecture, Json values,
                                         std::uint64_t seed = 0) {
  for (const Problem& problem : resolveItem(architecture.card().schema, "model", values))
    ADD_FAILURE() << problem.sentence();
  return architecture.build(Config(values), seed);
}

/// f = 2, 2 channels, grey images of 8 px, scale measured.
inline Json smallKl() {
  return {{"image_size", 8},          {"in_channels", 1},
          {"latent_channels", 2},     {"block_out_channels", Json{8, 8}},
          {"layers_per_block", 1},    {"norm_groups", 4},
          {"scaling_factor", nullptr}};
}

/// 24 training and 10 test images of a bright square at a place of its own, in two classes.
class Squares final : public LabelledImages {
 public:
  explicit Squares(std::int64_t side = 8) {
    info_.height = info_.width = side;
    info_.classes = {"even", "odd"};
    info_.mean = {0.25};
    info_.deviation = {0.5};
  }
  const DatasetInfo& info() const noexcept override { return info_; }
  std::int64_t size(Split split) const override {
    return split == Split::Train ? 24 : split == Split::Test ? 10 : 0;
  }
  std::int64_t readImage(Split split, std::int64_t id,
                         std::span<std::uint8_t> image) const override {
    const RandomStream stream(static_cast<std::uint64_t>(split), "squares");
    const auto number = static_cast<std::uint64_t>(id);
    const std::int64_t side = info_.width;
    const auto top = static_cast<std::int64_t>(stream.below(5, number, 0));
    const auto left = static_cast<std::int64_t>(stream.below(5, number, 1));
    for (std::int64_t y = 0; y < side; ++y) {
      for (std::int64_t x = 0; x < side; ++x) {
        const bool isIn = y >= top && y < top + 4 && x >= left && x < left + 4;
        image[static_cast<std::size_t>(y * side + x)] = isIn ? 230 : 20;
      }
    }
    return id % 2;
  }

 private:
  DatasetInfo info_;
};

/// A resolved table [data]. \param flip  probability of a mirrored training image
inline Json dataTable(const std::string& normalize = "half", double flip = 0) {
  return {{"dataset", "squares"},
          {"train_samples", nullptr},
          {"test_samples", nullptr},
          {"subset", "stratified"},
          {"augment", {{"crop_padding", 0}, {"flip", flip}}},
          {"normalize", normalize}};
}

inline std::shared_ptr<const Pipeline> pipelineOf(const Json& data, std::uint64_t seed = 0,
                                                  std::int64_t side = 8) {
  return std::make_shared<const Pipeline>(test::transformRegistry(), Config(data),
                                          std::make_shared<Squares>(side), seed,
                                          Pipeline::ImageShape{});
}

}  // namespace vitrine::autoencoder
