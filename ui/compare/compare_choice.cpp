#include "ui/compare/compare_choice.h"

#include <algorithm>
#include <utility>

#include "ui/kit/value_text.h"

namespace vitrine::ui {

namespace {

template <class Value>
using ChoiceNames = std::vector<std::pair<Value, const char*>>;

const ChoiceNames<CompareView> kViewNames = {
    {CompareView::Table, "table"},         {CompareView::Parallel, "parallel"},
    {CompareView::Scatter, "scatter"},     {CompareView::Differences, "differences"},
    {CompareView::Published, "published"}, {CompareView::Artifacts, "artifacts"}};
const ChoiceNames<CurveAxis> kAxisNames = {
    {CurveAxis::Step, "step"}, {CurveAxis::Epoch, "epoch"}, {CurveAxis::Time, "time"}};
const ChoiceNames<Centre> kCentreNames = {{Centre::Mean, "mean"}, {Centre::Median, "median"}};
const ChoiceNames<Spread> kSpreadNames = {{Spread::None, "none"},
                                          {Spread::Deviation, "deviation"},
                                          {Spread::StandardError, "standard_error"},
                                          {Spread::Interval, "interval"},
                                          {Spread::Range, "range"},
                                          {Spread::Quartiles, "quartiles"}};
const ChoiceNames<Direction> kDirectionNames = {
    {Direction::None, "none"}, {Direction::Lower, "lower"}, {Direction::Higher, "higher"}};

const ChoiceNames<LatexChoice::Differs> kDiffersNames = {{LatexChoice::Differs::Full, "full"},
                                                         {LatexChoice::Differs::Short, "short"},
                                                         {LatexChoice::Differs::None, "none"}};
const ChoiceNames<ComparePicture> kPictureNames = {{ComparePicture::Table, "table"},
                                                   {ComparePicture::Curves, "curves"},
                                                   {ComparePicture::Difference, "difference"}};

template <class Value>
std::string choiceName(const ChoiceNames<Value>& names, Value value) {
  for (const auto& [candidate, name] : names) {
    if (candidate == value) return name;
  }
  return names.front().second;
}

template <class Value>
Value chosenName(const Json& state, const char* key, const ChoiceNames<Value>& names,
                 Value otherwise) {
  const std::string text = stateText(state, key);
  for (const auto& [candidate, name] : names) {
    if (text == name) return candidate;
  }
  return otherwise;
}

std::vector<std::string> textsIn(const Json& state, const char* key,
                                 const std::vector<std::string>& otherwise) {
  const Json& list = stateMember(state, key);
  if (!list.is_array()) return otherwise;
  std::vector<std::string> texts;
  for (const Json& one : list) {
    if (one.is_string()) texts.push_back(one.get<std::string>());
  }
  return texts;
}

QString wordsIn(const Json& state, const char* key, const QString& otherwise) {
  return QString::fromStdString(stateText(state, key, otherwise.toStdString()));
}

/// Null is a choice, too: as the metric says.
std::optional<Direction> betterIn(const Json& state, const char* key,
                                  const std::optional<Direction>& otherwise) {
  if (!state.contains(key)) return otherwise;
  const Json& value = state.at(key);
  if (value.is_string()) return chosenName(state, key, kDirectionNames, Direction::None);
  return value.is_null() ? std::nullopt : otherwise;
}

}  // namespace

Json toJson(const CompareChoice& choice) {
  Json axes = Json::array();
  for (const ParallelAxisChoice& axis : choice.parallel) {
    axes.push_back({{"quantity", axis.quantity},
                    {"log", axis.isLog},
                    {"flipped", axis.isFlipped},
                    {"brush", axis.brush ? Json(*axis.brush) : Json(nullptr)}});
  }
  const auto better = [](const std::optional<Direction>& direction) {
    return direction ? Json(choiceName(kDirectionNames, *direction)) : Json(nullptr);
  };
  return {{"view", choiceName(kViewNames, choice.view)},
          {"metrics", choice.metrics},
          {"value", toString(choice.value.value)},
          {"at_step", choice.value.step},
          {"baseline", choice.baseline},
          {"count_unfinished", choice.unfinished == store::Unfinished::Counted},
          {"filter", choice.filter.toStdString()},
          {"sort_column", choice.sortColumn},
          {"sort_descending", choice.sortOrder == Qt::DescendingOrder},
          {"picked", choice.picked},
          {"picture", choiceName(kPictureNames, choice.picture)},
          {"latex",
           {{"differs", choiceName(kDiffersNames, choice.latex.differs)},
            {"difference", choice.latex.hasDifference},
            {"count", choice.latex.hasCount},
            {"bold", choice.latex.isBestBold},
            {"without", choice.latex.withoutMetrics}}},
          {"x", choiceName(kAxisNames, choice.axis)},
          {"centre", choiceName(kCentreNames, choice.centre)},
          {"band", choiceName(kSpreadNames, choice.spread)},
          {"colour", choice.colour},
          {"dash", choice.dash},
          {"panel", choice.panel},
          {"log_x", choice.isLogX},
          {"log_y", choice.isLogY},
          {"parallel", axes},
          {"scatter",
           {{"x", choice.scatterX},
            {"y", choice.scatterY},
            {"log_x", choice.isScatterLogX},
            {"log_y", choice.isScatterLogY},
            {"better_x", better(choice.betterX)},
            {"better_y", better(choice.betterY)}}},
          {"only_differences", choice.onlyDifferences},
          {"artifact", choice.artifact},
          {"published", choice.publishedFile.toStdString()}};
}

CompareChoice choiceFromJson(const Json& state, const CompareChoice& before) {
  CompareChoice out = before;
  out.view = chosenName(state, "view", kViewNames, out.view);
  out.metrics = textsIn(state, "metrics", out.metrics);
  out.picked = textsIn(state, "picked", out.picked);
  out.picture = chosenName(state, "picture", kPictureNames, out.picture);
  const Json& latex = stateTable(state, "latex");
  out.latex.differs = chosenName(latex, "differs", kDiffersNames, out.latex.differs);
  out.latex.hasDifference = stateFlag(latex, "difference", out.latex.hasDifference);
  out.latex.hasCount = stateFlag(latex, "count", out.latex.hasCount);
  out.latex.isBestBold = stateFlag(latex, "bold", out.latex.isBestBold);
  out.latex.withoutMetrics = textsIn(latex, "without", out.latex.withoutMetrics);
  out.value.value =
      store::curveValueFromString(stateText(state, "value")).value_or(out.value.value);
  out.value.step = std::max<std::int64_t>(stateInteger(state, "at_step", out.value.step), 0);
  out.baseline = stateText(state, "baseline", out.baseline);
  out.unfinished =
      stateFlag(state, "count_unfinished", out.unfinished == store::Unfinished::Counted)
          ? store::Unfinished::Counted
          : store::Unfinished::LeftOut;
  out.filter = wordsIn(state, "filter", out.filter);
  out.sortColumn = static_cast<int>(stateInteger(state, "sort_column", out.sortColumn));
  out.sortOrder = stateFlag(state, "sort_descending", out.sortOrder == Qt::DescendingOrder)
                      ? Qt::DescendingOrder
                      : Qt::AscendingOrder;
  out.axis = chosenName(state, "x", kAxisNames, out.axis);
  out.centre = chosenName(state, "centre", kCentreNames, out.centre);
  out.spread = chosenName(state, "band", kSpreadNames, out.spread);
  out.colour = stateText(state, "colour", out.colour);
  out.dash = stateText(state, "dash", out.dash);
  out.panel = stateText(state, "panel", out.panel);
  out.isLogX = stateFlag(state, "log_x", out.isLogX);
  out.isLogY = stateFlag(state, "log_y", out.isLogY);
  if (stateMember(state, "parallel").is_array()) out.parallel.clear();
  for (const Json& axis : stateList(state, "parallel")) {
    const std::string quantity = stateText(axis, "quantity");
    if (!quantity.empty())
      out.parallel.push_back({quantity, stateFlag(axis, "log"), stateFlag(axis, "flipped"),
                              statePair(stateMember(axis, "brush"))});
  }
  const Json& scatter = stateTable(state, "scatter");
  out.scatterX = stateText(scatter, "x", out.scatterX);
  out.scatterY = stateText(scatter, "y", out.scatterY);
  out.isScatterLogX = stateFlag(scatter, "log_x", out.isScatterLogX);
  out.isScatterLogY = stateFlag(scatter, "log_y", out.isScatterLogY);
  out.betterX = betterIn(scatter, "better_x", out.betterX);
  out.betterY = betterIn(scatter, "better_y", out.betterY);
  out.onlyDifferences = stateFlag(state, "only_differences", out.onlyDifferences);
  out.artifact = stateText(state, "artifact", out.artifact);
  out.publishedFile = wordsIn(state, "published", out.publishedFile);
  return out;
}

}  // namespace vitrine::ui
