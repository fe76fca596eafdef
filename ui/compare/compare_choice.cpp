#include "ui/compare/compare_choice.h"

#include <utility>

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

/// Reads members of an object where they are there and of the right type.
class ChoiceReader {
 public:
  explicit ChoiceReader(const Json& from) : from_(from) {}
  const Json* find(const char* key) const {
    const auto found = from_.find(key);
    return found == from_.end() ? nullptr : &*found;
  }
  void text(const char* key, std::string& to) const {
    if (const Json* value = find(key); value != nullptr && value->is_string())
      to = value->get<std::string>();
  }
  void text(const char* key, QString& to) const {
    if (const Json* value = find(key); value != nullptr && value->is_string())
      to = QString::fromStdString(value->get<std::string>());
  }
  void texts(const char* key, std::vector<std::string>& to) const {
    const Json* list = find(key);
    if (list == nullptr || !list->is_array()) return;
    to.clear();
    for (const Json& one : *list) {
      if (one.is_string()) to.push_back(one.get<std::string>());
    }
  }
  void flag(const char* key, bool& to) const {
    if (const Json* value = find(key); value != nullptr && value->is_boolean())
      to = value->get<bool>();
  }
  template <class Value>
  void name(const char* key, const ChoiceNames<Value>& names, Value& to) const {
    std::string text;
    this->text(key, text);
    for (const auto& [candidate, name] : names) {
      if (text == name) to = candidate;
    }
  }
  void better(const char* key, std::optional<Direction>& to) const {
    const Json* value = find(key);
    if (value == nullptr) return;
    if (value->is_null()) to.reset();
    Direction direction = Direction::None;
    if (!value->is_string()) return;
    name(key, kDirectionNames, direction);
    to = direction;
  }

 private:
  const Json& from_;
};

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
  if (!state.is_object()) return out;
  const ChoiceReader read(state);
  read.name("view", kViewNames, out.view);
  read.texts("metrics", out.metrics);
  read.texts("picked", out.picked);
  read.name("picture", kPictureNames, out.picture);
  if (const Json* latex = read.find("latex"); latex != nullptr && latex->is_object()) {
    const ChoiceReader one(*latex);
    one.name("differs", kDiffersNames, out.latex.differs);
    one.flag("difference", out.latex.hasDifference);
    one.flag("count", out.latex.hasCount);
    one.flag("bold", out.latex.isBestBold);
    one.texts("without", out.latex.withoutMetrics);
  }
  std::string value;
  read.text("value", value);
  out.value.value = store::curveValueFromString(value).value_or(out.value.value);
  if (const Json* step = read.find("at_step"); step != nullptr && step->is_number_integer())
    out.value.step = std::max<std::int64_t>(step->get<std::int64_t>(), 0);
  read.text("baseline", out.baseline);
  bool isCounted = out.unfinished == store::Unfinished::Counted;
  read.flag("count_unfinished", isCounted);
  out.unfinished = isCounted ? store::Unfinished::Counted : store::Unfinished::LeftOut;
  read.text("filter", out.filter);
  if (const Json* column = read.find("sort_column");
      column != nullptr && column->is_number_integer())
    out.sortColumn = column->get<int>();
  bool isDescending = out.sortOrder == Qt::DescendingOrder;
  read.flag("sort_descending", isDescending);
  out.sortOrder = isDescending ? Qt::DescendingOrder : Qt::AscendingOrder;
  read.name("x", kAxisNames, out.axis);
  read.name("centre", kCentreNames, out.centre);
  read.name("band", kSpreadNames, out.spread);
  read.text("colour", out.colour);
  read.text("dash", out.dash);
  read.text("panel", out.panel);
  read.flag("log_x", out.isLogX);
  read.flag("log_y", out.isLogY);
  if (const Json* axes = read.find("parallel"); axes != nullptr && axes->is_array()) {
    out.parallel.clear();
    for (const Json& entry : *axes) {
      if (!entry.is_object()) continue;
      const ChoiceReader one(entry);
      ParallelAxisChoice axis;
      one.text("quantity", axis.quantity);
      one.flag("log", axis.isLog);
      one.flag("flipped", axis.isFlipped);
      if (const Json* brush = one.find("brush"); brush != nullptr && brush->is_array() &&
                                                 brush->size() == 2 && (*brush)[0].is_number() &&
                                                 (*brush)[1].is_number())
        axis.brush = {(*brush)[0].get<double>(), (*brush)[1].get<double>()};
      if (!axis.quantity.empty()) out.parallel.push_back(axis);
    }
  }
  if (const Json* scatter = read.find("scatter"); scatter != nullptr && scatter->is_object()) {
    const ChoiceReader one(*scatter);
    one.text("x", out.scatterX);
    one.text("y", out.scatterY);
    one.flag("log_x", out.isScatterLogX);
    one.flag("log_y", out.isScatterLogY);
    one.better("better_x", out.betterX);
    one.better("better_y", out.betterY);
  }
  read.flag("only_differences", out.onlyDifferences);
  read.text("artifact", out.artifact);
  read.text("published", out.publishedFile);
  return out;
}

}  // namespace vitrine::ui
