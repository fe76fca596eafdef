// iLLaMA: Wang et al. 2024, "Adapting LLaMA Decoder to Vision Transformer", arXiv:2404.06773. A
// LLaMA decoder that reads images, and every step of the road there from a plain ViT.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/nn/vision_transformer.h"
#include "core/plugin/registry.h"
#include "plugins/illama/causal_mask.h"

namespace vitrine::illama {

enum class MaskSchedule {
  None,      ///< the factor stays what the configuration says
  Constant,  ///< `start` until the cutoff, then 0
  Linear,    ///< from `start` to 0, reached at the last step before the cutoff
};

/// The soft mask's factor at optimizer step `step`, 0-based, with the cutoff after `cutoffSteps`
/// steps (Algorithm 1 and the authors' mask_scheduler.py). Not for MaskSchedule::None.
[[nodiscard]] double maskAlphaAt(MaskSchedule schedule, double start, std::int64_t cutoffSteps,
                                 std::int64_t step);

/// Schedule of the soft mask.
struct SoftMask {
  MaskSchedule schedule = MaskSchedule::None;
  std::optional<double>
      alpha;  ///< schedule None: the factor, absent means 0; else where it starts, absent means 1
  std::int64_t epochs = 0;  ///< cutoff
};

/// The encoder with a mask that a schedule softens. A new model and a finished one have factor 0;
/// between, the trainer moves it.
class Illama final : public nn::VisionTransformer, public Scheduled {
 public:
  /// \param mask  that of the configuration; null where it has none
  Illama(const nn::VisionTransformerConfig& config, std::shared_ptr<CausalMask> mask,
         const SoftMask& softMask, std::uint64_t seed);
  [[nodiscard]] std::vector<OfferedCapability> capabilities() override;
  void beforeStep(const StepPosition& position) override;
  [[nodiscard]] std::vector<std::pair<std::string, double>> scheduledValues() const override;
  /// The end of a soft mask: from then on the model is causal.
  [[nodiscard]] std::vector<Occurrence> occurrences() const override;
  /// Factor 0, unless the configuration fixes another one (schedule None).
  void finish() override;

 private:
  std::shared_ptr<CausalMask> mask_;
  SoftMask softMask_;
  bool hasJustEnded_ = false;
};

class IllamaArchitecture final : public Architecture {
 public:
  [[nodiscard]] ItemCard card() const override;
  [[nodiscard]] std::shared_ptr<Model> build(const Config& config,
                                             std::uint64_t seed) const override;
  [[nodiscard]] std::vector<WeightSign> weightSigns() const override;
};

}  // namespace vitrine::illama
