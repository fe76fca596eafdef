#include "plain_mlp.h"

#include <ATen/ATen.h>
#include <torch/nn/module.h>

#include <cmath>

#include "core/base/random.h"

namespace plain_mlp {

namespace {

/// Normal values from the `init` stream: they depend on the parameter's name and nothing else.
at::Tensor normal(std::uint64_t seed, const std::string& name, std::vector<std::int64_t> shape,
                  double deviation) {
  const vitrine::RandomStream stream(seed, "init");
  at::Tensor values = at::empty(shape, at::kFloat);
  float* out = values.data_ptr<float>();
  for (std::int64_t i = 0; i < values.numel(); ++i) {
    out[i] = static_cast<float>(
        deviation * stream.normal(vitrine::nameHash(name), static_cast<std::uint64_t>(i)));
  }
  return values;
}

/// y = W x + b, registered so that its parameters are called `<name>.weight` and `<name>.bias`.
class Linear final : public torch::nn::Module {
 public:
  Linear(const std::string& name, std::int64_t in, std::int64_t out, std::uint64_t seed) {
    const double deviation = 1 / std::sqrt(static_cast<double>(in));
    weight_ = register_parameter("weight", normal(seed, name + ".weight", {out, in}, deviation));
    bias_ = register_parameter("bias", at::zeros({out}));
  }
  at::Tensor forward(const at::Tensor& x) const { return at::linear(x, weight_, bias_); }

 private:
  at::Tensor weight_, bias_;
};

class PlainMlp final : public torch::nn::Module,
                       public vitrine::Model,
                       public vitrine::ImageClassifier {
 public:
  PlainMlp(std::int64_t inputs, std::int64_t width, std::int64_t classes, std::uint64_t seed)
      : inputs_(inputs), width_(width), classes_(classes) {
    hidden_ = register_module("hidden", std::make_shared<Linear>("hidden", inputs, width, seed));
    head_ = register_module("head", std::make_shared<Linear>("head", width, classes, seed));
  }

  torch::nn::Module& module() override { return *this; }
  std::vector<vitrine::OfferedCapability> capabilities() override {
    return vitrine::offersOf<vitrine::ImageClassifier>(*this);
  }
  void setGenerator(const at::Generator&) override {}  // nothing is drawn

  at::Tensor features(const at::Tensor& images) override {
    return at::gelu(hidden_->forward(images.flatten(1)));
  }
  at::Tensor head(const at::Tensor& features) override { return head_->forward(features); }
  at::Tensor classify(const at::Tensor& images) override { return head(features(images)); }

  std::vector<vitrine::BlockCost> cost() const override {
    const auto layer = [](const char* name, const char* kind, std::int64_t in, std::int64_t out) {
      vitrine::BlockCost cost;
      cost.name = name;
      cost.kind = kind;
      cost.parameters = in * out + out;
      cost.macs = static_cast<double>(in * out);
      cost.flops = 2 * cost.macs + static_cast<double>(out);
      cost.activationBytes = 4.0 * static_cast<double>(in + out);
      return cost;
    };
    return {layer("hidden", "mlp", inputs_, width_), layer("head", "head", width_, classes_)};
  }

 private:
  std::int64_t inputs_, width_, classes_;
  std::shared_ptr<Linear> hidden_, head_;
};

}  // namespace

vitrine::ItemCard PlainMlpArchitecture::card() const {
  vitrine::ItemCard card;
  card.kind = vitrine::ItemKind::Architecture;
  card.id = "plain_mlp";
  card.title = "Plain MLP";
  card.doc = "Two layers over the pixels";
  card.offers = {vitrine::ImageClassifier::kId};
  card.schema.fields = {
      vitrine::sizeField("image_size", 28, "side of the square image, or [height, width]")
          .titled("Image size")
          .atLeast(1)
          .withUnit("px"),
      vitrine::integerField("in_channels", 1, "channels of an image")
          .titled("Input channels")
          .atLeast(1),
      vitrine::integerField("num_classes", 10, "classes").titled("Classes").atLeast(1),
      vitrine::integerField("width", 32, "hidden units").titled("Width").atLeast(1),
  };
  return card;
}

std::shared_ptr<vitrine::Model> PlainMlpArchitecture::build(const vitrine::Config& config,
                                                            std::uint64_t seed) const {
  const auto [height, width] = config.size("image_size");
  return std::make_shared<PlainMlp>(config.integer("in_channels") * height * width,
                                    config.integer("width"), config.integer("num_classes"), seed);
}

}  // namespace plain_mlp
