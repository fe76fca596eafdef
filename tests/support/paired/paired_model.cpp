#include <ATen/ATen.h>

#include <cmath>
#include <set>

#include "core/base/random.h"
#include "core/config/item_card.h"
#include "core/model/tensor_program.h"
#include "paired.h"

namespace paired {

namespace {

/// Normal values from the `init` stream, by name.
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

/// [words, 8] and [batch + 1] -> [batch, 8]: the mean of each text's vectors.
at::Tensor meanOf(const at::Tensor& vectors, const at::Tensor& offsets) {
  const at::Tensor lengths = offsets.diff();
  const at::Tensor of =
      at::arange(lengths.size(0), lengths.options()).repeat_interleave(lengths);  // [words]
  const at::Tensor sums =
      at::zeros({lengths.size(0), kText}, vectors.options()).index_add(0, of, vectors);
  return sums / lengths.clamp_min(1).unsqueeze(1);
}

class PairedModel final : public torch::nn::Module,
                          public vitrine::Model,
                          public TextDenoiser,
                          public vitrine::TensorProgram {
 public:
  PairedModel(std::int64_t width, double dropout, std::uint64_t seed)
      : width_(width), dropout_(dropout) {
    const auto add = [&](const char* name, std::int64_t out, std::int64_t in) {
      return register_parameter(
          name, normal(seed, name, {out, in}, 1 / std::sqrt(static_cast<double>(in))));
    };
    image_ = add("image", width, kPixels);
    time_ = add("time", width, 2);
    text_ = add("text", width, kText);
    out_ = add("out", kPixels, width);
    bias_ = register_parameter("bias", at::zeros({width}));
  }
  torch::nn::Module& module() override { return *this; }
  std::vector<vitrine::OfferedCapability> capabilities() override {
    return vitrine::offersOf<TextDenoiser, vitrine::TensorProgram>(*this);
  }
  void setGenerator(const at::Generator& generator) override { generator_ = generator; }
  std::vector<vitrine::BlockCost> cost() const override {
    vitrine::BlockCost all;
    all.name = "all";
    all.kind = "mlp";
    all.parameters = width_ * (2 * kPixels + kText + 3);
    all.macs = static_cast<double>(width_ * (2 * kPixels + kText + 2));
    all.flops = 2 * all.macs;
    all.activationBytes = 4.0 * static_cast<double>(2 * width_ + 2 * kPixels);
    return {all};
  }

  std::vector<vitrine::TensorInput> tensorInputs() const override {
    using vitrine::kBatchAxis;
    return {{"image", at::kFloat, {kBatchAxis, 1, kSide, kSide}},
            {"t", at::kFloat, {kBatchAxis}, true, "0: an image, 1: noise"},
            {"word_vectors", at::kFloat, {"words", kText}, true, "of all texts, one after another"},
            {"offsets",
             at::kLong,
             {vitrine::Axis(kBatchAxis, 1)},
             true,
             "where each text begins, and the end"}};
  }
  std::vector<vitrine::TensorOutput> tensorOutputs() const override {
    using vitrine::kBatchAxis;
    return {{"features", {kBatchAxis, "width"}},
            {"velocity", {kBatchAxis, 1, kSide, kSide}, {"t", "word_vectors", "offsets"}}};
  }
  vitrine::TensorMap runTensors(const vitrine::TensorMap& inputs,
                                const std::set<std::string>& wanted) override {
    vitrine::TensorMap out;
    const at::Tensor& image = inputs.at("image");
    if (wanted.count("features") > 0) out["features"] = imageFeatures(image);
    if (wanted.count("velocity") > 0)
      out["velocity"] =
          velocity(image, inputs.at("t"), meanOf(inputs.at("word_vectors"), inputs.at("offsets")));
    return out;
  }

  at::Tensor imageFeatures(const at::Tensor& images) override {
    return at::tanh(at::linear(images.flatten(1), image_, bias_));
  }
  at::Tensor velocity(const at::Tensor& x, const at::Tensor& time,
                      const at::Tensor& text) override {
    at::Tensor hidden = at::linear(x.flatten(1), image_, bias_) +
                        at::linear(at::stack({time, time * time}, 1), time_) +
                        at::linear(text, text_);
    hidden = at::gelu(hidden);
    if (is_training() && dropout_ > 0) {
      hidden =
          hidden * at::empty_like(hidden).bernoulli_(1 - dropout_, generator_) / (1 - dropout_);
    }
    return at::linear(hidden, out_).view_as(x);
  }

 private:
  std::int64_t width_;
  double dropout_;
  at::Generator generator_;
  at::Tensor image_, time_, text_, out_, bias_;
};

}  // namespace

Reader::Reader(std::uint64_t seed) {
  embedding = register_parameter("embedding", normal(seed, "reader.embedding", {kWords, kText}, 1));
}

at::Tensor Reader::forward(const at::Tensor& words, const at::Tensor& offsets) const {
  return meanOf(embedding.index_select(0, words), offsets);
}

at::Tensor drawn(TextDenoiser& model, const at::Tensor& noise, const at::Tensor& text,
                 std::int64_t steps) {
  at::Tensor x = noise;
  const double size = 1.0 / static_cast<double>(steps);
  for (std::int64_t i = 0; i < steps; ++i) {
    const at::Tensor time = at::full({x.size(0)}, 1 - static_cast<double>(i) * size, x.options());
    x = x - size * model.velocity(x, time, text);
  }
  return x;
}

vitrine::ItemCard PairedArchitecture::card() const {
  vitrine::ItemCard card =
      vitrine::itemCard(vitrine::ItemKind::Architecture, "paired", "Paired",
                        "A small network that draws a quarter of an image from words");
  card.offers = {TextDenoiser::kId, vitrine::TensorProgram::kId};
  card.schema.fields = {
      vitrine::integerField("width", 32, "hidden units").titled("Width").range(1, 4096),
      vitrine::realField("dropout", 0.1, "share of hidden units left out")
          .titled("Dropout")
          .range(0, 0.9)};
  return card;
}

std::shared_ptr<vitrine::Model> PairedArchitecture::build(const vitrine::Config& config,
                                                          std::uint64_t seed) const {
  return std::make_shared<PairedModel>(config.integer("width"), config.real("dropout"), seed);
}

}  // namespace paired
