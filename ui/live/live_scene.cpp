#include "ui/live/live_scene.h"

#include <imgui.h>

#include <cmath>
#include <utility>

#include "core/store/metrics/metric_titles.h"
#include "ui/live/scene_parts.h"

namespace vitrine::ui {

namespace scene {

QColor partColor(StepPart part) {
  switch (part) {
    case StepPart::Data:
      return {0x6B, 0x76, 0x84};
    case StepPart::Forward:
      return {0x35, 0x74, 0xAC};
    case StepPart::Backward:
      return {0x2A, 0x55, 0x80};
    case StepPart::Optimizer:
      return {0x3C, 0x7D, 0x72};
    case StepPart::Observe:
      return {0x8A, 0x74, 0x3E};
    case StepPart::Store:
      return {0x80, 0x63, 0x99};
    case StepPart::Watch:
      return themeColors().accent;
  }
  return {};
}

QString partName(StepPart part) {
  switch (part) {
    case StepPart::Data:
      return QCoreApplication::translate("LiveScene", "data");
    case StepPart::Forward:
      return QCoreApplication::translate("LiveScene", "forward");
    case StepPart::Backward:
      return QCoreApplication::translate("LiveScene", "backward");
    case StepPart::Optimizer:
      return QCoreApplication::translate("LiveScene", "optimizer");
    case StepPart::Observe:
      return QCoreApplication::translate("LiveScene", "evaluation, probes");
    case StepPart::Store:
      return QCoreApplication::translate("LiveScene", "store");
    case StepPart::Watch:
      return QCoreApplication::translate("LiveScene", "watching (the cost of this page)");
  }
  return {};
}

QString medianName(StepPart part) {
  return part == StepPart::Watch
             ? QCoreApplication::translate("LiveScene", "watching, mean (the cost of this page)")
             : partName(part);
}

ImVec2 sizeOf(const QString& text) { return ImGui::CalcTextSize(text.toUtf8().constData()); }

ImVec2 textAt(ImVec2 at, const QString& text, const QColor& color) {
  ImGui::GetWindowDrawList()->AddText({std::round(at.x), std::round(at.y)}, ink(color),
                                      text.toUtf8().constData());
  return sizeOf(text);
}

void showText(const QString& text, const QColor& color) {
  ImGui::PushStyleColor(ImGuiCol_Text, ink(color));
  ImGui::TextUnformatted(text.toUtf8().constData());
  ImGui::PopStyleColor();
}

void showSentence(const QString& text, const QColor& color) {
  ImGui::PushTextWrapPos(0);
  showText(text, color);
  ImGui::PopTextWrapPos();
}

QString duration(double seconds) {
  if (seconds >= 1) return number(seconds, 2) + QStringLiteral("\u2009s");
  return number(seconds * 1e3, seconds < 0.1 ? 2 : 1) + QStringLiteral("\u2009ms");
}

}  // namespace scene

QString scene::throughputText(const LiveModel& model) {
  return QStringLiteral("%1 %2/s").arg(count(std::llround(model.throughput())),
                                       QString::fromStdString(model.unit));
}

QString scene::signedNumber(double value) {
  return (value >= 0 ? QStringLiteral("+") : QStringLiteral("\u2212")) +
         number(std::abs(value), 3);
}

QString scene::shortName(const std::string& name) {
  return QString::fromStdString(store::titleOf(store::metricName(name).quantity).title);
}

QString scene::noAttention() {
  return QObject::tr(
      "This model publishes no attention while it trains. The Attention page says what can be "
      "computed of its checkpoints.");
}

LivePlaces livePlaces(QSize size, bool hasSchedule, bool hasFilm) {
  const double gap = px(6), wide = size.width() - 3 * gap, high = size.height() - 2 * gap;
  const double left = std::round(wide * 0.585), right = wide - left;
  const int lower = (hasSchedule ? 1 : 0) + (hasFilm ? 1 : 0);
  const double top = std::round(lower == 0 ? high : high * (lower == 1 ? 0.53 : 0.4));
  LivePlaces places{.heads = {gap, gap, left, top}};
  double y = gap + top + gap;
  const double each = lower == 0 ? 0 : std::floor((high - top - lower * gap) / lower);
  if (hasSchedule) {
    places.schedule = {gap, y, left, each};
    y += each + gap;
  }
  if (hasFilm) places.film = {gap, y, left, gap + high - y};
  const double probe = std::round(high * 0.53);
  places.probe = {left + 2 * gap, gap, right, probe};
  places.steps = {left + 2 * gap, probe + 2 * gap, right, high - probe - gap};
  return places;
}

bool LiveScene::begin(const QString& title, const char* id, const QString& info,
                      const QRectF& place) {
  if (isArranging_) {
    ImGui::SetNextWindowPos({scene::f(place.x()), scene::f(place.y())});
    ImGui::SetNextWindowSize({scene::f(place.width()), scene::f(place.height())});
    ImGui::SetNextWindowCollapsed(false);
  }
  const QString name = title + QStringLiteral("###") + QLatin1String(id);
  const bool isOpen = ImGui::Begin(
      name.toUtf8().constData(), nullptr,
      ImGuiWindowFlags_NoScrollbar | ImGuiWindowFlags_NoNav | ImGuiWindowFlags_NoScrollWithMouse);
  // What it shows, right in the title; where the two would meet, as a tool tip of the title.
  const ImVec2 at = ImGui::GetWindowPos();
  const float width = ImGui::GetWindowWidth(), bar = ImGui::GetFrameHeight();
  const scene::Small small(*canvas_);
  const ImVec2 size = scene::sizeOf(info);
  if (size.x < width - scene::sizeOf(title).x * 1.2F - scene::f(px(60))) {
    ImGui::PushClipRect(at, {at.x + width, at.y + bar}, false);
    scene::textAt({at.x + width - size.x - scene::f(px(8)), at.y + (bar - size.y) / 2}, info,
                  themeColors().muted);
    ImGui::PopClipRect();
  } else if (ImGui::IsItemHovered()) {  // right after Begin, the item is the title
    ImGui::SetTooltip("%s", info.toUtf8().constData());
  }
  return isOpen;
}

void LiveScene::end() { ImGui::End(); }

void LiveScene::draw(LiveCanvas& canvas) {
  canvas_ = &canvas;
  const LiveModel::FramePointer frame = model_.shown();
  if (!frame) return;
  shared_ = {};
  for (const live::AttentionLayer& layer : frame->attention) {
    for (int head = 0; head < layer.heads; ++head)
      shared_.add(attentionCells(layer, head, model_.query).values);
  }
  const bool hasSchedule = !model_.scheduleNames().empty() || frame->matrices.has_value();
  const std::pair parts{hasSchedule, model_.film().has_value()};
  isArranging_ = canvas.isArranging() || std::exchange(parts_, parts) != parts;
  const LivePlaces places = livePlaces(canvas.size(), parts.first, parts.second);
  drawHeads(places.heads);
  drawProbe(places.probe);
  if (hasSchedule) drawSchedule(places.schedule);
  if (model_.film()) drawFilm(places.film);
  drawSteps(places.steps);
}

}  // namespace vitrine::ui
