#include "ui/playground/drawable_runs.h"

#include <QObject>
#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <utility>

#include "core/config/lookup.h"
#include "ui/kit/theme.h"
#include "ui/kit/value_text.h"
#include "ui/workbench/sampling/class_names.h"

namespace vitrine::ui {

namespace {

constexpr std::int64_t kFirstCount = 1;      // images, until the user wants more
constexpr std::int64_t kFirstPreviews = 10;  // pictures along the way of an image
constexpr QLatin1String kClassPlace("{class}");

/// Rows that are always in sight; all others are below "More settings".
constexpr std::array kCommonKeys{"checkpoint", "weights", "sampler",  "class", "prompt", "image",
                                 "seed",       "steps",   "guidance", "size",  "count",  "solver"};

Field choiceOf(const char* key, const QString& title, std::vector<std::string> choices,
               const QString& doc) {
  Field field = choiceField(key, choices.front(), choices, doc.toStdString());
  field.title = title.toStdString();
  return field;
}

FormEntry checkpointEntry(const DrawableRun& run) {
  FormEntry entry;
  std::vector<std::string> steps;
  for (const store::CheckpointRow& row : run.checkpoints) {
    steps.push_back(std::to_string(row.step));
    QString words = count(row.step);
    if (row.isLatest) words += QObject::tr(", latest");
    if (row.isBest) words += QObject::tr(", best");
    entry.valueTitles << words;
  }
  entry.field = choiceOf(kCheckpointKey, QObject::tr("Checkpoint"), std::move(steps),
                         QObject::tr("optimizer step whose weights are used"));
  return entry;
}

/// Runs that the sampler can draw with, for a grid over them; nothing where there is one alone.
std::optional<FormEntry> runEntry(const DrawableRun& run, const std::string& sampler,
                                  const std::vector<DrawableRun>& others) {
  std::vector<std::string> numbers;
  QStringList titles;
  for (const DrawableRun& each : others) {
    const auto& fitting = each.samplers;
    if (std::find(fitting.begin(), fitting.end(), sampler) == fitting.end()) continue;
    numbers.push_back(std::to_string(each.id));
    titles << QStringLiteral("#%1 %2").arg(each.id).arg(each.name);
  }
  const std::string own = std::to_string(run.id);
  if (numbers.size() < 2 || std::find(numbers.begin(), numbers.end(), own) == numbers.end())
    return std::nullopt;
  Field field =
      choiceField(kRunKey, own, std::move(numbers),
                  QObject::tr("numbers of runs; another run is drawn with its newest checkpoint")
                      .toStdString());
  field.title = QObject::tr("Runs").toStdString();
  return FormEntry{std::move(field), std::move(titles), true};
}

/// Of the first step that makes captions of labels; "" where there is none.
QString captionInConfig(const Json& config) {
  const Json* steps = valueAt(config, "data.pipeline.train");
  if (steps == nullptr || !steps->is_array()) return {};
  for (const Json& step : *steps) {
    const QStringList templates = namesFrom(stateList(step, "templates"));
    if (!templates.isEmpty()) return templates.front().trimmed();
  }
  return {};
}

/// What to write as a prompt: a caption of the class with the shortest name, or its beginning for
/// a model that continues it; else what the sampler says of it.
QString promptExample(const Field& prompt, QString caption, const QStringList& classNames,
                      bool isContinued) {
  if (isContinued) caption = caption.section(kClassPlace, 0, 0).trimmed();
  const auto shortest =
      std::min_element(classNames.begin(), classNames.end(),
                       [](const QString& a, const QString& b) { return a.size() < b.size(); });
  if (shortest != classNames.end()) caption.replace(kClassPlace, shortest->toLower());
  const bool isKnown = !caption.isEmpty() && !caption.contains(kClassPlace);
  return isKnown ? QObject::tr("e.g. %1").arg(caption)
                 : atStart(QString::fromStdString(prompt.doc));
}

bool isCommonKey(const std::string& key) {
  return std::find(kCommonKeys.begin(), kCommonKeys.end(), key) != kCommonKeys.end();
}

}  // namespace

DrawableRuns readDrawableRuns(store::RunReader& store, const Catalog& catalog,
                              const std::atomic<bool>& isStale) {
  DrawableRuns found;
  std::set<std::string> datasets;
  std::map<std::int64_t, std::string> others;  // runs by data set, whose artifacts may have names
  std::vector<store::RunRow> rows = store.runs();
  std::reverse(rows.begin(), rows.end());
  for (const store::RunRow& row : rows) {
    if (isStale) return found;
    const Json config = store.config(row.id);
    if (!config.is_object()) continue;
    const std::string dataset = textAt(config, "data.dataset");
    others[row.id] = dataset;
    if (isBeforeCheckpoint(row) && !samplersFor(catalog, config).empty()) found.coming = row.id;
    if (row.latestCheckpoint < 0) continue;
    const Json* decay = valueAt(config, "train.ema.decay");
    DrawableRun run{row.id,
                    QString::fromStdString(row.name),
                    dataset,
                    samplersFor(catalog, config),
                    store.checkpoints(row.id),
                    decay != nullptr && decay->is_number(),
                    captionInConfig(config)};
    if (run.samplers.empty() || run.checkpoints.empty()) continue;
    std::sort(run.checkpoints.begin(), run.checkpoints.end(),
              [](const auto& a, const auto& b) { return a.step > b.step; });
    if (const QStringList names = classNamesInConfig(config); !names.isEmpty())
      found.classNames[dataset] = names;
    datasets.insert(dataset);
    found.runs.push_back(std::move(run));
  }
  for (const auto& [id, dataset] : others) {
    if (isStale) return found;
    if (!datasets.contains(dataset) || found.classNames.contains(dataset)) continue;
    if (const QStringList names = classNamesInArtifacts(store, id); !names.isEmpty())
      found.classNames[dataset] = names;
  }
  return found;
}

Schema samplerSchema(const Catalog& catalog, const std::string& sampler) {
  const ItemCard* card = catalog.find(ItemKind::Sampler, sampler);
  Schema schema = sampleSchema();
  if (card != nullptr) {
    schema.fields.insert(schema.fields.end(), card->schema.fields.begin(),
                         card->schema.fields.end());
  }
  return schema;
}

bool makesTextOnly(const Catalog& catalog, const std::string& sampler) {
  const ItemCard* card = catalog.find(ItemKind::Sampler, sampler);
  return card != nullptr && card->needs == std::vector<std::string>{"language_model"};
}

std::vector<FormEntry> formEntries(const Catalog& catalog, const DrawableRun& run,
                                   const std::string& sampler, const QStringList& classNames,
                                   const std::vector<DrawableRun>& others) {
  std::vector<FormEntry> entries{checkpointEntry(run)};
  FormEntry weights{choiceOf(
      kWeightsKey, QObject::tr("Weights"),
      run.hasAverage ? std::vector<std::string>{"ema", "model"} : std::vector<std::string>{"model"},
      QObject::tr("averaged weights (EMA), or those of the step (raw)"))};
  weights.valueTitles = run.hasAverage ? QStringList{QObject::tr("EMA"), QObject::tr("raw")}
                                       : QStringList{QObject::tr("raw")};
  entries.push_back(std::move(weights));
  FormEntry samplers{
      choiceOf(kSamplerKey, QObject::tr("Sampler"), run.samplers, QObject::tr("how it is drawn"))};
  for (const std::string& id : run.samplers) {
    const ItemCard* card = catalog.find(ItemKind::Sampler, id);
    samplers.valueTitles << QString::fromStdString(card->title.empty() ? id : card->title);
  }
  entries.push_back(std::move(samplers));
  FormEntry device{
      choiceOf("device", QObject::tr("Device"), {"auto", "cpu"}, QObject::tr("where it is drawn")),
      {QObject::tr("automatic"), QObject::tr("processor")},
      true};
  entries.push_back(std::move(device));
  if (std::optional<FormEntry> runs = runEntry(run, sampler, others))
    entries.push_back(std::move(*runs));
  for (Field field : samplerSchema(catalog, sampler).fields) {
    if (field.name == "attention" || field.type == FieldType::Table) continue;
    if (field.name == "count") field.defaultValue = kFirstCount;
    if (field.name == "previews") field.defaultValue = kFirstPreviews;
    FormEntry entry{field, {}, !isCommonKey(field.name)};
    if (field.name == "class" && field.type == FieldType::Integer) {
      for (qsizetype i = 0; i < classNames.size(); ++i)
        entry.valueTitles << QStringLiteral("%1 (%2)").arg(classNames[i], QString::number(i));
      entry.noneTitle = QObject::tr("each in turn");  // by seed, not without a class
    }
    if (field.name == "prompt" && field.type == FieldType::Text)
      entry.noneTitle =
          promptExample(field, run.caption, classNames, makesTextOnly(catalog, sampler));
    entries.push_back(std::move(entry));
  }
  // The subject comes first, as a user thinks of it.
  const auto place = [](const FormEntry& entry) {
    const auto found = std::find(kCommonKeys.begin(), kCommonKeys.end(), entry.field.name);
    return found - kCommonKeys.begin();
  };
  std::stable_sort(entries.begin(), entries.end(),
                   [&](const FormEntry& a, const FormEntry& b) { return place(a) < place(b); });
  return entries;
}

Json probeSettings(const Catalog& catalog, const DrawableRun& run) {
  Json settings{{"count", 1}};
  double steps = 1;
  for (const std::string& id : run.samplers) {
    const Schema schema = samplerSchema(catalog, id);
    const Field* field = schema.find("steps");
    if (field == nullptr || !field->minimum) return settings;
    steps = std::max(steps, *field->minimum);
  }
  settings["steps"] = static_cast<std::int64_t>(steps);
  return settings;
}

}  // namespace vitrine::ui
