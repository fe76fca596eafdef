#include "plugins/analyses/receptive_field.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <torch/csrc/autograd/autograd.h>

#include <algorithm>
#include <string>
#include <utility>

#include "core/base/error.h"
#include "core/config/item_card.h"
#include "plugins/analyses/analyses.h"

namespace vitrine::analyses {

namespace {

constexpr std::int64_t kMostCells = 4096;

/// The blocks of a model report here while it lives.
class BlockTap {
 public:
  BlockTap(TokenEncoder& model, std::vector<at::Tensor>& outputs) : model_(model) {
    model_.setBlockTap(
        [&outputs](std::int64_t, const at::Tensor& tokens) { outputs.push_back(tokens); });
  }
  ~BlockTap() { model_.setBlockTap({}); }
  BlockTap(const BlockTap&) = delete;
  BlockTap& operator=(const BlockTap&) = delete;

 private:
  TokenEncoder& model_;
};

struct Central {
  std::int64_t token = 0, rows = 0, columns = 0;
  std::int64_t row = 0, column = 0;  ///< in patches
};

Central centralOf(const at::Tensor& positions) {
  at::Tensor places = positions.to(at::kCPU, at::kLong);
  if (places.dim() == 3) places = places[0];
  const at::Tensor sides = std::get<0>(places.max(0)) + 1;
  Central central{.rows = sides[0].item<std::int64_t>(), .columns = sides[1].item<std::int64_t>()};
  central.row = central.rows / 2;
  central.column = central.columns / 2;
  const at::Tensor isIt =
      places.select(1, 0).eq(central.row) & places.select(1, 1).eq(central.column);
  if (central.rows <= 0 || central.columns <= 0 || !isIt.any().item<bool>())
    throw ConfigError("no token of this model is a patch in the middle of the image");
  central.token = isIt.nonzero()[0].item<std::int64_t>();
  return central;
}

/// Pixels along a side of a cell: the fewest that divide the image and leave few enough cells.
std::int64_t cellSide(std::int64_t height, std::int64_t width, std::int64_t mostCells) {
  for (std::int64_t side = 1; side < std::max(height, width); ++side) {
    if (height % side == 0 && width % side == 0 && height / side * (width / side) <= mostCells)
      return side;
  }
  throw ConfigError("an image of " + std::to_string(height) + " x " + std::to_string(width) +
                    " pixels cannot be cut into at most " + std::to_string(mostCells) +
                    " square cells");
}

Artifact fieldArtifact(const ReceptiveField& field, std::int64_t images) {
  const at::Tensor all = at::stack(field.maps).to(at::kFloat).contiguous();
  const std::int64_t blocks = all.size(0), rows = all.size(1), columns = all.size(2);
  Artifact artifact{"receptive_field", "receptive field", artifact_kind::kAttention};
  setFloat32(artifact, {all.const_data_ptr<float>(), static_cast<std::size_t>(all.numel())},
             {blocks, 1, 1, rows * columns}, {"layer", "head", "query", "key"});
  Json places = Json::array();
  for (std::int64_t row = 0; row < rows; ++row) {
    for (std::int64_t column = 0; column < columns; ++column) places.push_back({row, column});
  }
  artifact.meta["key_positions"] = std::move(places);
  artifact.meta["query_positions"] = Json::array({Json::array({field.row, field.column})});
  artifact.meta["attention"] = "gradient";
  artifact.meta["unit"] = "share of the gradient of the patch in the middle";
  artifact.meta["image"] = nullptr;
  artifact.meta["images"] = images;
  return artifact;
}

}  // namespace

ReceptiveField receptiveFieldOf(TokenEncoder& model, const at::Tensor& images,
                                std::int64_t mostCells) {
  const std::int64_t side = cellSide(images.size(2), images.size(3), mostCells);
  const at::AutoGradMode gradient(true);
  const at::Tensor input = images.detach().clone().set_requires_grad(true);
  std::vector<at::Tensor> outputs;
  Central central;
  {
    const BlockTap tap(model, outputs);
    const Tokens tokens = model.embed(input);
    central = centralOf(tokens.positions);
    (void)model.encode(tokens, {});
  }
  ReceptiveField field;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    // Images do not see each other: the gradient of the sum over them is that of each.
    const at::Tensor sum = outputs[i].select(1, central.token).sum();
    const at::Tensor found =
        sum.requires_grad()
            ? torch::autograd::grad({sum}, {input}, {}, /*retain_graph=*/true,
                                    /*create_graph=*/false, /*allow_unused=*/true)[0]
            : at::Tensor();
    if (!found.defined())
      throw ConfigError("no gradient of block " + std::to_string(i) + " reaches the image");
    const at::NoGradGuard done;
    const at::Tensor size = found.to(at::kCPU, at::kDouble).abs().sum(1).mean(0);
    const at::Tensor cells =
        size.reshape({size.size(0) / side, side, size.size(1) / side, side}).sum({1, 3});
    field.maps.push_back(cells / cells.sum().clamp_min(1e-300));
  }
  if (field.maps.empty()) throw ConfigError("this model tells of no block");
  const auto middle = [&](std::int64_t patch, std::int64_t patches, std::int64_t cells) {
    return std::min((2 * patch + 1) * cells / (2 * patches), cells - 1);
  };
  field.row = middle(central.row, central.rows, field.maps.front().size(0));
  field.column = middle(central.column, central.columns, field.maps.front().size(1));
  return field;
}

double areaOf(const at::Tensor& map, double mass) {
  const at::Tensor sums = std::get<0>(map.flatten().sort(0, /*descending=*/true)).cumsum(0);
  constexpr double kRounding = 1e-9;
  const auto below = sums.lt(mass * sums[-1].item<double>() - kRounding).sum().item<std::int64_t>();
  return static_cast<double>(below + 1) / static_cast<double>(map.numel());
}

namespace {

class ReceptiveFieldAnalysis final : public Analysis {
 public:
  ItemCard card() const override {
    ItemCard card = itemCard(
        ItemKind::Analysis, "receptive_field", "Effective receptive field",
        "How much each part of the image counts for the patch in the middle, block by block");
    card.paper = "after Luo et al. 2016, arXiv:1701.04128";
    card.offers = {"attention_of_weights:gradient"};
    card.needs = {TokenEncoder::kId};
    card.schema.fields = runOnly({integerField("images", 8, "images whose gradients are averaged")
                                      .titled("Images")
                                      .range(1, 256)});
    return card;
  }
  Kind kind() const noexcept override { return Kind::Probe; }

  ProbeSamples probeSamples(const Config& config) const override {
    return {config.integer("images")};
  }

  std::function<Findings()> probe(const Config&, ProbeContext& context) const override {
    auto& encoder = requireCapability<TokenEncoder>(context.model, "this analysis");
    const at::Tensor& images = context.batch.at("image");
    ReceptiveField field = receptiveFieldOf(encoder, images, kMostCells);
    return [field = std::move(field), images = images.size(0)] {
      const at::NoGradGuard noGradient;
      Findings findings;
      findings.artifacts.push_back(fieldArtifact(field, images));
      findings.scores = {{"area_50", areaOf(field.maps.back(), 0.5)},
                         {"area_90", areaOf(field.maps.back(), 0.9)}};
      return findings;
    };
  }
};

}  // namespace

std::unique_ptr<Analysis> makeReceptiveField() {
  return std::make_unique<ReceptiveFieldAnalysis>();
}

}  // namespace vitrine::analyses
