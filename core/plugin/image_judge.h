// A trained classifier that looks at generated images: do they show what was asked for, and are
// their features spread as those of real ones?
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <string>

#include "core/plugin/pixel_map.h"
#include "core/plugin/task.h"

namespace vitrine {

class VITRINE_ENGINE_EXPORT ImageJudge {
 public:
  /// \param network  [aux.NAME], a classifier of images that a run of `classification` made
  /// \param data     what this run draws: a judge has to know the same classes
  /// \throws ConfigError  it is not a classifier, or how it was shown pixels is not known
  ImageJudge(const AuxiliaryNetwork& network, const DatasetInfo& data);

  struct Look {
    at::Tensor features, logits;  ///< [B, width], [B, classes]; float32 on the CPU
  };
  /// \param bytes  [B, C, H, W], as stored \throws ConfigError  it has other classes
  [[nodiscard]] Look look(const at::Tensor& bytes, at::Device device) const;
  /// For before a training at whose end it looks. \param image  [C, H, W]
  /// \throws ConfigError  it reads images of another size, or has other classes
  void requireImages(const std::vector<std::int64_t>& image) const;

  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  [[nodiscard]] const std::string& sha256() const noexcept { return sha256_; }

 private:
  std::string name_, sha256_;
  std::shared_ptr<Model> model_;
  ImageClassifier* classifier_;
  PixelScale pixels_;
  std::int64_t classes_;
};

}  // namespace vitrine
