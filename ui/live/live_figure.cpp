// The screen of the Live page as figures: for export, with their values as tables.
#include <algorithm>
#include <cmath>

#include "core/artifact/artifact.h"
#include "ui/figures/figure.h"
#include "ui/figures/line_chart.h"
#include "ui/figures/painting.h"
#include "ui/figures/side_by_side.h"
#include "ui/kit/series/run_series.h"
#include "ui/kit/theme.h"
#include "ui/kit/value_text.h"
#include "ui/live/live_page.h"
#include "ui/live/part_words.h"
#include "ui/workbench/export_dialog.h"

namespace vitrine::ui {

namespace {

Json placesJson(const std::vector<live::Place>& places) {
  Json list = Json::array();
  for (const live::Place& place : places) {
    if (std::isnan(place.row)) return Json::array();
    list.push_back({place.row, place.column});
  }
  return list;
}

}  // namespace

std::unique_ptr<Figure> LivePage::figure() { return figureOf(figurePart_); }

std::unique_ptr<Figure> LivePage::figureOf(FigurePart part) const {
  switch (part) {
    case FigurePart::Attention:
      return attentionFigure();
    case FigurePart::Schedule:
      return scheduleFigure();
    case FigurePart::Matrices:
      return matricesFigure();
    case FigurePart::Film:
      return filmFigure();
    case FigurePart::Steps:
      return stepsFigure();
  }
  return nullptr;
}

// The recipe of the file says which part it is.
void LivePage::exportPart(FigurePart part) {
  figurePart_ = part;
  exportFigureOf(this, workbench_, *this, QStringLiteral("live"));
  figurePart_ = FigurePart::Attention;
}

std::unique_ptr<Figure> LivePage::attentionFigure() const {
  const LiveModel::FramePointer frame = model_.shown();
  const live::AttentionLayer* layer = model_.layerShown();
  if (!frame || layer == nullptr) return nullptr;
  Artifact artifact;
  const bool isMean = model_.query.kind == LiveQuery::Kind::Mean;
  setFloat32(
      artifact, isMean ? layer->mean : layer->weights,
      {1, layer->heads, isMean ? 1 : std::ssize(layer->queries), std::ssize(layer->keys)},
      {"layer", "head", "query", "key"});
  artifact.meta["layers"] = Json::array({layer->layer});
  artifact.meta["attention"] = "effective";
  if (isMean) {
    artifact.meta["query_positions"] = Json::array({Json::array({-1, -1})});
    artifact.meta["query_words"] = Json::array({tr("mean of all queries").toStdString()});
  } else {
    artifact.meta["query_positions"] = placesJson(layer->queries);
  }
  artifact.meta["key_positions"] = placesJson(layer->keys);
  artifact.meta["image"] = frame->sample;
  artifact.meta["sample_ids"] = Json::array({frame->sample});
  artifact.meta["split"] = frame->split;
  artifact.meta["step"] = frame->step;
  if (frame->label >= 0) artifact.meta["label"] = frame->label;
  if (const QString name = model_.classOf(*frame); !name.isEmpty())
    artifact.meta["label_name"] = name.toStdString();
  if (layer->window >= 0) artifact.meta["window"] = layer->window;
  FigureStyle style{.title = tr("Attention at step %1").arg(count(frame->step)),
                    .run = seriesOf(run_),
                    .head = std::min(model_.head, layer->heads - 1)};
  if (model_.queryKind() == LiveQuery::Kind::Patch)
    style.queryAt = {model_.query.row, model_.query.column};
  const live::Pixels& pixels = frame->pixels;
  if (!pixels.bytes.empty())
    style.picture =
        QImage(pixels.bytes.data(), pixels.width, pixels.height, pixels.width * pixels.channels,
               pixels.channels == 3 ? QImage::Format_RGB888 : QImage::Format_Grayscale8)
            .copy();
  return makeFigure(QString::fromLatin1(artifact_kind::kAttention), artifact.meta,
                    std::move(artifact.data), style);
}

std::unique_ptr<Figure> LivePage::scheduleFigure() const {
  LineChart schedule{.title = tr("Schedule")};
  schedule.x.title = tr("optimizer step");
  schedule.y.title = tr("value");
  std::int64_t number = 0;
  for (const std::string& name : model_.scheduleNames()) {
    ChartSeries& series = schedule.series.emplace_back();
    series.name = scene::shortName(name);
    series.run = ++number;
    for (const auto& [step, value] : *model_.schedule(name)) {
      series.x.push_back(step);
      series.y.push_back(value);
    }
  }
  if (schedule.series.empty()) return nullptr;
  const double step = model_.moment();
  const auto mark = [&](LineChart& chart) {
    chart.notes.push_back(
        {step, {}, tr("step %1").arg(count(static_cast<std::int64_t>(step))), 0});
  };
  mark(schedule);
  if (model_.gaps().empty()) return makeLineChart(std::move(schedule));
  LineChart change{.title = tr("Loss change if the schedule ended now")};
  change.x.title = schedule.x.title;
  change.y.title = tr("loss change");
  ChartSeries& series = change.series.emplace_back();
  series.name = tr("loss change");
  for (const LiveModel::GapPoint& each : model_.gaps()) {
    series.x.push_back(each.step);
    series.y.push_back(each.gap);
  }
  mark(change);
  std::vector<std::pair<QString, std::unique_ptr<Figure>>> both;
  both.emplace_back(tr("schedule"), makeLineChart(std::move(schedule)));
  both.emplace_back(tr("loss change"), makeLineChart(std::move(change)));
  return std::make_unique<SideBySide>(std::move(both), 2, FigureStyle{});
}

std::unique_ptr<Figure> LivePage::matricesFigure() const {
  const LiveModel::FramePointer frame = model_.shown();
  if (!frame || !frame->matrices) return nullptr;
  const live::Matrices& m = *frame->matrices;
  std::vector<float> values = maskOf(m);
  values.insert(values.end(), m.softmax.begin(), m.softmax.end());
  values.insert(values.end(), m.effective.begin(), m.effective.end());
  Artifact artifact;
  setFloat32(artifact, values, {3, m.queries, m.keys}, {"matrix", "query", "key"});
  artifact.meta["labels"] = {tr("Mask S").toStdString(), tr("Attention A").toStdString(),
                             tr("A \u2218 S, attention after the mask").toStdString()};
  FigureStyle style;
  style.scale = FigureStyle::Scale::PerMap;
  style.title = tr("%1 at step %2").arg(atStart(headName(m.layer, m.head)), count(frame->step));
  return makeFigure(QString::fromLatin1(artifact_kind::kHeatmap), artifact.meta,
                    std::move(artifact.data), style);
}

std::unique_ptr<Figure> LivePage::filmFigure() const {
  if (!model_.film() || model_.film()->bytes.empty()) return nullptr;
  const live::Film& film = *model_.film();
  const auto times = std::ssize(film.times);
  const std::ptrdiff_t size = std::ptrdiff_t{film.height} * film.width * film.channels;
  Json rows = Json::array(), columns = Json::array();
  std::vector<std::uint8_t> pixels;
  pixels.reserve(film.bytes.size());
  for (int i = 0; i < film.images; ++i) {
    rows.push_back(model_.filmName(i).toStdString());
    for (std::ptrdiff_t time = 0; time < times; ++time) {
      const auto first = film.bytes.begin() + (time * film.images + i) * size;
      pixels.insert(pixels.end(), first, first + size);
    }
  }
  for (const float time : film.times)
    columns.push_back(shortNumber(static_cast<double>(time)).toStdString());
  Artifact artifact;
  setUint8(artifact, pixels, {film.images * times, film.height, film.width, film.channels},
           {"image", "row", "column", "channel"});
  artifact.meta["row_names"] = std::move(rows);
  artifact.meta["column_names"] = std::move(columns);
  artifact.meta["step"] = film.step;
  artifact.meta["title"] =
      tr("Predicted clean images by time, weights of step %1").arg(count(film.step)).toStdString();
  return makeFigure(QString::fromLatin1(artifact_kind::kImageGrid), artifact.meta,
                    std::move(artifact.data));
}

std::unique_ptr<Figure> LivePage::stepsFigure() const {
  if (model_.steps().empty()) return nullptr;
  constexpr double kMs = 1e3;
  LineChart chart{.title = tr("Step time"), .about = tr("time of each part")};
  chart.x.title = tr("optimizer step");
  chart.y.title = tr("milliseconds");
  Json rows = Json::array();
  const std::vector<double> medians = model_.medians();
  double total = 0;
  for (int part = 0; part < kStepParts; ++part) total += medians[static_cast<std::size_t>(part)];
  for (int part = 0; part < kStepParts; ++part) {
    ChartSeries& series = chart.series.emplace_back();
    series.name = scene::partName(StepPart(part));
    series.run = part + 1;
    series.color = scene::partColor(StepPart(part));
    for (const live::StepTime& each : model_.steps()) {
      series.x.push_back(static_cast<double>(each.step));
      series.y.push_back(kMs * static_cast<double>(partOf(each, StepPart(part))));
    }
    const double seconds = medians[static_cast<std::size_t>(part)];
    // As many digits as the page shows.
    rows.push_back({scene::medianName(StepPart(part)).toStdString(),
                    std::round(1e2 * kMs * seconds) / 1e2,
                    total > 0 ? std::round(1e3 * seconds / total) / 10 : 0.0});
  }
  const std::string table = Json{
      {"columns",
       {tr("part").toStdString(), tr("median, ms").toStdString(), tr("share, %").toStdString()}},
      {"rows", rows}}.dump();
  const auto* first = reinterpret_cast<const std::byte*>(table.data());
  std::vector<std::pair<QString, std::unique_ptr<Figure>>> both;
  both.emplace_back(tr("steps"), makeLineChart(std::move(chart)));
  both.emplace_back(
      tr("medians"),
      makeFigure(QString::fromLatin1(artifact_kind::kTable),
                 {{"version", 1}, {"title", tr("Median of %1 steps")
                                                .arg(count(std::ssize(model_.steps())))
                                                .toStdString()}},
                 {first, first + table.size()}, FigureStyle{}));
  return std::make_unique<SideBySide>(std::move(both), 2, FigureStyle{});
}

}  // namespace vitrine::ui
