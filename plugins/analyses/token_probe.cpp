#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/config/item_card.h"
#include "core/model/model_device.h"
#include "core/plugin/task.h"
#include "plugins/analyses/analyses.h"

namespace vitrine::analyses {

namespace {

constexpr std::size_t kImagesAtOnce = 64;
constexpr double kLeastPenalty = 1e-12;  // of features that never change

/// Places of the tokens of every row of patches, from left to right.
std::vector<at::Tensor> tokensByRow(const at::Tensor& positions) {
  at::Tensor places = positions.to(at::kCPU, at::kLong);
  if (places.dim() == 3) places = places[0];
  const at::Tensor rows = places.select(1, 0);
  const auto count = rows.max().item<std::int64_t>() + 1;
  if (count < 1) throw ConfigError("no token of this model is a patch of the image");
  std::vector<at::Tensor> tokens;
  for (std::int64_t row = 0; row < count; ++row) tokens.push_back(rows.eq(row).nonzero().flatten());
  return tokens;
}

/// Some images as a probe sees them.
struct ProbedImages {
  std::vector<at::Tensor> rows;  ///< of each row [images, tokens, D], float64 on the CPU
  at::Tensor labels;             ///< [images] int64
};

/// Calls `use` with the images of `ids`, a few at a time.
template <class Use>
void readTokens(ProbeContext& context, Split split, const std::vector<std::int64_t>& ids, Use use) {
  auto& encoder = requireCapability<TokenEncoder>(context.model, "this analysis");
  const at::Device device = deviceOf(context.model);
  for (std::size_t first = 0; first < ids.size(); first += kImagesAtOnce) {
    const std::size_t end = std::min(ids.size(), first + kImagesAtOnce);
    const std::vector<std::int64_t> some(ids.begin() + static_cast<std::ptrdiff_t>(first),
                                         ids.begin() + static_cast<std::ptrdiff_t>(end));
    const Batch batch = context.session.read(split, some);
    const Tokens tokens = encoder.embed(batch.at("image").to(device));
    const at::Tensor values = encoder.encode(tokens, {}).to(at::kCPU, at::kDouble);
    ProbedImages images{.labels = batch.at("label").to(at::kCPU, at::kLong)};
    for (const at::Tensor& row : tokensByRow(tokens.positions))
      images.rows.push_back(values.index_select(1, row));
    use(images);
  }
}

/// Sums over the tokens of one row, from which its regression follows.
struct RowSums {
  at::Tensor squares, products;  ///< [D, D], [D, classes]
  at::Tensor features, answers;  ///< [D], [classes]
  double count = 0;

  /// \param tokens  [images, tokens, D] \param classes  [images, classes], 1 at the label
  void add(const at::Tensor& tokens, const at::Tensor& classes) {
    const at::Tensor x = tokens.flatten(0, 1), y = classes.repeat_interleave(tokens.size(1), 0);
    const auto addTo = [](at::Tensor& sum, const at::Tensor& more) {
      sum = sum.defined() ? sum + more : more;
    };
    addTo(squares, x.t().matmul(x));
    addTo(products, x.t().matmul(y));
    addTo(features, x.sum(0));
    addTo(answers, y.sum(0));
    count += static_cast<double>(x.size(0));
  }
};

struct LinearProbe {
  at::Tensor weights, offset;  ///< [D, classes], [classes]
};

/// Centred ridge regression. \param ridge  penalty, times the mean variance of a feature
LinearProbe fitted(const RowSums& sums, double ridge) {
  const at::Tensor mean = sums.features / sums.count, answer = sums.answers / sums.count;
  const at::Tensor covariance = sums.squares / sums.count - at::outer(mean, mean);
  const double penalty = ridge * covariance.diagonal().mean().item<double>() + kLeastPenalty;
  LinearProbe probe;
  probe.weights =
      at::linalg_solve(covariance + at::eye(covariance.size(0), covariance.options()) * penalty,
                       sums.products / sums.count - at::outer(mean, answer));
  probe.offset = answer - mean.matmul(probe.weights);
  return probe;
}

/// Findings of the shares of right answers, [tokens] for each row.
Analysis::Findings probeFindings(const std::vector<at::Tensor>& shares, const Json& meta) {
  Analysis::Findings findings;
  std::vector<double> curve, means;
  for (std::size_t row = 0; row < shares.size(); ++row) {
    means.push_back(shares[row].mean().item<double>());
    curve.insert(curve.end(), {static_cast<double>(row), means.back()});
    findings.scores.emplace_back("top1/" + std::to_string(row), means.back());
  }
  findings.scores.emplace_back("top1", at::cat(shares).mean().item<double>());
  findings.scores.emplace_back("rise", means.back() - means.front());

  Artifact line{.name = "accuracy by row", .kind = artifact_kind::kCurve};
  line.meta = meta;
  setFloat64(line, curve, {std::ssize(shares), 2}, {"point", "xy"});
  line.meta["x"] = "row of tokens, from the top";
  line.meta["y"] = "accuracy of a linear probe";
  line.meta["title"] = "What the tokens of a row know of the class";
  findings.artifacts.push_back(std::move(line));

  const bool isGrid = std::all_of(shares.begin(), shares.end(), [&](const at::Tensor& row) {
    return row.size(0) == shares.front().size(0);
  });
  if (!isGrid) return findings;
  const at::Tensor cells = at::stack(shares).to(at::kFloat).contiguous();
  Artifact map{.name = "accuracy by token", .kind = artifact_kind::kHeatmap};
  map.meta = meta;
  setFloat32(map, {cells.const_data_ptr<float>(), static_cast<std::size_t>(cells.numel())},
             cells.sizes().vec(), {"row", "column"});
  map.meta["title"] = "Accuracy of a linear probe, token by token";
  findings.artifacts.push_back(std::move(map));
  return findings;
}

class TokenProbe final : public Analysis {
 public:
  ItemCard card() const override {
    ItemCard card =
        itemCard(ItemKind::Analysis, "token_probe", "Token probe",
                 "How well a linear probe of each row of tokens finds the class of the image");
    card.needs = {TokenEncoder::kId};
    card.schema.fields = runOnly(
        {integerField("train_samples", 2000, "training samples that the probes are fitted to")
             .titled("Training samples")
             .range(10, 1000000)
             .withUnit("images"),
         integerField("test_samples", 1000, "samples that they are tested on")
             .titled("Test samples")
             .range(1, 1000000)
             .withUnit("images"),
         realField("ridge", 1e-3, "penalty on weights, times the mean variance of a feature")
             .titled("Ridge")
             .moreThan(0)});
    return card;
  }
  Kind kind() const noexcept override { return Kind::Probe; }

  ProbeSamples probeSamples(const Config& /*config*/) const override { return {1}; }

  std::function<Findings()> probe(const Config& config, ProbeContext& context) const override {
    const c10::NoGradGuard noGradient;
    TaskSession& session = context.session;
    const auto classes = static_cast<std::int64_t>(session.dataset().classes.size());
    if (classes < 1) throw ConfigError("token_probe needs data with classes");
    const std::vector<Evaluation> evaluations = session.evaluations();
    const Split tested = evaluations.empty() ? Split::Test : evaluations.back().split;
    const std::vector<std::int64_t> learned =
        session.chooseSamples(Split::Train, config.integer("train_samples"));
    const std::vector<std::int64_t> asked =
        session.chooseSamples(tested, config.integer("test_samples"));
    if (learned.empty() || asked.empty())
      throw ConfigError("token_probe needs training samples and samples of an evaluation");

    std::vector<RowSums> sums;
    readTokens(context, Split::Train, learned, [&](const ProbedImages& images) {
      const at::Tensor answers = at::one_hot(images.labels, classes).to(at::kDouble);
      sums.resize(images.rows.size());
      for (std::size_t row = 0; row < sums.size(); ++row) sums[row].add(images.rows[row], answers);
    });
    std::vector<LinearProbe> probes;
    for (const RowSums& each : sums) probes.push_back(fitted(each, config.real("ridge")));

    std::vector<at::Tensor> right(probes.size());
    readTokens(context, tested, asked, [&](const ProbedImages& images) {
      for (std::size_t row = 0; row < probes.size(); ++row) {
        const at::Tensor found =
            (images.rows[row].matmul(probes[row].weights) + probes[row].offset).argmax(-1);
        const at::Tensor count = found.eq(images.labels.unsqueeze(1)).sum(0).to(at::kDouble);
        right[row] = right[row].defined() ? right[row] + count : count;
      }
    });
    for (at::Tensor& row : right) row = row / static_cast<double>(asked.size());
    const Json meta = {{"train_samples", learned.size()},
                       {"test_samples", asked.size()},
                       {"ridge", config.real("ridge")},
                       {"split", toString(tested)}};
    return [right = std::move(right), meta] { return probeFindings(right, meta); };
  }
};

}  // namespace

std::unique_ptr<Analysis> makeTokenProbe() { return std::make_unique<TokenProbe>(); }

}  // namespace vitrine::analyses
