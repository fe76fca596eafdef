// Keys of [task]: what they stand for, and which of them do not go together.
#pragma once

#include <cstdint>
#include <string>

#include "plugins/tasks/generation/draw.h"

namespace vitrine::generation {

/// Images whose features a judge compares each one with; a judged evaluation needs more samples.
inline constexpr std::int64_t kNeighbours = 3;

[[nodiscard]] diffusion::StepOutput stepOutputOf(const Config& task);
[[nodiscard]] diffusion::TransportOptions transportOptionsOf(const Config& task);
/// task.label_drop, else the model's own.
[[nodiscard]] double labelDropOf(const Config& task, const diffusion::GuidedDenoiser& model);
/// The process of the model's time.
/// \throws ConfigError  task.process asks for the other one
[[nodiscard]] diffusion::GuidedDenoiser::Time processOf(const Config& task,
                                                        const diffusion::GuidedDenoiser& model);

/// \throws ConfigError  a key that this process does not read has another value than its default,
///                      or a weight is set of a loss that has none
void requireReadKeys(const Config& task, diffusion::GuidedDenoiser::Time process);

/// Sampler of the images of evaluations.
struct SampleChoice {
  Method method = Method::Ode;
  std::string solver{};  ///< "": the sampler's own
};
/// \throws ConfigError  the sampler goes back through another process, or lacks that solver
[[nodiscard]] SampleChoice sampleChoiceOf(const Config& task,
                                          diffusion::GuidedDenoiser::Time process);
/// How evaluations draw.
/// \throws ConfigError  as sampleChoiceOf() and drawSettings()
[[nodiscard]] DrawSettings sampleSettingsOf(const Config& task, const GenerationSession& session);
/// \throws ConfigError  no evaluation of that run can draw its samples, or its judge score them
void requireUsableSamples(const Config& task, double labelDrop,
                          diffusion::GuidedDenoiser::Time process);

}  // namespace vitrine::generation
