#include "plugins/analyses/first_layer.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/config/item_card.h"
#include "plugins/analyses/analyses.h"

namespace vitrine::analyses {

namespace {

constexpr std::int64_t kAtOnce = 64;       // images embedded together
constexpr double kLinearTolerance = 1e-3;  // of the largest change of a token, in float32

struct Grid {
  at::Tensor onGrid;                   ///< [patches] which tokens
  at::Tensor positions;                ///< [patches, 2]
  std::int64_t height = 0, width = 0;  ///< pixels of a patch
};

Grid gridOf(const Tokens& tokens, const at::Tensor& image) {
  at::Tensor places = tokens.positions.to(at::kCPU, at::kLong);
  if (places.dim() == 3) places = places[0];
  Grid grid{.onGrid = std::get<0>(places.min(1)).ge(0).nonzero().flatten()};
  if (grid.onGrid.numel() == 0) throw ConfigError("no token of this model is a patch");
  grid.positions = places.index_select(0, grid.onGrid);
  const at::Tensor sides = std::get<0>(grid.positions.max(0)) + 1;
  const auto rows = sides[0].item<std::int64_t>(), columns = sides[1].item<std::int64_t>();
  if (image.size(2) % rows != 0 || image.size(3) % columns != 0)
    throw ConfigError("patches of this model do not divide its image");
  grid.height = image.size(2) / rows;
  grid.width = image.size(3) / columns;
  return grid;
}

/// Tokens of the first patch for each image, less those of zeros: [images, D].
at::Tensor changesOf(TokenEncoder& model, const at::Tensor& images, std::int64_t token,
                     const at::Tensor& atZero) {
  const at::Tensor values = model.embed(images).values.select(1, token);
  return values.to(at::kCPU, at::kDouble) - atZero;
}

Artifact filtersArtifact(const at::Tensor& filters, std::int64_t most) {
  const at::Tensor all = filters.flatten(1), rows = all - all.mean(0, /*keepdim=*/true);
  const auto [left, singular, right] = at::linalg_svd(rows, /*full_matrices=*/false);
  const at::Tensor shares = singular.square() / singular.square().sum().clamp_min(1e-300);
  const std::int64_t count = std::min(most, right.size(0));
  const std::int64_t channels = filters.size(1);
  at::Tensor pictures =
      right.narrow(0, 0, count).reshape({count, channels, filters.size(2), filters.size(3)});
  if (channels != 1 && channels != 3) pictures = pictures.mean(1, /*keepdim=*/true);
  // A singular vector has no sign of its own: the largest value is bright.
  const at::Tensor flat = pictures.flatten(1);
  const at::Tensor strongest = flat.gather(1, flat.abs().argmax(1, /*keepdim=*/true));
  const at::Tensor scaled = flat / strongest.where(strongest.ne(0), at::ones_like(strongest));
  const at::Tensor pixels = (scaled * 127.5 + 127.5)
                                .round()
                                .clamp(0, 255)
                                .to(at::kByte)
                                .reshape_as(pictures)
                                .permute({0, 2, 3, 1})
                                .contiguous();
  Artifact artifact{"first_layer", "filters", artifact_kind::kImageGrid};
  setUint8(artifact,
           {pixels.const_data_ptr<std::uint8_t>(), static_cast<std::size_t>(pixels.numel())},
           pixels.sizes().vec(), {"component", "row", "column", "channel"});
  artifact.meta["title"] = "Principal patch filters";
  Json explained = Json::array(), labels = Json::array();
  for (std::int64_t i = 0; i < count; ++i) {
    const auto share = shares[i].item<double>();
    explained.push_back(share);
    labels.push_back(std::to_string(std::lround(100 * share)) + " %");
  }
  artifact.meta["explained"] = std::move(explained);
  artifact.meta["labels"] = std::move(labels);
  artifact.meta["filters"] = filters.size(0);
  return artifact;
}

Artifact positionsArtifact(const FirstLayer& layer) {
  const at::Tensor lengths = layer.tokens.norm(2, 1, /*keepdim=*/true).clamp_min(1e-12);
  const at::Tensor unit = layer.tokens / lengths;
  const at::Tensor cosines = unit.matmul(unit.t()).to(at::kFloat).contiguous();
  const std::int64_t patches = cosines.size(0);
  Artifact artifact{"first_layer", "positions", artifact_kind::kAttention};
  setFloat32(artifact, {cosines.const_data_ptr<float>(), static_cast<std::size_t>(cosines.numel())},
             {1, 1, patches, patches}, {"layer", "head", "query", "key"});
  Json places = Json::array();
  for (std::int64_t i = 0; i < patches; ++i) {
    places.push_back(
        {layer.positions[i][0].item<std::int64_t>(), layer.positions[i][1].item<std::int64_t>()});
  }
  artifact.meta["key_positions"] = places;
  artifact.meta["query_positions"] = std::move(places);
  artifact.meta["attention"] = "similarity";
  artifact.meta["unit"] = "cosine similarity of positions";
  artifact.meta["image"] = nullptr;
  if (!layer.filters.defined())
    artifact.meta["filters"] = "left out: the embedding is not linear in the pixels";
  return artifact;
}

}  // namespace

FirstLayer firstLayerOf(TokenEncoder& model, const at::Tensor& image) {
  const at::NoGradGuard noGradient;
  const at::Tensor zeros = at::zeros_like(image.narrow(0, 0, 1));
  const Tokens base = model.embed(zeros);
  const Grid grid = gridOf(base, zeros);
  const at::Tensor values = base.values[0].to(at::kCPU, at::kDouble);
  FirstLayer layer{.tokens = values.index_select(0, grid.onGrid), .positions = grid.positions};
  // One pixel after another of the patch in the corner.
  const at::Tensor isFirst = std::get<0>(grid.positions.max(1)).eq(0).nonzero().flatten();
  const auto token = grid.onGrid[isFirst[0].item<std::int64_t>()].item<std::int64_t>();
  const at::Tensor atZero = values[token];
  const std::int64_t channels = zeros.size(1), perChannel = grid.height * grid.width;
  const std::int64_t pixels = channels * perChannel;
  std::vector<at::Tensor> changes;
  for (std::int64_t first = 0; first < pixels; first += kAtOnce) {
    const std::int64_t count = std::min(kAtOnce, pixels - first);
    at::Tensor images = at::zeros({count, channels, zeros.size(2), zeros.size(3)}, zeros.options());
    for (std::int64_t i = 0; i < count; ++i) {
      const std::int64_t pixel = first + i, within = pixel % perChannel;
      images[i][pixel / perChannel][within / grid.width][within % grid.width].fill_(1);
    }
    changes.push_back(changesOf(model, images, token, atZero));
  }
  const at::Tensor filters = at::cat(changes).t();  // [D, pixels]
  // All pixels at once change a linear layer by the sum of what each of them does.
  at::Tensor whole = zeros.clone();
  whole.narrow(2, 0, grid.height).narrow(3, 0, grid.width).fill_(2);
  const at::Tensor wanted = 2 * filters.sum(1);
  const at::Tensor seen = changesOf(model, whole, token, atZero)[0];
  const double scale = std::max(wanted.abs().max().item<double>(), 1e-12);
  if ((seen - wanted).abs().max().item<double>() <= kLinearTolerance * scale)
    layer.filters = filters.reshape({-1, channels, grid.height, grid.width}).contiguous();
  return layer;
}

namespace {

class FirstLayerAnalysis final : public Analysis {
 public:
  ItemCard card() const override {
    ItemCard card =
        itemCard(ItemKind::Analysis, "first_layer", "First layer",
                 "Principal filters of the patch embedding, and how alike positions are");
    card.paper = "after Dosovitskiy et al. 2021, arXiv:2010.11929, figure 7";
    card.offers = {"attention_of_weights:similarity"};
    card.needs = {TokenEncoder::kId};
    card.schema.fields = runOnly({integerField("filters", 28, "principal filters that are stored")
                                      .titled("Filters")
                                      .range(1, 256)});
    return card;
  }
  Kind kind() const noexcept override { return Kind::Probe; }

  ProbeSamples probeSamples(const Config&) const override { return {1}; }

  std::function<Findings()> probe(const Config& config, ProbeContext& context) const override {
    auto& encoder = requireCapability<TokenEncoder>(context.model, "this analysis");
    FirstLayer layer = firstLayerOf(encoder, context.batch.at("image"));
    return [layer = std::move(layer), most = config.integer("filters")] {
      const at::NoGradGuard noGradient;
      Findings findings;
      if (layer.filters.defined())
        findings.artifacts.push_back(filtersArtifact(layer.filters, most));
      findings.artifacts.push_back(positionsArtifact(layer));
      return findings;
    };
  }
};

}  // namespace

std::unique_ptr<Analysis> makeFirstLayer() { return std::make_unique<FirstLayerAnalysis>(); }

}  // namespace vitrine::analyses
