#include <ATen/ATen.h>

#include <algorithm>
#include <array>
#include <utility>

#include "core/artifact/cue_decisions.h"
#include "core/base/error.h"
#include "core/config/item_card.h"
#include "plugins/analyses/analyses.h"

namespace vitrine::analyses {

namespace {

constexpr const char *kShape = "shape", *kTexture = "texture";

class Listener final : public EvaluationListener {
 public:
  explicit Listener(std::vector<std::string> classes) : classes_(std::move(classes)) {}

  void batch(const EvaluationBatch& batch) override {
    const auto onCpu = [](const at::Tensor& tensor) {
      return tensor.to(at::kCPU, at::kLong).contiguous();
    };
    const at::Tensor& logits = batch.output("logits");
    const at::Tensor decided = onCpu(logits.argmax(1)), shapes = onCpu(batch.batch.at(kShape)),
                     textures = onCpu(batch.batch.at(kTexture));
    counts_.resize(std::max(counts_.size(), static_cast<std::size_t>(logits.size(1))));
    for (std::int64_t i = 0; i < decided.numel(); ++i) {
      const auto shape = shapes.const_data_ptr<std::int64_t>()[i];
      const auto texture = textures.const_data_ptr<std::int64_t>()[i];
      const auto decision = decided.const_data_ptr<std::int64_t>()[i];
      // Cues that agree decide nothing.
      if (shape == texture || shape < 0 || shape >= std::ssize(counts_)) continue;
      auto& [images, byShape, byTexture] = counts_[static_cast<std::size_t>(shape)];
      ++images;
      byShape += decision == shape ? 1 : 0;
      byTexture += decision == texture ? 1 : 0;
    }
  }

  void finish(Results& results) override {
    std::vector<double> values;
    double shape = 0, either = 0;
    for (const auto& [images, byShape, byTexture] : counts_) {
      values.insert(values.end(), {images, byShape, byTexture});
      shape += byShape;
      either += byShape + byTexture;
    }
    if (either > 0) results.score("shape_bias", shape / either);
    Artifact artifact{"shape_bias", "decisions", artifact_kind::kCueDecisions};
    setFloat64(artifact, values, {std::ssize(counts_), 3}, {"class", "images, shape, texture"});
    if (classes_.size() == counts_.size()) artifact.meta["class_names"] = classes_;
    results.artifact(std::move(artifact));
  }

 private:
  std::vector<std::string> classes_;
  std::vector<std::array<double, 3>> counts_;  ///< by class of the shape
};

class ShapeBias final : public Analysis {
 public:
  ItemCard card() const override {
    ItemCard card = itemCard(ItemKind::Analysis, "shape_bias", "Shape bias");
    card.paper = "Geirhos et al. 2019, arXiv:1811.12231";
    card.doc =
        "Whether the model goes by shape or by texture, on images whose cues are of two classes";
    card.needs = {"image_classifier"};
    return card;
  }
  Kind kind() const noexcept override { return Kind::Listener; }
  std::vector<std::string> outputs() const override { return {"logits"}; }

  std::unique_ptr<EvaluationListener> listen(const Config&,
                                             const DatasetInfo& dataset) const override {
    for (const char* wanted : {kShape, kTexture}) {
      const bool isThere = std::any_of(dataset.fields.begin(), dataset.fields.end(),
                                       [&](const auto& field) { return field.name == wanted; });
      if (!isThere)
        throw ConfigError(std::string("shape_bias needs data with the label fields 'shape' and "
                                      "'texture', as cue_conflict has them; '") +
                          wanted + "' is missing");
    }
    return std::make_unique<Listener>(dataset.classes);
  }
};

}  // namespace

std::unique_ptr<Analysis> makeShapeBias() { return std::make_unique<ShapeBias>(); }

}  // namespace vitrine::analyses
