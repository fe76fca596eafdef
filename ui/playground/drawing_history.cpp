#include "ui/playground/drawing_history.h"

#include <QBuffer>
#include <QStringList>
#include <algorithm>
#include <optional>

#include "core/base/read_json.h"
#include "ui/kit/settings.h"
#include "ui/kit/value_text.h"

namespace vitrine::ui {

namespace {

constexpr int kKeptSide = 64;  // pixels of a small picture

QString keptKey(const std::string& database) {
  return QStringLiteral("playground/history/") + QString::fromStdString(database);
}

Json toJson(const std::optional<GridAxis>& axis) {
  if (!axis) return nullptr;
  Json labels = Json::array();
  for (const QString& label : axis->labels) labels.push_back(label.toStdString());
  return {{"key", axis->key},
          {"title", axis->title.toStdString()},
          {"values", axis->values},
          {"labels", std::move(labels)}};
}

std::optional<GridAxis> axisFromJson(const Json& json) {
  const Json &values = stateMember(json, "values"), &labels = stateMember(json, "labels");
  if (!values.is_array() || !labels.is_array() || labels.size() != values.size() ||
      values.size() > SampleGrid::kMostCells)
    return std::nullopt;
  GridAxis axis{stateText(json, "key"), stateWords(json, "title"), {}, {}};
  axis.values.assign(values.begin(), values.end());
  for (const Json& label : labels)
    axis.labels << (label.is_string() ? QString::fromStdString(label.get<std::string>())
                                      : QString());
  return axis;
}

constexpr const char *kFailed = "failed", *kCancelled = "cancelled", *kDone = "done";

const char* endOf(const Drawing& drawing) {
  const bool isKept = drawing.state == Drawing::State::Kept;
  switch (isKept ? drawing.ended : drawing.state) {
    case Drawing::State::Failed:
      return kFailed;
    case Drawing::State::Cancelled:
      return kCancelled;
    default:
      return kDone;
  }
}

Json toJson(const Drawing& drawing) {
  QByteArray png;
  if (const QImage picture = drawing.thumbnail(); !picture.isNull()) {
    const bool isLarge = picture.width() > kKeptSide || picture.height() > kKeptSide;
    QBuffer buffer(&png);
    (isLarge ? picture.scaled(kKeptSide, kKeptSide, Qt::KeepAspectRatio, Qt::SmoothTransformation)
             : picture)
        .save(&buffer, "PNG");
  }
  return {{"at", drawing.at.toString(Qt::ISODate).toStdString()},
          {"run_name", drawing.runName.toStdString()},
          {"class_name", drawing.className.toStdString()},
          {"settings", toJson(drawing.base)},
          {"rows", toJson(drawing.grid.rows)},
          {"columns", toJson(drawing.grid.columns)},
          {"ended", endOf(drawing)},
          {"error", drawing.error.toStdString()},
          {"picture", png.toBase64().toStdString()}};
}

std::shared_ptr<Drawing> drawingFromJson(const Json& json) {
  if (!json.is_object() || !json.contains("settings")) return nullptr;
  auto drawing = std::make_shared<Drawing>();
  drawing->state = Drawing::State::Kept;
  const std::string ended = stateText(json, "ended");
  if (ended == kFailed) drawing->ended = Drawing::State::Failed;
  if (ended == kCancelled) drawing->ended = Drawing::State::Cancelled;
  drawing->error = stateWords(json, "error");
  drawing->at = QDateTime::fromString(QString::fromStdString(stateText(json, "at")), Qt::ISODate);
  drawing->runName = QString::fromStdString(stateText(json, "run_name"));
  drawing->className = QString::fromStdString(stateText(json, "class_name"));
  drawing->base = settingsFromJson(json.at("settings"));
  drawing->grid = {axisFromJson(json.value("rows", Json())),
                   axisFromJson(json.value("columns", Json()))};
  const auto cells = static_cast<std::size_t>(drawing->grid.rowCount()) *
                     static_cast<std::size_t>(drawing->grid.columnCount());
  if (cells == 0 || cells > SampleGrid::kMostCells || drawing->base.model.run == 0) return nullptr;
  for (SampleSettings& cell : cellsOf(drawing->base, drawing->grid))
    drawing->cells.emplace_back().settings = std::move(cell);
  drawing->kept.loadFromData(
      QByteArray::fromBase64(QByteArray::fromStdString(stateText(json, "picture"))), "PNG");
  return drawing;
}

}  // namespace

void keepDrawings(const std::string& database, const std::vector<std::shared_ptr<Drawing>>& all) {
  if (database.empty()) return;
  QStringList lines;
  for (std::size_t i = all.size() - std::min(all.size(), kMostKeptDrawings); i < all.size(); ++i)
    lines << QString::fromStdString(toJson(*all[i]).dump());
  storeSetting(keptKey(database), lines);
}

std::vector<std::shared_ptr<Drawing>> keptDrawings(const std::string& database) {
  std::vector<std::shared_ptr<Drawing>> found;
  for (const QString& line : setting(keptKey(database)).toStringList()) {
    if (auto drawing = drawingFromJson(readJson(line.toStdString()))) {
      drawing->number = static_cast<int>(found.size()) + 1;
      found.push_back(std::move(drawing));
    }
  }
  return found;
}

}  // namespace vitrine::ui
