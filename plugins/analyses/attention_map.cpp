#include "plugins/analyses/attention_map.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <string>
#include <utility>

#include "core/base/error.h"
#include "core/files/png.h"
#include "plugins/analyses/attention_tap.h"

namespace vitrine::analyses {

namespace {

/// Up to this many queries, `auto` keeps all of them.
constexpr std::int64_t kFewQueries = 64;

Json positionsOf(const at::Tensor& positions) {
  Json out = Json::array();
  if (!positions.defined()) return out;
  const at::Tensor values = positions.contiguous();
  const auto* data = values.const_data_ptr<double>();
  for (std::int64_t i = 0; i < values.size(0); ++i) out.push_back({data[2 * i], data[2 * i + 1]});
  return out;
}

/// Rows of the class token: position -1.
at::Tensor classQueries(const AttentionRecord& record) {
  if (!record.queryPositions.defined()) return at::empty({0}, at::kLong);
  return record.queryPositions.select(1, 0).lt(0).nonzero().squeeze(1);
}

/// Keeps the queries that `which` names.
AttentionRecord chooseQueries(AttentionRecord record, const std::string& which) {
  const at::Tensor rows = classQueries(record);
  const bool isSmall = record.weights.size(2) <= kFewQueries;
  if (which == "all" || (which == "auto" && (isSmall || rows.numel() == 0))) return record;
  if (rows.numel() == 0) {
    throw ConfigError("layer " + std::to_string(record.layer) +
                      " has no class token to ask from; set query = \"all\"");
  }
  record.weights = record.weights.index_select(2, rows);
  record.queryPositions = record.queryPositions.index_select(0, rows);
  return record;
}

/// The pixels of a normalised image, stretched from its smallest to its largest value: what it was
/// normalised with is not known here.
Artifact imageArtifact(const at::Tensor& image) {
  const std::int64_t channels = image.size(0) == 3 ? 3 : 1;
  const at::Tensor shown = image.narrow(0, 0, channels);
  const double low = shown.min().item<double>(), high = shown.max().item<double>();
  const at::Tensor bytes = ((shown - low) * (255 / std::max(high - low, 1e-12)))
                               .round()
                               .clamp(0, 255)
                               .to(at::kByte)
                               .permute({1, 2, 0})
                               .contiguous();
  Artifact artifact;
  artifact.kind = artifact_kind::kImage;
  artifact.data = encodePng(
      {bytes.const_data_ptr<std::uint8_t>(), static_cast<std::size_t>(bytes.numel())},
      static_cast<int>(bytes.size(0)), static_cast<int>(bytes.size(1)), static_cast<int>(channels));
  artifact.meta["version"] = 1;
  artifact.meta["dtype"] = "png";
  artifact.meta["shape"] = {bytes.size(0), bytes.size(1), channels};
  artifact.meta["axes"] = {"row", "column", "channel"};
  artifact.meta["scaling"] = "smallest value black, largest white";
  return artifact;
}

struct Captured {
  std::vector<AttentionRecord> records;
  at::Tensor images;  ///< [images, channels, height, width] float32 on the CPU
  std::vector<std::int64_t> ids, labels;
  std::string attention, query;
};

Analysis::Findings findingsOf(const Captured& captured) {
  std::vector<AttentionRecord> records;
  std::vector<std::int64_t> layers;
  for (const AttentionRecord& record : captured.records) {
    records.push_back(chooseQueries(record, captured.query));
    layers.push_back(record.layer);
    if (records.back().weights.sizes() != records.front().weights.sizes()) {
      throw ConfigError(
          "layers " + std::to_string(layers.front()) + " and " + std::to_string(record.layer) +
          " have attention of different shapes; choose layers of one shape with `layers`");
    }
  }
  const Json queryPositions = positionsOf(records.front().queryPositions);
  const Json keyPositions = positionsOf(records.front().keyPositions);
  Analysis::Findings findings;
  for (std::size_t i = 0; i < captured.ids.size(); ++i) {
    const auto row = static_cast<std::int64_t>(i);
    std::vector<at::Tensor> maps;
    for (const AttentionRecord& record : records) maps.push_back(record.weights.select(0, row));
    const at::Tensor all = at::stack(maps).contiguous();
    const std::string name = "image " + std::to_string(captured.ids[i]);

    Artifact map;
    map.kind = artifact_kind::kAttention;
    map.name = name;
    setFloat32(map, {all.const_data_ptr<float>(), static_cast<std::size_t>(all.numel())},
               all.sizes().vec(), {"layer", "head", "query", "key"});
    map.meta["layers"] = layers;
    map.meta["query_positions"] = queryPositions;
    map.meta["key_positions"] = keyPositions;
    Artifact pixels = imageArtifact(captured.images.select(0, row));
    pixels.name = name + " pixels";
    for (Artifact* artifact : {&map, &pixels}) {
      artifact->analysis = "attention_map";
      artifact->meta["attention"] = captured.attention;
      artifact->meta["image"] = captured.ids[i];
      artifact->meta["sample_ids"] = Json::array({captured.ids[i]});
      artifact->meta["label"] = captured.labels[i];
    }
    findings.artifacts.push_back(std::move(map));
    findings.artifacts.push_back(std::move(pixels));
  }
  return findings;
}

}  // namespace

ItemCard AttentionMap::card() const {
  ItemCard card;
  card.kind = ItemKind::Analysis;
  card.id = "attention_map";
  card.title = "Attention maps";
  card.doc = "Attention of chosen images, layers and heads";
  card.needs = {AttentionSource::kId};
  card.schema.fields = {
      integerField("images", 4,
                   "test images, of the classes in turn; `ids` wins when it is not empty")
          .titled("Images")
          .range(1, 256)
          .withUnit("images")
          .runOnly(),
      listField("ids", FieldType::Integer, Json::array(), "test images by number, from 0")
          .titled("Image numbers")
          .atLeast(0)
          .runOnly(),
      choiceField("query", "auto", {"auto", "class", "all"}, "which rows of the attention are kept")
          .titled("Query tokens")
          .withChoiceDocs({"all of up to 64 tokens, else the class token's", "the class token's",
                           "every token's"})
          .runOnly()};
  for (Field& field : attentionFields()) card.schema.fields.push_back(std::move(field));
  return card;
}

ProbeSamples AttentionMap::probeSamples(const Config& config) const {
  return {config.integer("images"), config.integers("ids")};
}

std::function<Analysis::Findings()> AttentionMap::probe(const Config& config,
                                                        ProbeContext& context) const {
  const Batch& batch = context.batch;
  Captured captured;
  captured.ids = batch.sampleIds;
  const at::Tensor& images = batch.at("image");
  const at::Tensor labels = batch.at("label").to(at::kCPU).contiguous();
  captured.labels.assign(labels.const_data_ptr<std::int64_t>(),
                         labels.const_data_ptr<std::int64_t>() + labels.numel());
  captured.images = images.to(at::kCPU, at::kFloat, false, true);
  captured.attention = config.text("attention");
  captured.query = config.text("query");
  captured.records =
      captureAttention(context.model, images, config.integers("layers"), attentionKind(config));
  return [captured = std::move(captured)] {
    const at::NoGradGuard noGradient;
    return findingsOf(captured);
  };
}

}  // namespace vitrine::analyses
