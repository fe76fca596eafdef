#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

#include "core/base/error.h"
#include "core/base/joined.h"
#include "core/config/item_card.h"
#include "core/data/shown_image.h"
#include "plugins/analyses/analyses.h"
#include "plugins/analyses/attention_tap.h"

namespace vitrine::analyses {

namespace {

/// Up to this many queries, `auto` keeps all of them.
constexpr std::int64_t kFewQueries = 64;

/// Positions on a grid of their own. Rows and columns go by their rank, so that a window begins at
/// 0 and the keys of cells are neighbours. A class token stays where it is.
at::Tensor onOwnGrid(const at::Tensor& positions) {
  if (!positions.defined()) return positions;
  const at::Tensor isPatch = positions.select(1, 0).ge(0);
  at::Tensor own = positions.clone();
  for (const std::int64_t axis : {0, 1}) {
    const at::Tensor values = positions.select(1, axis);
    const at::Tensor distinct =
        std::get<0>(at::_unique(values.masked_select(isPatch), /*sorted=*/true));
    const at::Tensor rank = at::searchsorted(distinct, values.contiguous()).to(at::kDouble);
    own.select(1, axis).copy_(at::where(isPatch, rank, values));
  }
  return own;
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

/// Rows and columns of the grid that a layer's windows are cut from.
using WholeGrid = std::array<std::int64_t, 2>;

/// Of each layer with windows.
std::map<std::int64_t, WholeGrid> wholeGridsOf(const std::vector<AttentionRecord>& records) {
  std::map<std::int64_t, WholeGrid> grids;
  for (const AttentionRecord& record : records) {
    if (record.window < 0 || !record.queryPositions.defined()) continue;
    WholeGrid& grid = grids[record.layer];
    for (const std::size_t axis : {0U, 1U}) {
      const auto last = record.queryPositions.select(1, static_cast<std::int64_t>(axis)).max();
      grid[axis] = std::max(grid[axis], static_cast<std::int64_t>(last.item<double>()) + 1);
    }
  }
  return grids;
}

/// Whether the patch at `place`, down and right from 0 to 1, is one of the window's.
bool isAt(const AttentionRecord& record, const WholeGrid& grid, const std::vector<double>& place) {
  at::Tensor isHere = at::ones({record.queryPositions.size(0)}, at::kBool);
  for (const std::size_t axis : {0U, 1U}) {
    const auto side = static_cast<double>(grid[axis]);
    const double cell = std::min(std::floor(place[axis] * side), side - 1);
    isHere = isHere.logical_and(
        record.queryPositions.select(1, static_cast<std::int64_t>(axis)).eq(cell));
  }
  return isHere.any().item<bool>();
}

/// Layers that one picture can hold: as many heads, the same queries and keys.
struct Group {
  std::vector<AttentionRecord> records;
  std::optional<WholeGrid> grid = {};  ///< of windows
  [[nodiscard]] bool takes(const AttentionRecord& record,
                           const std::optional<WholeGrid>& itsGrid) const {
    const AttentionRecord& first = records.front();
    const auto isSame = [](const at::Tensor& a, const at::Tensor& b) {
      return a.defined() == b.defined() && (!a.defined() || at::equal(a, b));
    };
    return record.window == first.window && itsGrid == grid &&
           record.weights.sizes() == first.weights.sizes() &&
           isSame(record.queryPositions, first.queryPositions) &&
           isSame(record.keyPositions, first.keyPositions);
  }
};

/// Of layers with windows those of `chosen`, or the one at `place`, or the one in the middle.
std::vector<AttentionRecord> chooseWindows(const std::vector<AttentionRecord>& records,
                                           const std::vector<std::int64_t>& chosen,
                                           const std::vector<double>& place) {
  std::map<std::int64_t, std::int64_t> windows;  // of each layer
  for (const AttentionRecord& record : records)
    windows[record.layer] = std::max(windows[record.layer], record.window + 1);
  std::map<std::int64_t, std::int64_t> usual;  // of each layer: the one that is kept unasked
  for (const auto& [layer, count] : windows) usual[layer] = count / 2;
  const std::map<std::int64_t, WholeGrid> grids = wholeGridsOf(records);
  for (const AttentionRecord& record : records) {
    const auto grid = grids.find(record.layer);
    if (!place.empty() && record.window >= 0 && grid != grids.end() &&
        isAt(record, grid->second, place))
      usual[record.layer] = record.window;
  }
  std::vector<AttentionRecord> kept;
  for (const AttentionRecord& record : records) {
    const bool isAsked =
        chosen.empty() ? record.window == usual[record.layer]
                       : std::find(chosen.begin(), chosen.end(), record.window) != chosen.end();
    if (record.window < 0 || isAsked) kept.push_back(record);
  }
  if (kept.empty()) {
    throw ConfigError("no layer has a window of those numbers; the first of them, layer " +
                      std::to_string(windows.begin()->first) + ", has windows 0 to " +
                      std::to_string(windows.begin()->second - 1));
  }
  return kept;
}

struct Captured {
  std::vector<AttentionRecord> records;
  at::Tensor images;  ///< [images, channels, height, width] float32 on the CPU
  std::vector<std::int64_t> ids, labels;
  at::Tensor logits;  ///< [images, classes] float32 on the CPU; undefined where nothing classifies
  std::vector<std::string> classes;  ///< names
  std::vector<std::string> words;    ///< of each token of a text with its image; else empty
  std::string attention, query;
  std::vector<std::int64_t> windows;
  std::vector<double> place;
};

std::vector<Group> groupsOf(const Captured& captured) {
  std::vector<Group> groups;
  const std::map<std::int64_t, WholeGrid> grids = wholeGridsOf(captured.records);
  for (const AttentionRecord& each :
       chooseWindows(captured.records, captured.windows, captured.place)) {
    const AttentionRecord record = chooseQueries(each, captured.query);
    const auto known = grids.find(record.layer);
    const auto grid =
        known == grids.end() || record.window < 0 ? std::nullopt : std::optional(known->second);
    const auto fits = std::find_if(groups.begin(), groups.end(),
                                   [&](const Group& group) { return group.takes(record, grid); });
    if (fits != groups.end())
      fits->records.push_back(record);
    else
      groups.push_back({{record}, grid});
  }
  return groups;
}

/// Words of these tokens: of all, or of those alone that are on no patch.
std::vector<std::string> wordsOf(const std::vector<std::string>& words, std::int64_t tokens) {
  if (std::ssize(words) == tokens) return words;
  std::vector<std::string> some;
  std::copy_if(words.begin(), words.end(), std::back_inserter(some),
               [](const std::string& word) { return !word.empty(); });
  return some;
}

/// The maps of one image in one group. \param row  of the image in the batch
Artifact mapArtifact(const Group& group, std::int64_t row, const std::vector<std::string>& words) {
  std::vector<at::Tensor> maps;
  std::vector<std::int64_t> layers;
  for (const AttentionRecord& record : group.records) {
    maps.push_back(record.weights.select(0, row));
    layers.push_back(record.layer);
  }
  const at::Tensor all = at::stack(maps).contiguous();
  Artifact map{.kind = artifact_kind::kAttention};
  setFloat32(map, {all.const_data_ptr<float>(), static_cast<std::size_t>(all.numel())},
             all.sizes().vec(), {"layer", "head", "query", "key"});
  map.meta["layers"] = layers;
  const AttentionRecord& first = group.records.front();
  const at::Tensor ownQueries = onOwnGrid(first.queryPositions),
                   ownKeys = onOwnGrid(first.keyPositions);
  // The grid of the queries stays whole where a few of them were chosen.
  const bool isWindow = first.window >= 0;
  map.meta["query_positions"] = positionsOf(isWindow ? ownQueries : first.queryPositions);
  map.meta["key_positions"] = positionsOf(ownKeys);
  if (first.keyPositions.defined() && !at::equal(ownKeys, first.keyPositions))
    map.meta["key_places"] = positionsOf(first.keyPositions);
  if (isWindow) map.meta["window"] = first.window;
  if (group.grid) map.meta["grid"] = *group.grid;
  if (!words.empty()) {
    map.meta["query_words"] = wordsOf(words, all.size(2));
    map.meta["key_words"] = words;
  }
  return map;
}

/// "", or what tells a group from the others of an image.
std::string groupName(const Group& group) {
  std::string name = group.records.size() == 1 ? ", layer " : ", layers ";
  name +=
      joined(group.records, [](const AttentionRecord& each) { return std::to_string(each.layer); });
  const std::int64_t window = group.records.front().window;
  return window < 0 ? name : name + ", window " + std::to_string(window);
}

Analysis::Findings findingsOf(const Captured& captured) {
  const std::vector<Group> groups = groupsOf(captured);
  const bool isOne = groups.size() == 1 && groups.front().records.front().window < 0;
  Analysis::Findings findings;
  for (std::size_t i = 0; i < captured.ids.size(); ++i) {
    const auto row = static_cast<std::int64_t>(i);
    const std::string name = "image " + std::to_string(captured.ids[i]);
    const at::Tensor logits =
        captured.logits.defined() ? captured.logits.select(0, row) : captured.logits;
    const auto add = [&](Artifact artifact, const std::string& called) {
      artifact.name = called;
      artifact.analysis = "attention_map";
      artifact.meta["attention"] = captured.attention;
      artifact.meta["image"] = captured.ids[i];
      artifact.meta["sample_ids"] = Json::array({captured.ids[i]});
      if (!captured.labels.empty())
        describeAnswer(artifact.meta, captured.labels[i], captured.classes, logits);
      findings.artifacts.push_back(std::move(artifact));
    };
    for (const Group& group : groups)
      add(mapArtifact(group, row, captured.words), isOne ? name : name + groupName(group));
    add(imageArtifact(captured.images.select(0, row)), name + " pixels");
  }
  return findings;
}

class AttentionMap final : public Analysis {
 public:
  ItemCard card() const override {
    ItemCard card = itemCard(ItemKind::Analysis, "attention_map", "Attention maps",
                             "Attention of chosen images, layers and heads");
    card.offers = {"attention:effective", "attention:softmax"};
    card.needs = {AttentionSource::kId};
    card.schema.fields = runOnly(
        {integerField("images", 4,
                      "test images, of the classes in turn; `ids` wins when it is not empty")
             .titled("Images")
             .range(1, 256)
             .withUnit("images"),
         listField("ids", FieldType::Integer, Json::array(), "test images by number, from 0")
             .titled("Image numbers")
             .atLeast(0),
         choiceField("query", "auto", {"auto", "class", "all"},
                     "rows of the attention that are kept")
             .titled("Query tokens")
             .withChoiceDocs({"all of up to 64 tokens, else the class token's", "the class token's",
                              "every token's"}),
         listField(
             "windows", FieldType::Integer, Json::array(),
             "of layers that see windows, which of them, from 0; empty: the one in the middle")
             .titled("Windows")
             .atLeast(0),
         listField("place", FieldType::Real, Json::array(),
                   "instead of `windows`: the one with the patch there, [down, right] from 0 to 1")
             .titled("Place")
             .range(0, 1)});
    for (Field& field : attentionFields()) card.schema.fields.push_back(std::move(field));
    return card;
  }
  Kind kind() const noexcept override { return Kind::Probe; }

  ProbeSamples probeSamples(const Config& config) const override {
    return {config.integer("images"), config.integers("ids")};
  }

  std::function<Findings()> probe(const Config& config, ProbeContext& context) const override {
    const Batch& batch = context.batch;
    Captured captured{.ids = batch.sampleIds};
    const at::Tensor& images = batch.at("image");
    std::vector<CapturedSequence> sequences =
        captureSequences(context, config.integers("layers"), attentionKind(config));
    // Captions need not come with a class.
    if (sequences.empty() || batch.fields.contains("label")) {
      const at::Tensor labels = batch.at("label").to(at::kCPU).contiguous();
      captured.labels.assign(labels.const_data_ptr<std::int64_t>(),
                             labels.const_data_ptr<std::int64_t>() + labels.numel());
    }
    captured.images = images.to(at::kCPU, at::kFloat, false, true);
    captured.attention = config.text("attention");
    captured.query = config.text("query");
    captured.windows = config.integers("windows");
    captured.place = config.reals("place");
    if (!captured.place.empty() && captured.place.size() != 2)
      throw ConfigError("'place' has to be [down, right], two numbers from 0 to 1");
    captured.classes = context.session.dataset().classes;
    std::vector<Captured> all;
    for (std::size_t i = 0; i < sequences.size(); ++i) {
      Captured one = captured;
      one.ids = {captured.ids[i]};
      one.images = captured.images.narrow(0, static_cast<std::int64_t>(i), 1);
      if (!captured.labels.empty()) one.labels = {captured.labels[i]};
      one.records = std::move(sequences[i].records);
      one.words = std::move(sequences[i].words);
      all.push_back(std::move(one));
    }
    if (all.empty()) {
      captured.records = captureAttention(context, config.integers("layers"), attentionKind(config),
                                          &captured.logits);
      all.push_back(std::move(captured));
    }
    return [all = std::move(all)] {
      const at::NoGradGuard noGradient;
      Findings findings;
      for (const Captured& each : all) {
        Findings part = findingsOf(each);
        std::move(part.artifacts.begin(), part.artifacts.end(),
                  std::back_inserter(findings.artifacts));
      }
      return findings;
    };
  }
};

}  // namespace

std::unique_ptr<Analysis> makeAttentionMap() { return std::make_unique<AttentionMap>(); }

}  // namespace vitrine::analyses
