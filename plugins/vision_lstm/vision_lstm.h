// Vision-LSTM: Alkin et al. 2024, "Vision-LSTM: xLSTM as Generic Vision Backbone",
// arXiv:2406.04303.
#pragma once

#include <ATen/core/Generator.h>
#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "core/model/capabilities.h"
#include "core/model/tensor_program.h"
#include "core/plugin/architecture.h"
#include "plugins/vision_lstm/config.h"
#include "plugins/vision_lstm/memory_source.h"

namespace vitrine::vision_lstm {

/// Parameters carry the names of the published package: pairs of blocks where two scans alternate,
/// single blocks otherwise.
class VisionLstm final : public Model,
                         public ImageClassifier,
                         public TokenEncoder,
                         public FeaturePyramid,
                         public TensorProgram,
                         public MemorySource {
 public:
  VisionLstm(const VisionLstmConfig& config, std::uint64_t seed);
  ~VisionLstm() override;
  VisionLstm(const VisionLstm&) = delete;
  VisionLstm& operator=(const VisionLstm&) = delete;

  [[nodiscard]] const VisionLstmConfig& config() const noexcept;
  [[nodiscard]] torch::nn::Module& module() override;
  [[nodiscard]] std::vector<BlockCost> cost() const override;
  /// Names of both published versions and of training checkpoints; positions of another grid.
  void transform(WeightSource& source) override;
  /// A classifier only with classes.
  [[nodiscard]] std::vector<OfferedCapability> capabilities() override;
  void setGenerator(const at::Generator& generator) override;

  [[nodiscard]] at::Tensor classify(const at::Tensor& images) override;
  [[nodiscard]] at::Tensor features(const at::Tensor& images) override;
  [[nodiscard]] at::Tensor head(const at::Tensor& features) override;

  /// Positions added, class tokens in their places.
  [[nodiscard]] Tokens embed(const at::Tensor& images) override;
  /// After the last norm.
  /// \throws RefusedError  a mask, or other tokens than those of a whole image: a scan needs its
  ///         grid
  [[nodiscard]] at::Tensor encode(const Tokens& tokens, const at::Tensor& mask) override;
  void setBlockTap(std::function<void(std::int64_t, const at::Tensor&)> tap) override;

  [[nodiscard]] std::vector<Level> levels(const std::vector<std::int64_t>& blocks) const override;
  [[nodiscard]] std::vector<at::Tensor> pyramid(const at::Tensor& images,
                                                const std::vector<std::int64_t>& blocks) override;

  [[nodiscard]] std::vector<TensorInput> tensorInputs() const override;
  [[nodiscard]] std::vector<TensorOutput> tensorOutputs() const override;
  [[nodiscard]] TensorMap runTensors(const TensorMap& inputs,
                                     const std::set<std::string>& wanted) override;

  [[nodiscard]] kernels::MlstmOptions memoryOptions() const override;
  [[nodiscard]] std::vector<MemoryRecord> memories(
      const at::Tensor& images, const std::vector<std::int64_t>& layers) override;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

class VisionLstmArchitecture final : public Architecture {
 public:
  [[nodiscard]] ItemCard card() const override;
  [[nodiscard]] std::shared_ptr<Model> build(const Config& config,
                                             std::uint64_t seed) const override;
  [[nodiscard]] std::vector<WeightSign> weightSigns() const override;
};

}  // namespace vitrine::vision_lstm
