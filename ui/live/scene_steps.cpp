// Step time: a flame of the median step, a strip of the last steps, and a table with the price of
// watching.
#include <imgui.h>

#include <algorithm>

#include "ui/live/live_scene.h"
#include "ui/live/scene_parts.h"

namespace vitrine::ui {

using namespace scene;

void LiveScene::drawSteps(const QRectF& place) {
  const bool isHost = model_.newest().isHostTime;
  const QString about = isHost ? tr("time of each part on the CPU") : tr("time of each part");
  const bool isOpen = begin(tr("Step time"), "steps", about, place);
  if (!isOpen) return end();
  if (model_.steps().empty()) {
    showText(tr("The next frame contains the step times."), themeColors().muted);
    return end();
  }
  const std::vector<double> medians = model_.medians();
  const QString line = tr("%1 per step \u00B7 %2, medians of %3 steps")
                           .arg(duration(medians.back()), throughputText(model_),
                                count(std::ssize(model_.steps())));
  showText(line, themeColors().text);
  drawFlame(medians);
  const double table =
      (kStepParts + 0.3) * static_cast<double>(ImGui::GetTextLineHeightWithSpacing());
  const double left = static_cast<double>(ImGui::GetContentRegionAvail().y) - table;
  if (left > px(30)) drawStrip(left);
  drawPartTable(medians);
  end();
}

void LiveScene::drawFlame(const std::vector<double>& medians) {
  const Small small(*canvas_);
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const double width = static_cast<double>(ImGui::GetContentRegionAvail().x), row = px(18);
  double total = 0;
  for (int part = 0; part < kStepParts; ++part) total += medians[static_cast<std::size_t>(part)];
  if (total <= 0) return;
  list.AddRectFilled(at, {at.x + f(width), at.y + f(row) - 1}, ink(themeColors().raised));
  list.PushClipRect(at, {at.x + f(width), at.y + f(row)}, true);
  textAt({at.x + f(px(6)), at.y + f(px(2))}, tr("median step"), themeColors().text);
  list.PopClipRect();
  double x = 0;
  for (int part = 0; part < kStepParts; ++part) {
    const double share = medians[static_cast<std::size_t>(part)] / total;
    const ImVec2 first{at.x + f(x), at.y + f(row)},
        last{at.x + f(x + share * width), at.y + f(2 * row) - 1};
    if (share > 0) {
      list.AddRectFilled(first, {std::max(last.x - 1, first.x + 1), last.y},
                         ink(partColor(StepPart(part))));
      const QString name =
          part == static_cast<int>(StepPart::Watch) ? tr("watching") : partName(StepPart(part));
      if (sizeOf(name).x + f(px(10)) < last.x - first.x)
        textAt({first.x + f(px(5)), first.y + f(px(2))}, name, Qt::white);
    }
    ImGui::SetCursorScreenPos(first);
    ImGui::PushID(part);
    ImGui::InvisibleButton("part", {std::max(1.0F, last.x - first.x), f(row)});
    ImGui::PopID();
    if (ImGui::IsItemHovered()) {
      ImGui::BeginTooltip();
      showText(partName(StepPart(part)), themeColors().text);
      showText(tr("%1 \u00B7 %2 of the step")
                   .arg(duration(medians[static_cast<std::size_t>(part)]), percent(share, 0)),
               themeColors().muted);
      ImGui::EndTooltip();
    }
    x += share * width;
  }
  ImGui::SetCursorScreenPos({at.x, at.y + f(2 * row + px(4))});
}

void LiveScene::drawStrip(double height) {
  const Small small(*canvas_);
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const double width = static_cast<double>(ImGui::GetContentRegionAvail().x), foot = px(16),
               tall = height - foot - px(4);
  list.AddRectFilled(at, {at.x + f(width), at.y + f(tall)}, ink(themeColors().background));
  // An evaluation would flatten all else: the scale ends at a few medians, and what is higher is
  // cut.
  const double high = 2.2 * model_.medians().back();
  const auto steps = static_cast<double>(LiveModel::kMostSteps);
  const double wide = width / steps;
  std::size_t i = LiveModel::kMostSteps - model_.steps().size();
  for (const live::StepTime& each : model_.steps()) {
    double y = 0;
    const float left = at.x + f(wide * static_cast<double>(i)),
                right = at.x + f(wide * static_cast<double>(i + 1));
    for (int part = 0; part < kStepParts; ++part) {
      const double seconds = static_cast<double>(partOf(each, StepPart(part)));
      const double from = std::min(tall, y / high * tall),
                   to = std::min(tall, (y + seconds) / high * tall);
      if (to > from)
        list.AddRectFilled({left, at.y + f(tall - to)},
                           {std::max(right - 0.5F, left + 0.5F), at.y + f(tall - from)},
                           ink(partColor(StepPart(part))));
      y += seconds;
    }
    ++i;
  }
  textAt({at.x, at.y + f(tall + px(2))},
         tr("%1 steps ago").arg(count(static_cast<std::int64_t>(LiveModel::kMostSteps))),
         themeColors().muted);
  const QString now = tr("now");
  textAt({at.x + f(width) - sizeOf(now).x, at.y + f(tall + px(2))}, now, themeColors().muted);
  ImGui::SetCursorScreenPos({at.x, at.y + f(height)});
}

void LiveScene::drawPartTable(const std::vector<double>& medians) {
  const Small small(*canvas_);
  double total = 0;
  for (int part = 0; part < kStepParts; ++part) total += medians[static_cast<std::size_t>(part)];
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const float width = ImGui::GetContentRegionAvail().x,
              high = ImGui::GetTextLineHeightWithSpacing(), square = f(px(9));
  for (int part = 0; part < kStepParts; ++part) {
    const double seconds = medians[static_cast<std::size_t>(part)];
    const ImVec2 at = ImGui::GetCursorScreenPos();
    list.AddRectFilled({at.x, at.y + 3}, {at.x + square, at.y + 3 + square},
                       ink(partColor(StepPart(part))), 2);
    textAt({at.x + square + f(px(7)), at.y}, medianName(StepPart(part)), themeColors().text);
    const QString share = percent(total > 0 ? seconds / total : 0, 1), time = duration(seconds);
    textAt({at.x + width - sizeOf(share).x, at.y}, share, themeColors().muted);
    textAt({at.x + width - f(px(60)) - sizeOf(time).x, at.y}, time, themeColors().text);
    ImGui::Dummy({width, high - ImGui::GetStyle().ItemSpacing.y});
  }
}

}  // namespace vitrine::ui
