#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <set>
#include <utility>

#include "core/base/error.h"
#include "core/base/joined.h"
#include "core/config/item_card.h"
#include "core/model/capabilities.h"
#include "core/model/model_device.h"
#include "plugins/analyses/analyses.h"

namespace vitrine::analyses {

namespace {

using Sides = std::array<std::int64_t, 2>;

struct Point {
  Sides size{};
  Scores scores;
  Json transforms;
  std::vector<std::string> resized;
  std::string resizePositions;
};

/// Of `height` in the proportions of the images of training.
Sides sizeOf(std::int64_t height, Sides trained) {
  return {height,
          std::llround(static_cast<double>(height * trained[1]) / static_cast<double>(trained[0]))};
}

std::optional<double> scoreOf(const Point& point, const std::string& name) {
  for (const auto& [each, value] : point.scores) {
    if (each == name) return value;
  }
  return std::nullopt;
}

/// Scores of parts, such as classes, have a slash in their names.
bool isOfWhole(const std::string& score) { return score.find('/') == std::string::npos; }

/// The score that decides which checkpoint is best; of a task that has none, its first.
std::string mainScore(const TaskSession& session, const Scores& scores) {
  const std::string best = session.bestBy();
  if (!best.empty()) return best.substr(best.find('/') + 1);
  return scores.empty() ? "" : scores.front().first;
}

/// \param score  of the task, to be drawn; "" is set to the main one
/// \throws ConfigError  the task has no such score, and did not say before which it has
Point measure(ProbeContext& context, Sides size, std::string& score) {
  const ReopenedRun run = context.reopen(Json{{"model", {{"image_size", {size[0], size[1]}}}}});
  const std::vector<Evaluation> evaluations = run.session->evaluations();
  if (evaluations.empty()) throw ConfigError("the task of this run has no evaluation to repeat");
  StepContext step{.position = context.position,
                   .generator = context.generator,
                   .device = deviceOf(context.model)};
  CollectedResults found;
  run.session->evaluate({evaluations.back(), step, {}}, found);
  if (score.empty()) score = mainScore(*run.session, found.scores);
  Point point{size, std::move(found.scores), run.transforms, run.resized, run.resizePositions};
  if (scoreOf(point, score)) return point;
  std::vector<std::string> names;
  for (const auto& [name, value] : point.scores) {
    if (isOfWhole(name)) names.push_back(name);
  }
  throw ConfigError("the task has no score '" + score + "'; it has " + joined(names));
}

/// What brought samples and weights to the sizes, for a reader who compares the numbers.
void describe(Artifact& artifact, const std::vector<Point>& points, Sides trained) {
  artifact.analysis = "resolution_sweep";
  artifact.meta["trained_size"] = {trained[0], trained[1]};
  artifact.meta["precision"] = "fp32";
  Json sizes = Json::array();
  for (const Point& point : points) {
    sizes.push_back({{"image_size", {point.size[0], point.size[1]}},
                     {"transforms", point.transforms},
                     {"resized_weights", point.resized},
                     {"resize_positions",
                      point.resized.empty() ? Json(nullptr) : Json(point.resizePositions)}});
  }
  artifact.meta["sizes"] = std::move(sizes);
}

/// \param fall  name of the falls: "fall" of the main score
Analysis::Findings findingsOf(const std::vector<Point>& points, Sides trained,
                              const std::string& score, const std::string& fall) {
  Analysis::Findings findings;
  std::vector<double> curve;
  const auto atTraining = std::find_if(points.begin(), points.end(),
                                       [&](const Point& point) { return point.size == trained; });
  for (const Point& point : points) {
    const double value = *scoreOf(point, score);
    const std::string pixels = std::to_string(point.size[0]);
    curve.insert(curve.end(), {static_cast<double>(point.size[0]), value});
    findings.scores.emplace_back(score + "/" + pixels, value);
    if (atTraining != points.end() && atTraining->size != point.size)
      findings.scores.emplace_back(fall + "/" + pixels, *scoreOf(*atTraining, score) - value);
  }
  Artifact line{.name = score + " by image size", .kind = artifact_kind::kCurve};
  setFloat64(line, curve, {static_cast<std::int64_t>(points.size()), 2}, {"point", "xy"});
  line.meta["x"] = "image height, px";
  line.meta["y"] = score;
  line.meta["title"] =
      score + " without retraining, trained at " + std::to_string(trained[0]) + " px";
  describe(line, points, trained);
  findings.artifacts.push_back(std::move(line));

  Artifact table{.name = "scores by image size", .kind = artifact_kind::kTable};
  Json columns{"height", "width"}, rows = Json::array();
  for (const auto& [name, value] : points.front().scores) {
    if (isOfWhole(name)) columns.push_back(name);
  }
  for (const Point& point : points) {
    Json row{point.size[0], point.size[1]};
    for (std::size_t i = 2; i < columns.size(); ++i) {
      const std::optional<double> value = scoreOf(point, columns[i].get<std::string>());
      row.push_back(value && std::isfinite(*value) ? Json(*value) : Json(nullptr));
    }
    rows.push_back(std::move(row));
  }
  setJson(table, {{"columns", std::move(columns)}, {"rows", std::move(rows)}});
  describe(table, points, trained);
  findings.artifacts.push_back(std::move(table));
  return findings;
}

class ResolutionSweep final : public Analysis {
 public:
  ItemCard card() const override {
    ItemCard card =
        itemCard(ItemKind::Analysis, "resolution_sweep", "Resolution sweep",
                 "The task's scores on images of other sizes; fall/SIZE is by how much the main "
                 "score is below that of the size of training, fall_SCORE/SIZE another one");
    card.needs = {ImageClassifier::kId};
    card.schema.fields = runOnly(
        {listField("sizes", FieldType::Integer, Json::array(),
                   "heights of the images, in the proportions of training; empty: that of training "
                   "and twice that")
             .titled("Image heights")
             .range(1, 16384)
             .withUnit("px"),
         textField("score", nullptr,
                   "score of the task that is drawn; none: the one that decides which checkpoint "
                   "is best")
             .titled("Score")
             .orNone()});
    return card;
  }
  Kind kind() const noexcept override { return Kind::Probe; }

  void requireStartable(const Config& config, const Task& task) const override {
    const std::string score = config.text("score");
    const std::vector<std::string> known = task.scores();
    if (score.empty() || known.empty() || !isOfWhole(score) ||
        std::find(known.begin(), known.end(), score) != known.end())
      return;
    throw ConfigError("score = \"" + score + "\" is not a score of task '" + task.card().id +
                      "'; it has " + joined(known));
  }

  ProbeSamples probeSamples(const Config& /*config*/) const override { return {1}; }

  std::function<Findings()> probe(const Config& config, ProbeContext& context) const override {
    if (!context.reopen)
      throw ConfigError(
          "this run cannot be opened for another image size: its configuration is not "
          "known");
    const Config now(context.reopen(Json::object()).config);
    if (!now.has("model.image_size"))
      throw ConfigError("the model of this run has no image_size to change");
    const Sides trained = now.size("model.image_size");
    std::vector<std::int64_t> heights = config.integers("sizes");
    if (heights.empty()) heights = {trained[0], 2 * trained[0]};
    const std::set<std::int64_t> ordered(heights.begin(), heights.end());
    std::string score = config.text("score");
    std::vector<Point> points;
    for (const std::int64_t height : ordered)
      points.push_back(measure(context, sizeOf(height, trained), score));
    const bool isMain = score == mainScore(context.session, points.front().scores);
    return [points = std::move(points), trained, score, fall = isMain ? "fall" : "fall_" + score] {
      return findingsOf(points, trained, score, fall);
    };
  }
};

}  // namespace

std::unique_ptr<Analysis> makeResolutionSweep() { return std::make_unique<ResolutionSweep>(); }

}  // namespace vitrine::analyses
