#include "ui/playground/sample_settings.h"

#include <QRegularExpression>
#include <cmath>

#include "core/config/config.h"
#include "ui/form/field_editor.h"
#include "ui/kit/theme.h"
#include "ui/kit/value_text.h"

namespace vitrine::ui {

namespace {

constexpr std::size_t kMostAxisValues = 100;

/// "0..9", "0..1..0.25": nothing where it is not of that form.
std::optional<AxisValues> axisRange(const Field& field, const QString& text) {
  static const QString kNumber = QStringLiteral("([+-]?(?:\\d+(?:\\.\\d+)?|\\.\\d+))");
  static const QString kTo = QStringLiteral("\\s*\\.\\.\\s*");
  static const QRegularExpression kRange(QLatin1Char('^') + kNumber + kTo + kNumber +
                                         QStringLiteral("(?:") + kTo + kNumber +
                                         QStringLiteral(")?$"));
  const QRegularExpressionMatch match = kRange.match(text);
  if (!match.hasMatch()) return std::nullopt;
  const double first = match.captured(1).toDouble(), last = match.captured(2).toDouble();
  const double step = match.captured(3).isEmpty() ? 1 : match.captured(3).toDouble();
  AxisValues range;
  if (!(step > 0) || last < first) {
    range.error = QObject::tr(
                        "\u201c%1\u201d is not a range; write first..last or first..last..step "
                        "with a step above 0")
                        .arg(text);
    return range;
  }
  const auto isWhole = [](double value) { return value == std::floor(value); };
  if (field.type == FieldType::Integer && !(isWhole(first) && isWhole(step))) {
    range.error = QObject::tr("\u201c%1\u201d is not a range of whole numbers").arg(text);
    return range;
  }
  constexpr double kRounding = 1e-9;
  const double number = std::floor((last - first) / step + kRounding);
  if (number + 1 > static_cast<double>(kMostAxisValues)) {
    range.error = QObject::tr("\u201c%1\u201d has more than %2 values; take a larger step")
                        .arg(text, QString::number(kMostAxisValues));
    return range;
  }
  for (int i = 0; i <= static_cast<int>(number); ++i) {
    const double value = first + i * step;
    if (field.type == FieldType::Integer)
      range.values.emplace_back(static_cast<std::int64_t>(std::llround(value)));
    else
      range.values.emplace_back(value);
  }
  return range;
}

/// A description takes no steps.
std::optional<std::int64_t> stepsOf(const SampleSettings& settings) {
  return describedImage(settings).isEmpty() ? stateInteger(settings.values, "steps")
                                            : std::nullopt;
}

Json chosenValue(const SampleSettings& settings, const std::string& key) {
  if (key == kCheckpointKey) return settings.model.checkpoint;
  if (key == kWeightsKey) return settings.model.use;
  if (key == kSamplerKey) return settings.sampler;
  return settings.values.value(key, Json());
}

}  // namespace

Json toJson(const SampleSettings& settings) {
  return {{"run", settings.model.run},       {kCheckpointKey, settings.model.checkpoint},
          {kWeightsKey, settings.model.use}, {"device", settings.model.device},
          {kSamplerKey, settings.sampler},   {"values", settings.values}};
}

SampleSettings settingsFromJson(const Json& json) {
  SampleSettings settings;
  settings.model.run = stateInteger(json, "run", 0);
  settings.model.checkpoint = stateText(json, kCheckpointKey, settings.model.checkpoint);
  settings.model.use = stateText(json, kWeightsKey, settings.model.use);
  settings.model.device = stateText(json, "device", settings.model.device);
  settings.sampler = stateText(json, kSamplerKey, {});
  settings.values = stateTable(json, "values");
  return settings;
}

QString describedImage(const SampleSettings& settings) {
  return stateWords(settings.values, "image");
}

SampleSettings withValue(SampleSettings settings, const std::string& key, const Json& value) {
  const std::string word = value.is_string() ? value.get<std::string>() : std::string();
  if (key == kRunKey) {
    const std::int64_t run = QString::fromStdString(word).toLongLong();
    if (run != settings.model.run) settings.model.checkpoint = ModelChoice().checkpoint;
    settings.model.run = run;
  } else if (key == kCheckpointKey) {
    settings.model.checkpoint = word;
  } else if (key == kWeightsKey) {
    settings.model.use = word;
  } else if (key == kSamplerKey) {
    settings.sampler = word;
  } else {
    settings.values[key] = value;
  }
  return settings;
}

int SampleGrid::rowCount() const { return rows ? static_cast<int>(rows->values.size()) : 1; }

int SampleGrid::columnCount() const {
  return columns ? static_cast<int>(columns->values.size()) : 1;
}

std::vector<SampleSettings> cellsOf(const SampleSettings& base, const SampleGrid& grid) {
  std::vector<SampleSettings> cells;
  for (int row = 0; row < grid.rowCount(); ++row) {
    for (int column = 0; column < grid.columnCount(); ++column) {
      SampleSettings cell = base;
      const auto take = [&cell](const std::optional<GridAxis>& axis, int place) {
        if (axis)
          cell =
              withValue(std::move(cell), axis->key, axis->values[static_cast<std::size_t>(place)]);
      };
      const bool isRunAcross = grid.columns && grid.columns->key == kRunKey;
      if (isRunAcross) take(grid.columns, column);
      take(grid.rows, row);
      if (!isRunAcross) take(grid.columns, column);
      if (!describedImage(cell).isEmpty()) cell.values.erase("prompt");
      cells.push_back(std::move(cell));
    }
  }
  return cells;
}

QString valueProblem(const Field& field, const Json& value) {
  const QString shown = valueText(value), title = titleOf(field);
  if (value.is_null())
    return field.nullable ? QString() : QObject::tr("%1 has no value \u201cnone\u201d").arg(title);
  if (field.type == FieldType::Choice) {
    if (value.is_string() && field.offers(value.get<std::string>())) return {};
    QStringList all;
    for (const std::string& choice : field.choices) all << QString::fromStdString(choice);
    return QObject::tr("%1 takes one of %2, not \u201c%3\u201d")
        .arg(title, all.join(QStringLiteral(", ")), shown);
  }
  if (field.type == FieldType::List && value.is_array()) {
    Field one = field;
    one.type = field.elements.value_or(FieldType::Text);
    for (const Json& each : value) {
      if (const QString problem = valueProblem(one, each); !problem.isEmpty()) return problem;
    }
    return {};
  }
  const bool isReal = field.type == FieldType::Real;
  if (field.type == FieldType::Integer || isReal) {
    const bool isNumber = isReal ? value.is_number() && std::isfinite(value.get<double>())
                                 : value.is_number_integer();
    if (!isNumber) {
      return (isReal ? QObject::tr("%1 takes a number, not \u201c%2\u201d")
                     : QObject::tr("%1 takes a whole number, not \u201c%2\u201d"))
          .arg(title, shown);
    }
    const double number = value.get<double>();
    const bool isInside = (!field.minimum || number >= *field.minimum) &&
                          (!field.maximum || number <= *field.maximum) &&
                          (!field.above || number > *field.above) &&
                          (!field.below || number < *field.below);
    if (!isInside) {
      return QObject::tr("%1 is outside of what %2 allows: %3")
          .arg(shown, title, rangeText(field));
    }
  }
  return {};
}

bool canBeAxis(const Field& field) {
  return field.type != FieldType::List && field.type != FieldType::Table &&
         field.type != FieldType::Size;
}

AxisValues axisValues(const Field& field, const QString& text) {
  const bool isText = field.type == FieldType::Text;
  const bool isNumber = field.type == FieldType::Integer || field.type == FieldType::Real;
  AxisValues found;
  const QStringList parts =
      text.split(isText ? QLatin1Char('|') : QLatin1Char(','), Qt::SkipEmptyParts);
  for (const QString& each : parts) {
    const QString part = each.trimmed();
    if (part.isEmpty()) continue;
    AxisValues some;
    if (const auto range = isNumber ? axisRange(field, part) : std::nullopt; range) {
      some = *range;
    } else if (field.type == FieldType::Bool) {
      const QString word = part.toLower();
      const bool isYes = word == QLatin1String("true") || word == QLatin1String("yes");
      if (isYes || word == QLatin1String("false") || word == QLatin1String("no"))
        some.values.emplace_back(isYes);
      else
        some.error = QObject::tr("\u201c%1\u201d is neither true nor false").arg(part);
    } else if (const auto value = parseFieldText(field, part); value) {
      some.values.push_back(normalized(field, *value));
    }
    found.error = some.error;
    for (const Json& value : some.values) {
      if (found.error.isEmpty()) found.error = valueProblem(field, value);
      if (found.error.isEmpty()) found.values.push_back(value);
    }
    if (!found.error.isEmpty()) return found;
  }
  if (found.values.empty()) {
    found.error =
        isText
            ? QObject::tr("Type the values of %1, with | between two of them").arg(titleOf(field))
            : QObject::tr("Type the values of %1, as 1, 2, 4 or 0..9").arg(titleOf(field));
  } else if (found.values.size() > kMostAxisValues) {
    found.error = QObject::tr("%1 has %2 values; take at most %3")
                        .arg(titleOf(field), QString::number(found.values.size()),
                             QString::number(kMostAxisValues));
  }
  return found;
}

QString axisText(const Field& field, const std::vector<Json>& values) {
  QStringList parts;
  for (const Json& value : values) parts << valueText(value);
  return parts.join(field.type == FieldType::Text ? QStringLiteral(" | ") : QStringLiteral(", "));
}

std::vector<std::string> changedKeys(const SampleSettings& before, const SampleSettings& now) {
  std::vector<std::string> keys;
  if (before.model.run != now.model.run) keys.emplace_back("run");
  for (const char* key : {kCheckpointKey, kWeightsKey, kSamplerKey}) {
    if (chosenValue(before, key) != chosenValue(now, key)) keys.emplace_back(key);
  }
  if (before.model.device != now.model.device) keys.emplace_back("device");
  for (const Difference& each : difference(before.values, now.values)) keys.push_back(each.key);
  return keys;
}

QString costText(const SampleCost& cost, bool areTexts) {
  QStringList parts{areTexts || cost.areTexts
                        ? counted(cost.images, QObject::tr("text"), QObject::tr("texts"))
                        : counted(cost.images, QObject::tr("image"), QObject::tr("images"))};
  if (cost.evaluations) {
    parts << QObject::tr("%1 each").arg(
        counted(*cost.evaluations, QObject::tr("evaluation"), QObject::tr("evaluations")));
  } else if (cost.steps) {
    parts << QObject::tr("%1 each").arg(
        counted(*cost.steps, QObject::tr("step"), QObject::tr("steps")));
  }
  if (cost.seconds)
    parts << (*cost.seconds < 0.05 ? QObject::tr("less than a second")
                                   : QObject::tr("about %1\u202fs")
                                         .arg(number(*cost.seconds, *cost.seconds < 10 ? 1 : 0)));
  return parts.join(QStringLiteral(" \u00b7 "));
}

// Guidance asks the network twice, and a solver asks it several times a step.
std::string SamplePace::keyOf(const SampleSettings& settings) {
  const bool isGuided = stateNumber(settings.values, "guidance", 1) != 1;
  return std::to_string(settings.model.run) + '/' + settings.model.device + '/' + settings.sampler +
         '/' + settings.values.value("solver", Json()).dump() + '/' + (isGuided ? "guided" : "") +
         (describedImage(settings).isEmpty() ? "" : "/text");
}

void SamplePace::learn(const SampleSettings& settings, double seconds,
                       std::optional<std::int64_t> evaluations) {
  const auto steps = static_cast<double>(stepsOf(settings).value_or(1));
  const auto images = static_cast<double>(settings.count());
  if (steps < 1 || images < 1 || !(seconds > 0)) return;
  Pace& pace = paces_[keyOf(settings)];
  pace.secondsPerStep = seconds / steps / images;
  if (evaluations) pace.evaluationsPerStep = static_cast<double>(*evaluations) / steps;
}

SampleCost SamplePace::costOf(const std::vector<SampleSettings>& cells) const {
  SampleCost cost{.seconds = 0};
  bool isFirst = true;
  for (const SampleSettings& cell : cells) {
    cost.images += cell.count();
    cost.areTexts = (isFirst || cost.areTexts) && !describedImage(cell).isEmpty();
    const std::optional<std::int64_t> steps = stepsOf(cell);
    std::optional<std::int64_t> evaluations;
    const auto pace = paces_.find(keyOf(cell));
    if (pace == paces_.end()) {
      cost.seconds.reset();
    } else {
      const auto number = static_cast<double>(steps.value_or(1));
      if (cost.seconds)
        *cost.seconds += pace->second.secondsPerStep * number * static_cast<double>(cell.count());
      if (steps && pace->second.evaluationsPerStep)
        evaluations = std::llround(*pace->second.evaluationsPerStep * number);
    }
    if (isFirst) {
      cost.steps = steps;
      cost.evaluations = evaluations;
    }
    if (cost.steps != steps) cost.steps.reset();
    if (cost.evaluations != evaluations) cost.evaluations.reset();
    isFirst = false;
  }
  if (cells.empty()) cost.seconds.reset();
  return cost;
}

}  // namespace vitrine::ui
