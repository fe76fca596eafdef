// Image generation: a network learns to take noise away, in pixels or in the latents of a codec.
#pragma once

#include <memory>

#include "core/diffusion/guidance.h"
#include "core/diffusion/noise_process.h"
#include "core/diffusion/transport.h"
#include "core/plugin/pipeline_session.h"
#include "core/plugin/registry.h"

namespace vitrine::generation {

/// Network, process and guidance of a run, for samplers.
class GenerationSession : public PipelineSession {
 public:
  using PipelineSession::PipelineSession;
  /// The trained network, and its unit of time with its label drop.
  [[nodiscard]] virtual Denoiser& denoiser() const = 0;
  [[nodiscard]] virtual const diffusion::GuidedDenoiser& guidance() const = 0;
  /// Share of the samples that the run learns without their label; 0: it cannot be guided.
  [[nodiscard]] virtual double labelDrop() const = 0;
  /// Steps of a diffusion, or a path from noise to data.
  [[nodiscard]] virtual diffusion::GuidedDenoiser::Time process() const = 0;
  [[nodiscard]] virtual const diffusion::NoiseProcess& steps() const = 0;  ///< \pre process() Step
  [[nodiscard]] virtual const diffusion::StepOutput& stepOutput() const = 0;
  [[nodiscard]] virtual const diffusion::Transport& transport() const = 0;  ///< \pre Flow
  [[nodiscard]] virtual bool hasCodec() const = 0;                          ///< states are latents
  [[nodiscard]] virtual AttentionSource* attention() const = 0;  ///< nullptr: it hands out none
  /// Images in [-1, 1] of what was sampled: itself, or decoded. [B, C, H, W]
  [[nodiscard]] virtual at::Tensor images(const at::Tensor& state) const = 0;
};

/// Scores of a split: loss with the same noise and times whatever the run and step, of steps also
/// mse and vb. Artifact: a grid of samples, one of each class. With a judge ([aux] and task.judge)
/// it gives scores `<split>/samples/...` on samples.count images: agreement (its answer is the
/// requested class), frechet, precision, recall, inception. The table has its name and hash.
class GenerationTask final : public Task {
 public:
  [[nodiscard]] ItemCard card() const override;
  /// \pre setup.pipeline is set
  /// \throws ConfigError  data, codec, judge and model do not fit together: says what to set
  [[nodiscard]] std::unique_ptr<TaskSession> open(const TaskSetup& setup) const override;
  /// \throws ConfigError  keys of the other process, or a weight of a loss that has none; samples
  ///                      that this run cannot draw, or that are too few for its judge
  void requireStartable(const Config& task, Model& model) const override;
};

}  // namespace vitrine::generation
