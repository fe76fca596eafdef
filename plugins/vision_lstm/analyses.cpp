#include "plugins/vision_lstm/analyses.h"

#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>
#include <ATen/Parallel.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <limits>
#include <map>
#include <string>
#include <utility>

#include "core/base/error.h"
#include "core/base/log.h"
#include "core/config/item_card.h"
#include "core/data/shown_image.h"
#include "core/eval/matrix_rank.h"
#include "plugins/vision_lstm/memory_source.h"
#include "plugins/vision_lstm/state.h"

namespace vitrine::vision_lstm {

namespace {

Field layersField() {
  return listField("layers", FieldType::Integer, Json::array(),
                   "layers to look at, from 0; empty: all")
      .titled("Layers")
      .atLeast(0);
}
Field imagesField(int count) {
  return integerField("images", count, "images of the split that evaluations visit last")
      .titled("Images")
      .range(1, 256)
      .withUnit("images");
}
Field idsField() {
  return listField("ids", FieldType::Integer, Json::array(), "these images instead, by number")
      .titled("Image numbers")
      .atLeast(0);
}

ItemCard cardOf(const char* id, const char* title, const char* doc, std::vector<Field> fields) {
  ItemCard card = itemCard(ItemKind::Analysis, id, title, doc);
  card.needs = {MemorySource::kId};
  card.schema.fields = runOnly(std::move(fields));
  return card;
}

void setFloats(Artifact& artifact, const at::Tensor& values, std::vector<std::string> axes) {
  const at::Tensor dense = values.to(at::kCPU, at::kFloat).contiguous();
  setFloat32(artifact, {dense.const_data_ptr<float>(), static_cast<std::size_t>(dense.numel())},
             dense.sizes().vec(), std::move(axes));
}

std::vector<std::string> numbered(const char* word, std::int64_t count) {
  std::vector<std::string> names;
  for (std::int64_t i = 0; i < count; ++i) names.push_back(word + std::to_string(i));
  return names;
}

/// Means over images of the logarithms of both gates, [layers, heads, tokens] on the CPU.
struct GateLogs {
  std::vector<std::int64_t> layers;
  at::Tensor forget, input;
};

GateLogs gateLogs(ProbeContext& context, const std::vector<std::int64_t>& layers) {
  const at::NoGradGuard noGradient;
  auto& source = requireCapability<MemorySource>(context.model, "memory_length");
  const kernels::MlstmOptions options = source.memoryOptions();
  GateLogs logs;
  std::vector<at::Tensor> forget, input;
  for (const MemoryRecord& record : source.memories(context.batch.at("image"), layers)) {
    logs.layers.push_back(record.layer);
    forget.push_back(
        kernels::logGate(options.forgetGate, record.cell.forgetGate).mean(0).to(at::kCPU));
    input.push_back(
        kernels::logGate(options.inputGate, record.cell.inputGate).mean(0).to(at::kCPU));
  }
  logs.forget = at::stack(forget);
  logs.input = at::stack(input);
  return logs;
}

/// [layers, heads]. A state that does not decay has no length: the mean log forget gate is 0 or
/// more, as gates of exp can be.
struct Lengths {
  at::Tensor tokens;  ///< NaN where there is none
  at::Tensor isNone;
};

Lengths lengthsOf(const GateLogs& logs) {
  const at::Tensor mean = logs.forget.mean(2), isNone = mean.ge(0);
  const at::Tensor tokens = mean.neg().reciprocal();
  return {tokens.masked_fill(isNone, std::numeric_limits<double>::quiet_NaN()), isNone};
}

Artifact lengthMatrix(const GateLogs& logs, const Lengths& lengths) {
  Artifact matrix{.name = "memory length", .kind = artifact_kind::kMatrix};
  setFloats(matrix, lengths.tokens, {"layer", "head"});
  std::vector<std::string> rows;
  for (const std::int64_t layer : logs.layers) rows.push_back("layer " + std::to_string(layer));
  matrix.meta["row_labels"] = rows;
  matrix.meta["column_labels"] = numbered("head ", lengths.tokens.size(1));
  matrix.meta["unit"] = "tokens";
  matrix.meta["title"] = "Memory length";
  if (const auto growing = lengths.isNone.sum().item<std::int64_t>(); growing > 0) {
    matrix.meta["title"] = "Memory length, none where the state grows";
    log::warning("memory_length: " + std::to_string(growing) + " of " +
                 std::to_string(lengths.isNone.numel()) +
                 " heads have no length; their state grows, because their forget gate is 1 or more "
                 "on average");
  }
  return matrix;
}

Analysis::Findings lengthFindings(const GateLogs& logs) {
  Analysis::Findings findings;
  const Lengths lengths = lengthsOf(logs);
  findings.artifacts.push_back(lengthMatrix(logs, lengths));
  for (const auto& [name, values] :
       {std::pair{"forget gate", logs.forget}, std::pair{"input gate", logs.input}}) {
    Artifact gate{.name = name, .kind = artifact_kind::kHeatmap};
    setFloats(gate, values.mean(1).exp(), {"layer", "token of the scan"});
    gate.meta["title"] = std::string("Geometric mean of the ") + name;
    findings.artifacts.push_back(std::move(gate));
  }
  for (Artifact& artifact : findings.artifacts) {
    artifact.analysis = "memory_length";
    artifact.meta["layers"] = logs.layers;
  }
  for (std::size_t i = 0; i < logs.layers.size(); ++i) {
    const auto row = static_cast<std::int64_t>(i);
    for (std::int64_t head = 0; head < lengths.tokens.size(1); ++head) {
      if (lengths.isNone[row][head].item<bool>()) continue;
      findings.scores.emplace_back(
          "length/layer" + std::to_string(logs.layers[i]) + "/head" + std::to_string(head),
          lengths.tokens[row][head].item<double>());
    }
  }
  return findings;
}

/// Matrices of all images, [images, layers, heads, tokens, tokens] on the CPU.
struct Matrices {
  std::vector<std::int64_t> ids, layers;
  std::vector<Json> positions;  ///< of each layer's scan
  at::Tensor decay, weights;
  at::Tensor pictures;        ///< [images, channels, height, width] float32 on the CPU
  std::vector<Json> answers;  ///< of each image: its true class and that of a classifier
};

Matrices matricesOf(ProbeContext& context, const std::vector<std::int64_t>& layers) {
  const at::NoGradGuard noGradient;
  auto& source = requireCapability<MemorySource>(context.model, "memory_weights");
  const kernels::MlstmOptions options = source.memoryOptions();
  Matrices all{.ids = context.batch.sampleIds};
  const at::Tensor& images = context.batch.at("image");
  all.pictures = images.to(at::kCPU, at::kFloat, false, true);
  std::vector<at::Tensor> decay, weights;
  for (const MemoryRecord& record : source.memories(images, layers)) {
    const kernels::MlstmWeights pairs = kernels::mlstmWeights(record.cell, options);
    const kernels::MlstmOutput out = kernels::mlstm(record.cell, options);
    const at::Tensor bound = out.stabiliser.neg().exp();
    const at::Tensor divisor = options.normaliser == kernels::Normaliser::Bounded
                                   ? at::maximum(out.signedSum.abs(), bound)
                                   : bound;
    all.layers.push_back(record.layer);
    decay.push_back(pairs.decay.to(at::kCPU, at::kFloat));
    weights.push_back(
        (pairs.scores / (divisor + options.eps).unsqueeze(3)).to(at::kCPU, at::kFloat));
    const at::Tensor places = record.positions.to(at::kCPU, at::kLong).contiguous();
    Json positions = Json::array();
    for (std::int64_t i = 0; i < places.size(0); ++i)
      positions.push_back({places[i][0].item<std::int64_t>(), places[i][1].item<std::int64_t>()});
    all.positions.push_back(std::move(positions));
  }
  all.decay = at::stack(decay, 1);
  all.weights = at::stack(weights, 1);
  return all;
}

std::vector<Json> answersOf(ProbeContext& context) {
  const at::NoGradGuard noGradient;
  const Batch& batch = context.batch;
  std::vector<Json> answers(batch.sampleIds.size(), Json::object());
  if (!batch.fields.contains("label")) return answers;
  const at::Tensor labels = batch.at("label").to(at::kCPU);
  at::Tensor logits;
  if (auto* classifier = capabilityOf<ImageClassifier>(context.model))
    logits = classifier->classify(batch.at("image")).to(at::kCPU, at::kFloat);
  for (std::size_t i = 0; i < answers.size(); ++i) {
    const auto row = static_cast<std::int64_t>(i);
    describeAnswer(answers[i], labels[row].item<std::int64_t>(), context.session.dataset().classes,
                   logits.defined() ? logits[row] : logits);
  }
  return answers;
}

Analysis::Findings matrixFindings(const Matrices& all) {
  Analysis::Findings findings;
  for (std::size_t i = 0; i < all.ids.size(); ++i) {
    const auto row = static_cast<std::int64_t>(i);
    const std::string image = "image " + std::to_string(all.ids[i]);
    const auto add = [&](Artifact artifact, const char* name) {
      artifact.analysis = "memory_weights";
      artifact.name = image + ' ' + name;
      artifact.meta["image"] = all.ids[i];
      artifact.meta["sample_ids"] = Json::array({all.ids[i]});
      artifact.meta.update(all.answers[i]);
      findings.artifacts.push_back(std::move(artifact));
    };
    for (const auto& [name, values] :
         {std::pair{"decay", all.decay}, std::pair{"weights", all.weights}}) {
      const bool isSigned = std::string(name) == "weights";
      Artifact map{.kind = artifact_kind::kAttention};
      setFloats(map, values[row], {"layer", "head", "query", "key"});
      map.meta["layers"] = all.layers;
      map.meta["attention"] = name;
      // Of the first layer; those that scan in another order say so.
      map.meta["query_positions"] = all.positions.front();
      map.meta["key_positions"] = all.positions.front();
      map.meta["scan_positions"] = all.positions;
      map.meta["signed"] = isSigned;
      map.meta["rows_sum_to_one"] = false;
      if (isSigned) map.meta["colour_map"] = "diverging";
      add(std::move(map), name);
    }
    add(imageArtifact(all.pictures[row]), "pixels");
  }
  return findings;
}

Analysis::Findings rankFindings(const Matrices& all) {
  std::vector<eval::LayerMatrices> layers;
  for (std::size_t i = 0; i < all.layers.size(); ++i)
    layers.push_back({all.layers[i], all.weights.select(1, static_cast<std::int64_t>(i))});
  const Json meta = {
      {"attention", "weights"}, {"images", std::ssize(all.ids)}, {"sample_ids", all.ids}};
  eval::RankFindings found = eval::rankFindings("memory_rank", layers, 0.8, meta);
  return {std::move(found.artifacts), std::move(found.scores)};
}

double threadMilliseconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) * 1e-6;
}

constexpr std::int64_t kCostChunk = 64;
using Costs = std::map<CostForm, CostCurve>;

struct CostRow {
  CostForm form;
  const char* name;
  const char* counted;  ///< a way of cellMacs()
};
constexpr CostRow kCostForms[] = {
    {CostForm::Chunkwise, "chunkwise", "chunkwise_pairs"},        // chunks of 64
    {CostForm::Quadratic, "quadratic", "quadratic_pairs"},        // all pairs, in tiles
    {CostForm::Recurrent, "recurrent", "recurrent"},              // token by token, unvectorised
    {CostForm::Softmax, "softmax attention", "quadratic_full"}};  // LibTorch's, for comparison

/// Floats that a further token would need: the memory and its sum, or all keys and values.
std::int64_t keptFloats(CostForm form, std::int64_t tokens, std::int64_t width) {
  return form == CostForm::Softmax ? 2 * tokens * width : width * width + width;
}

/// Scores "crossing/..." of the tokens from which chunks cost less than softmax attention.
void addCrossings(std::int64_t width, const Costs& costs, Analysis::Findings& findings) {
  // 2 T^2 d multiply-adds of all pairs against 2 T L d + 4 T d^2, both for a causal cell.
  findings.scores.emplace_back("crossing/counted", static_cast<double>(kCostChunk + 2 * width));
  const std::optional<double> measured =
      crossingOf(costs.at(CostForm::Softmax), costs.at(CostForm::Chunkwise));
  if (measured) findings.scores.emplace_back("crossing/measured", *measured);
}

/// A line for each form over the same tokens: where two of them cross is seen on logarithmic axes.
Artifact costCurve(const Costs& costs) {
  const std::vector<double>& tokens = costs.begin()->second.tokens;
  std::vector<double> points;
  Artifact curve{.name = "cost by tokens", .kind = artifact_kind::kCurve};
  for (const CostRow& each : kCostForms) curve.meta["lines"].push_back(each.name);
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    points.push_back(tokens[i]);
    for (const CostRow& each : kCostForms) points.push_back(costs.at(each.form).milliseconds[i]);
  }
  setFloat64(curve, points, {static_cast<std::int64_t>(tokens.size()), 1 + std::ssize(kCostForms)},
             {"point", "x, y of each line"});
  curve.meta["title"] = "Forward pass of one head";
  curve.meta["x"] = "tokens";
  curve.meta["y"] = "ms of processor time";
  curve.meta["scale"] = "log";
  return curve;
}

Analysis::Findings costFindings(std::int64_t width, std::int64_t most, int repeats) {
  const at::NoGradGuard noGradient;
  Analysis::Findings findings;
  Json rows = Json::array();
  Costs costs;
  for (const CostRow& each : kCostForms) {
    std::vector<double> tokens, milliseconds;
    for (std::int64_t count = 256; count <= most; count *= 2) {
      tokens.push_back(static_cast<double>(count));
      milliseconds.push_back(measureCost(each.form, count, width, repeats));
      rows.push_back({each.name, count, milliseconds.back(),
                      cellMacs(each.counted, {count, width, 1, kCostChunk}) / 1e6,
                      keptFloats(each.form, count, width)});
    }
    costs[each.form] = {tokens, milliseconds};
    const auto half = static_cast<std::ptrdiff_t>(tokens.size() / 2);
    if (tokens.size() >= 4) {
      findings.scores.emplace_back(std::string("slope/") + each.name,
                                   fittedSlope({tokens.begin() + half, tokens.end()},
                                               {milliseconds.begin() + half, milliseconds.end()}));
    }
  }
  addCrossings(width, costs, findings);
  findings.artifacts.push_back(costCurve(costs));
  Artifact table{.name = "cost", .kind = artifact_kind::kTable};
  setJson(table, Json{{"columns",
                       {"form", "tokens", "ms of processor time", "million multiply-adds",
                        "floats kept for a next token"}},
                      {"rows", rows}});
  findings.artifacts.push_back(std::move(table));
  for (Artifact& artifact : findings.artifacts) {
    artifact.analysis = "token_cost";
    artifact.meta["head_width"] = width;
  }
  return findings;
}

/// Of the memories of chosen images.
class MemoryAnalysis : public Analysis {
 public:
  Kind kind() const noexcept override { return Kind::Probe; }
  ProbeSamples probeSamples(const Config& config) const override {
    return {config.integer("images"), config.integers("ids")};
  }
};

class MemoryLength final : public MemoryAnalysis {
 public:
  ItemCard card() const override {
    return cardOf(
        "memory_length", "Memory length",
        "How many tokens each head of a gated memory remembers, and its gates along the scan",
        {imagesField(16), idsField(), layersField()});
  }
  std::function<Findings()> probe(const Config& config, ProbeContext& context) const override {
    return [logs = gateLogs(context, config.integers("layers"))] {
      const at::NoGradGuard noGradient;
      return lengthFindings(logs);
    };
  }
};

class MemoryWeights final : public MemoryAnalysis {
 public:
  ItemCard card() const override {
    ItemCard card =
        cardOf("memory_weights", "Memory as a matrix",
               "Decay and signed weights between all tokens of chosen images, as the memory acts",
               {imagesField(2), idsField(), layersField()});
    card.offers = {"attention:weights", "attention:decay"};
    return card;
  }
  std::function<Findings()> probe(const Config& config, ProbeContext& context) const override {
    Matrices all = matricesOf(context, config.integers("layers"));
    all.answers = answersOf(context);
    return [all = std::move(all)] {
      const at::NoGradGuard noGradient;
      return matrixFindings(all);
    };
  }
};

class MemoryRank final : public MemoryAnalysis {
 public:
  ItemCard card() const override {
    ItemCard card = cardOf("memory_rank", "Memory rank",
                           "Singular values of every head's signed weights and the ranks they give",
                           {imagesField(4), idsField(), layersField()});
    card.offers = {"spectrum"};
    return card;
  }
  std::function<Findings()> probe(const Config& config, ProbeContext& context) const override {
    return [all = matricesOf(context, config.integers("layers"))] {
      const at::NoGradGuard noGradient;
      return rankFindings(all);
    };
  }
};

class TokenCost final : public Analysis {
 public:
  ItemCard card() const override {
    return cardOf(
        "token_cost", "Cost against tokens",
        "Time, multiply-adds and state of the memory from 256 tokens on, next to softmax attention",
        {integerField("most_tokens", 8192, "largest number of tokens; sizes double from 256")
             .titled("Tokens")
             .range(2048, 65536)
             .withUnit("tokens"),
         integerField("repeats", 3, "measurements of each size; the least counts")
             .titled("Repeats")
             .range(1, 100)});
  }
  Kind kind() const noexcept override { return Kind::Probe; }
  std::function<Findings()> probe(const Config& config, ProbeContext& context) const override {
    auto& source = requireCapability<MemorySource>(context.model, "token_cost");
    const std::vector<MemoryRecord> records = source.memories(context.batch.at("image"), {0});
    return [width = records.front().cell.q.size(3), most = config.integer("most_tokens"),
            repeats = static_cast<int>(config.integer("repeats"))] {
      return costFindings(width, most, repeats);
    };
  }
};

}  // namespace

std::unique_ptr<Analysis> makeMemoryLength() { return std::make_unique<MemoryLength>(); }
std::unique_ptr<Analysis> makeMemoryWeights() { return std::make_unique<MemoryWeights>(); }
std::unique_ptr<Analysis> makeMemoryRank() { return std::make_unique<MemoryRank>(); }
std::unique_ptr<Analysis> makeTokenCost() { return std::make_unique<TokenCost>(); }

double measureCost(CostForm form, std::int64_t tokens, std::int64_t width, int repeats) {
  // One head: it stays on the calling thread, whose processor time is measured.
  at::Generator generator = at::detail::createCPUGenerator(1);
  kernels::MlstmInput in;
  for (at::Tensor* each : {&in.q, &in.k, &in.v})
    *each = at::randn({1, 1, tokens, width}, generator);
  in.inputGate = at::randn({1, 1, tokens}, generator);
  in.forgetGate = at::randn({1, 1, tokens}, generator) + 3;
  kernels::MlstmOptions options{.form = form == CostForm::Recurrent ? kernels::MlstmForm::Recurrent
                                                                    : kernels::MlstmForm::Chunkwise,
                                .chunk = form == CostForm::Quadratic ? tokens : kCostChunk};
  const auto pass = [&] {
    if (form == CostForm::Softmax) {
      static_cast<void>(at::scaled_dot_product_attention(in.q, in.k, in.v));
    } else {
      static_cast<void>(kernels::mlstm(in, options));
    }
  };
  double least = 0;
  // Inside a parallel region the library starts no threads of its own.
  const auto measure = [&](int i) {
    const double begin = threadMilliseconds();
    pass();
    const double taken = threadMilliseconds() - begin;
    if (i == 1 || (i > 1 && taken < least)) least = taken;
  };
  at::parallel_for(0, at::get_num_threads(), 1, [&](std::int64_t first, std::int64_t) {
    if (first > 0) return;
    const at::NoGradGuard noGradient;               // each thread has its own
    for (int i = 0; i <= repeats; ++i) measure(i);  // the first one warms up
  });
  return least;
}

double fittedSlope(const std::vector<double>& tokens, const std::vector<double>& milliseconds) {
  if (tokens.size() != milliseconds.size() || tokens.size() < 2)
    throw ConfigError("a slope needs two points at least, not " + std::to_string(tokens.size()));
  double x = 0, y = 0, xx = 0, xy = 0;
  const double count = static_cast<double>(tokens.size());
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const double a = std::log(tokens[i]), b = std::log(milliseconds[i]);
    x += a, y += b, xx += a * a, xy += a * b;
  }
  return (count * xy - x * y) / (count * xx - x * x);
}

std::optional<double> crossingOf(const CostCurve& first, const CostCurve& second) {
  if (first.tokens != second.tokens || first.tokens.size() != first.milliseconds.size() ||
      second.tokens.size() != second.milliseconds.size())
    throw ConfigError("two costs can be compared at the same numbers of tokens only");
  // How much more the first costs, as a logarithm: straight between two sizes.
  const auto excess = [&](std::size_t i) {
    return std::log(first.milliseconds[i] / second.milliseconds[i]);
  };
  for (std::size_t i = 1; i < first.tokens.size(); ++i) {
    const double before = excess(i - 1), after = excess(i);
    if (before > 0 || after <= 0) continue;
    const double from = std::log(first.tokens[i - 1]), to = std::log(first.tokens[i]);
    return std::exp(from + (to - from) * -before / (after - before));
  }
  return std::nullopt;
}

}  // namespace vitrine::vision_lstm
