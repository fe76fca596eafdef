// Results of evaluations, analyses and samplers.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "core/artifact/artifact.h"
#include "core/artifact/generated.h"
#include "core/engine_export.h"

namespace vitrine {

using Scores = std::vector<std::pair<std::string, double>>;  ///< {"top1", 0.861}

/// Takes results one by one, as they come. Step, split and weights are filled in by the caller.
class VITRINE_ENGINE_EXPORT Results {
 public:
  virtual ~Results();
  virtual void score(const std::string& name, double value) = 0;
  virtual void artifact(Artifact artifact) = 0;
  virtual void image(GeneratedImage image) = 0;
  virtual void text(GeneratedText text) = 0;
  /// Steps of a long computation, for a progress display. Here: not shown.
  virtual void progress(std::int64_t done, std::int64_t total);
  /// Asked between two steps of a long computation, which then ends early with what it has.
  [[nodiscard]] virtual bool isCancelled();
};

/// Keeps all of them.
struct VITRINE_ENGINE_EXPORT CollectedResults : Results {
  void score(const std::string& name, double value) override { scores.emplace_back(name, value); }
  void artifact(Artifact artifact) override { artifacts.push_back(std::move(artifact)); }
  void image(GeneratedImage image) override { images.push_back(std::move(image)); }
  void text(GeneratedText text) override { texts.push_back(std::move(text)); }

  Scores scores;
  std::vector<Artifact> artifacts;
  std::vector<GeneratedImage> images;
  std::vector<GeneratedText> texts;
};

}  // namespace vitrine
