#include "ui/workbench/sampling/first_drawing.h"

#include <algorithm>

#include "core/config/edit/document.h"
#include "core/config/lookup.h"
#include "ui/workbench/drawn_runs.h"
#include "ui/workbench/help_viewer.h"
#include "ui/workbench/page.h"
#include "ui/workbench/run_facts.h"

namespace vitrine::ui {

namespace {

constexpr double kDrawingSeconds = 148;  // as the first line of the file says

}  // namespace

std::vector<std::string> samplersFor(const Catalog& catalog, const Json& config) {
  const ItemCard* model =
      catalog.find(ItemKind::Architecture, textAt(config, "model.architecture"));
  const ItemCard* task = catalog.find(ItemKind::Task, textAt(config, "task.name"));
  std::vector<std::string> found;
  if (model == nullptr) return found;
  for (const ItemCard& card : catalog.items) {
    if (card.kind != ItemKind::Sampler || card.needs.empty() ||
        !offersEvery(model->offers, card.needs))
      continue;
    // A task that trains the same model for something else makes no samples of it.
    const bool isMadeFor =
        task == nullptr || std::any_of(card.needs.begin(), card.needs.end(), [&](const auto& need) {
          return offersEvery(task->needs, {need});
        });
    if (isMadeFor) found.push_back(card.id);
  }
  return found;
}

bool isBeforeCheckpoint(const store::RunRow& row) {
  return row.latestCheckpoint < 0 &&
         (row.state == store::RunState::Queued || store::isAlive(row.state));
}

DrawingRuns drawingRuns(store::RunReader& store, const Catalog& catalog,
                        const std::atomic<bool>& isStale) {
  DrawingRuns found;
  for (const store::RunRow& row : store.runs()) {
    if (isStale || found.ready != 0) break;
    const bool isComing = isBeforeCheckpoint(row);
    if (row.latestCheckpoint < 0 && (!isComing || found.coming != 0)) continue;
    const Json config = store.config(row.id);
    if (!config.is_object() || samplersFor(catalog, config).empty()) continue;
    (isComing ? found.coming : found.ready) = row.id;
  }
  return found;
}

std::string drawingExperiment(const Catalog& catalog) {
  for (const ItemCard& sampler : catalog.items) {
    if (sampler.kind != ItemKind::Sampler || sampler.needs.empty()) continue;
    for (const ItemCard& task : catalog.items) {
      if (task.kind != ItemKind::Task || !offersEvery(task.needs, sampler.needs)) continue;
      for (const ItemCard& model : catalog.items) {
        if (model.kind != ItemKind::Architecture || !offersEvery(model.offers, sampler.needs))
          continue;
        // The data have what the task needs besides the model.
        std::vector<std::string> fields;
        for (const std::string& need : task.needs) {
          if (!offersEvery(model.offers, {need})) fields.push_back(need);
        }
        for (const ItemCard& data : catalog.items) {
          const bool isReady = std::none_of(data.schema.fields.begin(), data.schema.fields.end(),
                                            [](const Field& field) { return field.required; });
          if (data.kind != ItemKind::Dataset || !isReady || !offersEvery(data.offers, fields))
            continue;
          std::string text = "title = \"Draw with " + model.title +
                             "\"\n\n[model]\narchitecture = \"" + model.id + "\"\n";
          const auto demo =
              std::find_if(model.schema.presets.begin(), model.schema.presets.end(),
                           [](const Preset& preset) { return preset.name.ends_with("/demo"); });
          if (demo != model.schema.presets.end()) text += "preset = \"" + demo->name + "\"\n";
          text += "\n[task]\nname = \"" + task.id + "\"\n\n[data]\ndataset = \"" + data.id + "\"\n";
          const Field* normalize = dataSchema().find("normalize");
          if (normalize != nullptr && normalize->offers("half")) text += "normalize = \"half\"\n";
          return text;
        }
      }
    }
  }
  return {};
}

FirstDrawing firstDrawing(const Catalog& catalog) {
  FirstDrawing first;
  Problem problem;
  first.text = builtInText(QStringLiteral("experiments/draw.toml")).toStdString();
  if (const auto document = parseDocument(first.text, problem);
      document && !samplersFor(catalog, document->tables).empty()) {
    first.title = document->title;
    first.seconds = kDrawingSeconds;
    return first;
  }
  first.text = drawingExperiment(catalog);
  if (const auto document = parseDocument(first.text, problem); document && !first.text.empty())
    first.title = document->title;
  return first;
}

DrawingOffer::DrawingOffer(Workbench& workbench, QObject* parent)
    : QObject(parent), workbench_(workbench) {
  enqueue_.setLink(workbench.link());
  connect(&enqueue_, &EnqueueProcess::finished, this,
          [this](const std::vector<std::int64_t>& runs) {
            workbench_.selectEnqueued(runs);
            workbench_.showPage(QStringLiteral("monitor"));
          });
  connect(&enqueue_, &EnqueueProcess::failed, this, [this](const QString& sentence) {
    workbench_.showError(sentence);
    Q_EMIT changed();
  });
}

QString DrawingOffer::sentence() const {
  const FirstDrawing first = firstDrawing(workbench_.catalog());
  const QString title = QString::fromStdString(first.title);
  const QString none = tr("No run here has a checkpoint of a model that a sampler can draw with.");
  if (enqueue_.isRunning())
    return tr("One step of \u201c%1\u201d is tried, then it goes into the queue.").arg(title);
  if (coming_ != 0)
    return none + QLatin1Char(' ') +
           tr("\u201c%1\u201d will have one at its first checkpoint.")
               .arg(runNameOf(workbench_, coming_));
  if (first.seconds > 0)
    return none + QLatin1Char(' ') +
           tr("\u201c%1\u201d trains one. Cost: 1 run, %2 on two cores.")
               .arg(title, aboutDuration(first.seconds));
  return none + QLatin1Char(' ') +
         tr("Train one that generates images or texts; the form says what it costs.");
}

QString DrawingOffer::action() const {
  if (enqueue_.isRunning()) return {};
  if (coming_ != 0) return tr("Show its training");
  return firstDrawing(workbench_.catalog()).seconds > 0 ? tr("Train it") : tr("New experiment");
}

void DrawingOffer::press() {
  const FirstDrawing first = firstDrawing(workbench_.catalog());
  if (coming_ != 0) {
    workbench_.selection().setRuns({coming_}, coming_);
    workbench_.showPage(QStringLiteral("monitor"));
  } else if (first.seconds > 0) {
    workbench_.attempt([&] {
      enqueue_.start(first.text, first.title, workbench_.store().file(), jobs::QueueEnd::Front);
    });
    Q_EMIT changed();
  } else if (first.text.empty()) {
    workbench_.showPage(QStringLiteral("configure"));
  } else {
    workbench_.configure(first.text, QString());
  }
}

}  // namespace vitrine::ui
