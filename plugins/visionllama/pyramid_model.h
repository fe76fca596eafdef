// The pyramid VisionLLaMA: stages of falling resolution whose blocks see windows and sub-sampled
// keys in turn (section 3.2, the skeleton of Twins-SVT). For source files only.
#pragma once

#include <ATen/core/Generator.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/model/capabilities.h"
#include "core/model/tensor_program.h"
#include "core/nn/layers.h"
#include "plugins/visionllama/map_block.h"

namespace vitrine::visionllama {

struct StageOptions {
  std::int64_t width = 0, depth = 0, heads = 1, hidden = 0;
  std::int64_t reduction = 1;  ///< tokens along a side of a cell of keys
};

struct PyramidOptions {
  Sides imageSize{224, 224};  ///< that cost and checks are for
  std::int64_t patchSize = 4;
  std::int64_t inChannels = 3;
  std::int64_t classes = 0;  ///< 0: no norm and no classifier behind the last stage
  std::vector<StageOptions> stages;
  BlockSettings block;
  std::int64_t window = 7;
  KeyPlaces keyPlaces = KeyPlaces::Calibrated;
  bool isNormedTwice = false;  ///< the final norm again behind the pooling
  bool hasPeg = false;         ///< a 3 x 3 depthwise convolution behind the first block of a stage
  bool hasStageNorms = false;  ///< a norm behind each stage, which the next one reads
  RopeSettings rope;

  /// Pixels along a side of a patch of that stage.
  [[nodiscard]] std::int64_t stride(std::size_t stage) const { return patchSize << stage; }
};

/// Makes the maps of all stages and says what happened on the way.
class PyramidModel : public Model, public FeaturePyramid, public AttentionSource {
 public:
  /// \throws ConfigError  sizes that do not fit together
  PyramidModel(PyramidOptions options, std::uint64_t seed);
  ~PyramidModel() override;
  PyramidModel(const PyramidModel&) = delete;
  PyramidModel& operator=(const PyramidModel&) = delete;

  [[nodiscard]] const PyramidOptions& options() const noexcept { return options_; }
  [[nodiscard]] torch::nn::Module& module() override;
  [[nodiscard]] std::vector<BlockCost> cost() const override;
  [[nodiscard]] std::vector<std::pair<std::string, ParameterInfo>> parameterInfo() override;
  void setGenerator(const at::Generator& generator) override { generator_ = generator; }

  [[nodiscard]] std::vector<Level> levels(const std::vector<std::int64_t>& blocks) const override;
  [[nodiscard]] std::vector<at::Tensor> pyramid(const at::Tensor& images,
                                                const std::vector<std::int64_t>& blocks) override;

  /// Layers are the blocks of all stages in their order.
  [[nodiscard]] std::int64_t attentionLayers() const override;
  [[nodiscard]] std::int64_t attentionHeads(std::int64_t layer) const override;
  /// Records of windows leave padding out: their rows sum to less than one.
  void setAttentionTap(std::shared_ptr<const AttentionTap> tap) override;

 protected:
  /// Watches one pass. Tokens are [batch, height * width, channels].
  struct Watch {
    std::function<void(std::size_t stage, std::size_t block, const at::Tensor& tokens)> block = {};
    std::function<void(std::size_t stage, const at::Tensor& tokens)> peg = {};
    /// As MapCall::tap, by layer.
    std::function<void(std::int64_t layer, const at::Tensor& softmax)> attention = {};
  };
  /// Tokens behind every stage.
  [[nodiscard]] std::vector<at::Tensor> run(const at::Tensor& images, const Watch& watch);
  [[nodiscard]] Sides gridOf(const at::Tensor& images, std::size_t stage) const;
  /// The final norm and the classifier.
  [[nodiscard]] at::Tensor pooled(const at::Tensor& tokens) const;
  [[nodiscard]] at::Tensor normed(const at::Tensor& features) const;
  [[nodiscard]] at::Tensor classified(const at::Tensor& features) const;

  /// Inputs and outputs that both kinds of programs have.
  [[nodiscard]] TensorInput imageInput() const;
  [[nodiscard]] std::vector<TensorOutput> watchedOutputs() const;
  /// Puts the wanted ones into `out` during run().
  [[nodiscard]] Watch watchFor(const std::set<std::string>& wanted, TensorMap& out) const;

 private:
  struct Network;
  void checkSizes() const;
  [[nodiscard]] const GridAngles& anglesOf(std::size_t stage, Sides grid, at::Device device);
  [[nodiscard]] bool isTapped(std::int64_t layer) const;
  void report(std::int64_t layer, const MapBlockOptions& block, Sides grid,
              const at::Tensor& softmax) const;

  PyramidOptions options_;
  std::shared_ptr<Network> network_;
  std::vector<HeadRotation> rotations_;  ///< by stage
  at::Generator generator_;
  std::shared_ptr<const AttentionTap> tap_;
  /// Angles of grids that were seen, by stage, height and width, on the device of the last use.
  std::map<std::array<std::int64_t, 3>, std::pair<at::Device, GridAngles>> angles_;
};

/// With a classifier on the mean of the last stage.
class PyramidClassifier final : public PyramidModel, public ImageClassifier, public TensorProgram {
 public:
  using PyramidModel::PyramidModel;
  [[nodiscard]] std::vector<OfferedCapability> capabilities() override;
  [[nodiscard]] at::Tensor classify(const at::Tensor& images) override;
  [[nodiscard]] at::Tensor features(const at::Tensor& images) override;
  [[nodiscard]] at::Tensor head(const at::Tensor& features) override;
  [[nodiscard]] std::vector<TensorInput> tensorInputs() const override;
  [[nodiscard]] std::vector<TensorOutput> tensorOutputs() const override;
  [[nodiscard]] TensorMap runTensors(const TensorMap& inputs,
                                     const std::set<std::string>& wanted) override;
};

/// The maps alone, for dense tasks.
class PyramidBackbone final : public PyramidModel, public TensorProgram {
 public:
  using PyramidModel::PyramidModel;
  [[nodiscard]] std::vector<OfferedCapability> capabilities() override;
  [[nodiscard]] std::vector<TensorInput> tensorInputs() const override;
  [[nodiscard]] std::vector<TensorOutput> tensorOutputs() const override;
  [[nodiscard]] TensorMap runTensors(const TensorMap& inputs,
                                     const std::set<std::string>& wanted) override;
};

}  // namespace vitrine::visionllama
