// Heads and the probe image.
#include <imgui.h>

#include <QImage>
#include <algorithm>
#include <cmath>
#include <numeric>

#include "ui/kit/value_text.h"
#include "ui/live/live_scene.h"
#include "ui/live/scene_parts.h"

namespace vitrine::ui {

using namespace scene;

namespace {

constexpr int kHistory = 6;     // pictures of the query's past
constexpr int kMostHeads = 16;  // columns of the overview
constexpr float kOutline = 3;   // pixels around the chosen map

QRgb maskedColor() { return QColor(0x6A, 0x70, 0x78).rgb(); }

/// The cell that asks, outlined; the marks stay visible on every colour.
void markCell(ImVec2 at, double width, double height, const AttentionCells& cells, int cell,
              const QColor& color) {
  if (cell < 0) return;
  const double w = width / cells.columns, h = height / cells.rows;
  const ImVec2 first{at.x + f((cell % cells.columns) * w), at.y + f((cell / cells.columns) * h)},
      last{first.x + f(w), first.y + f(h)};
  ImDrawList& list = *ImGui::GetWindowDrawList();
  list.AddRect({first.x - 1, first.y - 1}, {last.x + 1, last.y + 1}, IM_COL32(0, 0, 0, 160), 0, 0,
               1);
  list.AddRect(first, last, ink(color), 0, 0, 1.5F);
}

/// Where in the image the pointer is, in shares of its sides.
LiveQuery patchAt(ImVec2 at, double width, double height, const std::array<double, 4>& area) {
  const ImVec2 mouse = ImGui::GetIO().MousePos;
  const double y = std::clamp((static_cast<double>(mouse.y) - static_cast<double>(at.y)) / height,
                              0.0, 0.999),
               x = std::clamp((static_cast<double>(mouse.x) - static_cast<double>(at.x)) / width,
                              0.0, 0.999);
  return {LiveQuery::Kind::Patch, area[0] + y * area[2], area[1] + x * area[3]};
}

}  // namespace

void LiveScene::drawHeads(const QRectF& place) {
  const LiveModel::FramePointer frame = model_.shown();
  const bool isOld = model_.scrubbed() || model_.isFrozen();
  const QString info = frame->attention.empty()
                           ? tr("step %1").arg(count(frame->step))
                           : tr("step %1%2 \u00B7 attention after the mask")
                                 .arg(count(frame->step), isOld ? tr(", kept") : QString());
  const bool isOpen = begin(tr("Heads"), "heads", info, place);
  if (!isOpen) return end();
  if (frame->attention.empty()) {
    showSentence(frame->error.empty() ? noAttention() : QString::fromStdString(frame->error),
                 themeColors().muted);
    return end();
  }
  bool sameScale = model_.isSameScale;
  if (ImGui::Checkbox(tr("Same scale").toUtf8().constData(), &sameScale)) {
    model_.isSameScale = sameScale;
    chose();
  }
  ImGui::SameLine();
  {
    // The legend: range of the colours, and what grey means.
    const Small small(*canvas_);
    ImDrawList& list = *ImGui::GetWindowDrawList();
    const float bar = f(px(90)), high = f(px(10));
    ImVec2 at = ImGui::GetCursorScreenPos();
    at.y += f(px(5));
    const QString low = shared_.isSigned() ? number(shared_.low, 2) : QStringLiteral("0"),
                  top = model_.isSameScale ? number(shared_.high, shared_.high < 0.1 ? 3 : 2)
                                           : tr("largest");
    at.x += f(px(12));
    at.x += textAt({at.x, at.y - 2}, low, themeColors().muted).x + f(px(6));
    for (int i = 0; i < 45; ++i) {
      const double t = (i + 0.5) / 45;
      const LiveRange unit{shared_.isSigned() ? -1.0 : 0.0, 1.0};
      const QRgb color = liveColor(shared_.isSigned() ? 2 * t - 1 : t, unit);
      list.AddRectFilled({at.x + bar * f(i) / 45, at.y}, {at.x + bar * f(i + 1) / 45, at.y + high},
                         ink(QColor::fromRgb(color)));
    }
    at.x += bar + f(px(6));
    at.x += textAt({at.x, at.y - 2}, top, themeColors().muted).x + f(px(16));
    list.AddRectFilled(at, {at.x + high, at.y + high}, ink(QColor::fromRgb(maskedColor())));
    textAt({at.x + high + f(px(5)), at.y - 2}, tr("masked"), themeColors().muted);
    ImGui::NewLine();
  }
  const auto layers = static_cast<int>(frame->attention.size());
  int heads = 1;
  for (const live::AttentionLayer& layer : frame->attention)
    heads = std::max(heads, static_cast<int>(layer.heads));
  drawOverview(layers, heads);
  end();
}

void LiveScene::drawOverview(int layers, int heads) {
  const LiveModel::FramePointer frame = model_.shown();
  const int columns = std::min(heads, kMostHeads) + (heads > 1 ? 1 : 0);
  const Small small(*canvas_);
  const double left = static_cast<double>(sizeOf(layerName(layers)).x) + px(8), head = px(16);
  const ImVec2 room = ImGui::GetContentRegionAvail();
  const double cell = std::max(
      8.0, std::floor(std::min((static_cast<double>(room.x) - left) / columns,
                               (static_cast<double>(room.y) - head) / std::min(layers, 8))));
  // Titles of the columns; the chosen head in plain ink.
  ImVec2 at = ImGui::GetCursorScreenPos();
  for (int i = 0; i < columns; ++i) {
    const bool isMean = heads > 1 && i == columns - 1;
    const QString title = isMean ? tr("mean") : cell < px(44) ? QString::number(i) : headName(i);
    const ImVec2 size = sizeOf(title);
    textAt({at.x + f(left + cell * (i + 0.5)) - size.x / 2, at.y}, title,
           i == model_.head ? themeColors().text : themeColors().muted);
  }
  ImGui::Dummy({1, f(head)});
  const ImVec2 below = ImGui::GetCursorScreenPos();
  const double used = left + cell * columns + px(10);
  // The outline of a chosen map in the first row begins above it.
  ImGui::SetCursorScreenPos({below.x, below.y - kOutline});
  ImGui::BeginChild("layers", {f(used), 0}, false, layers > 8 ? 0 : ImGuiWindowFlags_NoScrollbar);
  const ImVec2 first = ImGui::GetCursorScreenPos();
  ImGui::SetCursorScreenPos({first.x, first.y + kOutline});
  for (const live::AttentionLayer& layer : frame->attention) drawHeadRow(layer, cell, left);
  ImGui::EndChild();
  // The chosen head large, where there is room next to the others.
  const double side = std::min(static_cast<double>(room.x) - used - px(8),
                               static_cast<double>(room.y) - head - px(4));
  if (side >= px(110))
    drawLargeHead(
        QPointF(static_cast<double>(below.x) + used + px(8), static_cast<double>(below.y)), side);
}

void LiveScene::drawLargeHead(const QPointF& corner, double side) {
  const live::AttentionLayer* layer = model_.layerShown();
  if (layer == nullptr) return;
  const int head = std::min(model_.head, static_cast<int>(layer->heads) - 1);
  const AttentionCells cells = attentionCells(*layer, head, model_.query);
  if (cells.isEmpty()) return;
  LiveRange range = shared_;
  if (!model_.isSameScale) {
    range = {};
    range.add(cells.values);
  }
  const double aspect = static_cast<double>(cells.columns) / cells.rows;
  const double w = aspect >= 1 ? side : side * aspect, h = aspect >= 1 ? side / aspect : side;
  const ImVec2 at{f(std::round(corner.x())), f(std::round(corner.y()))};
  const QString title = headName(layer->layer, head);
  textAt({at.x, at.y - f(px(16))}, title, themeColors().text);
  ImGui::SetCursorScreenPos(at);
  const bool isClicked = ImGui::InvisibleButton("large", {f(w), f(std::max(h, 4.0))});
  const std::uint64_t texture = canvas_->textures().put(
      QStringLiteral("large_head"),
      cellsImage(cells.values, cells.rows, cells.columns, range, maskedColor()));
  ImGui::GetWindowDrawList()->AddImage(textureOf(texture), at, {at.x + f(w), at.y + f(h)});
  markCell(at, w, h, cells, cells.asking, Qt::white);
  if (isClicked) {
    model_.query = patchAt(at, w, h, cells.area);
    chose();
  }
}

void LiveScene::drawHeadRow(const live::AttentionLayer& layer, double cell, double left) {
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const ImVec2 row = ImGui::GetCursorScreenPos();
  const bool isChosenLayer = layer.layer == model_.layer;
  const double gap = std::max(2.0, px(4) * 1.0), side = cell - gap;
  const int heads = std::min(static_cast<int>(layer.heads), kMostHeads);
  const ImVec2 title = sizeOf(layerName(layer.layer));
  textAt({row.x, row.y + f(side) / 2 - title.y / 2}, layerName(layer.layer),
         isChosenLayer ? themeColors().text : themeColors().muted);
  for (int i = 0; i < heads + (heads > 1 ? 1 : 0); ++i) {
    const bool isMean = i == heads;
    const AttentionCells cells =
        isMean ? meanOverHeads(layer, model_.query) : attentionCells(layer, i, model_.query);
    if (cells.isEmpty()) continue;
    LiveRange range = shared_;
    if (!model_.isSameScale) {
      range = {};
      range.add(cells.values);
    }
    const QImage image = cellsImage(cells.values, cells.rows, cells.columns, range, maskedColor());
    const std::uint64_t texture = canvas_->textures().put(
        QStringLiteral("head %1 %2").arg(layer.layer).arg(isMean ? -1 : i), image);
    // Cells keep the shape of the grid.
    const double aspect = static_cast<double>(cells.columns) / cells.rows;
    const double w = aspect >= 1 ? side : side * aspect, h = aspect >= 1 ? side / aspect : side;
    const ImVec2 at{std::round(row.x + f(left + cell * i)), std::round(row.y)};
    ImGui::SetCursorScreenPos(at);
    ImGui::PushID(layer.layer * 1024 + i);
    const bool isClicked = ImGui::InvisibleButton("map", {f(w), f(std::max(h, 4.0))});
    ImGui::PopID();
    list.AddImage(textureOf(texture), at, {at.x + f(w), at.y + f(h)});
    markCell(at, w, h, cells, cells.asking, Qt::white);
    if (isChosenLayer && !isMean && i == model_.head)
      list.AddRect({at.x - 2, at.y - 2}, {at.x + f(w) + 2, at.y + f(h) + 2},
                   ink(themeColors().accent), 2, 0, 2);
    if (isClicked) {
      // A click chooses the head, and on it the patch that asks.
      model_.layer = layer.layer;
      if (!isMean) model_.head = i;
      model_.query = patchAt(at, w, h, cells.area);
      chose();
    }
    if (ImGui::IsItemHovered()) {
      ImGui::BeginTooltip();
      showText(tr("%1, %2: row sum %3")
                   .arg(layerName(layer.layer), isMean ? tr("mean of all heads") : headName(i),
                        number(cells.rowSum, 2)),
               themeColors().text);
      showText(tr("Click to use this patch as the query of every head"), themeColors().muted);
      ImGui::EndTooltip();
    }
  }
  ImGui::SetCursorScreenPos({row.x, row.y + f(cell)});
}

double LiveScene::factsWidth(const AttentionCells& cells) const {
  const Small small(*canvas_);
  const double name = static_cast<double>(sizeOf(patchName(cells.rows - 1, cells.columns - 1)).x),
               value = static_cast<double>(sizeOf(QStringLiteral("\u22120.000")).x);
  return std::ceil(px(10) + name + px(12) + value);
}

void LiveScene::drawProbe(const QRectF& place) {
  const LiveModel::FramePointer frame = model_.shown();
  const bool isImage = !frame->pixels.bytes.empty();
  QString info;
  if (frame->images > 0)
    info = (isImage ? tr("image %1 of %2") : tr("sample %1 of %2"))
               .arg(frame->image + 1)
               .arg(frame->images);
  if (const QString name = model_.classOf(*frame); !name.isEmpty())
    info += QStringLiteral(" \u00B7 ") + name;
  const bool isOpen =
      begin(isImage ? tr("Probe image") : tr("Probe sample"), "probe", info, place);
  const live::AttentionLayer* layer = model_.layerShown();
  if (!isOpen || layer == nullptr) {
    if (isOpen) showSentence(noAttention(), themeColors().muted);
    return end();
  }
  const int head = std::min(model_.head, static_cast<int>(layer->heads) - 1);
  const AttentionCells cells = attentionCells(*layer, head, model_.query);
  const ImVec2 room = ImGui::GetContentRegionAvail();
  const double controls = px(96), facts = factsWidth(cells);
  const double side = std::max(
      40.0, std::min(static_cast<double>(room.y) - controls, static_cast<double>(room.x) - facts));
  const double tall =
      std::max(side, std::min<double>(static_cast<double>(room.y) - controls, px(176)));
  const ImVec2 top = ImGui::GetCursorPos();
  drawProbeImage(cells, side);
  ImGui::SetCursorPos({top.x + f(side + px(10)), top.y});
  ImGui::BeginChild("facts", {0, f(tall)}, false, ImGuiWindowFlags_NoScrollbar);
  drawProbeFacts(cells, *layer);
  ImGui::EndChild();
  ImGui::SetCursorPos({top.x, top.y + f(tall + px(6))});
  int kind = static_cast<int>(model_.queryKind());
  const auto choice = [&](const QString& word, LiveQuery::Kind which) {
    if (ImGui::RadioButton(word.toUtf8().constData(), &kind, static_cast<int>(which))) {
      model_.query.kind = which;
      chose();
    }
    ImGui::SameLine();
  };
  choice(tr("Patch"), LiveQuery::Kind::Patch);
  if (hasClassToken(*layer)) choice(tr("Class token"), LiveQuery::Kind::Class);
  choice(tr("Mean"), LiveQuery::Kind::Mean);
  const float word = sizeOf(tr("overlay")).x + f(px(6));
  if (ImGui::GetContentRegionAvail().x < word + f(px(48))) ImGui::NewLine();
  ImGui::SetNextItemWidth(std::max(30.0F, ImGui::GetContentRegionAvail().x - word));
  float overlay = f(model_.overlay);
  if (ImGui::SliderFloat("###overlay", &overlay, 0, 1, "%.2f"))
    model_.overlay = static_cast<double>(overlay);
  ImGui::SameLine(0, f(px(6)));
  showText(tr("overlay"), themeColors().muted);
  drawHistory();
  end();
}

void LiveScene::drawProbeImage(const AttentionCells& cells, double side) {
  const LiveModel::FramePointer frame = model_.shown();
  const live::Pixels& pixels = frame->pixels;
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  double w = side, h = side;
  if (pixels.width > 0 && pixels.height > 0) {
    w = pixels.width >= pixels.height ? side : side * pixels.width / pixels.height;
    h = pixels.width >= pixels.height ? side * pixels.height / pixels.width : side;
  }
  list.AddRectFilled(at, {at.x + f(side), at.y + f(side)}, ink(themeColors().background));
  const bool isClicked = ImGui::InvisibleButton("probe", {f(w), f(h)});
  if (!pixels.bytes.empty()) {
    const QImage image(pixels.bytes.data(), pixels.width, pixels.height,
                       pixels.width * pixels.channels,
                       pixels.channels == 3 ? QImage::Format_RGB888 : QImage::Format_Grayscale8);
    const std::uint64_t texture = canvas_->textures().put(QStringLiteral("probe"), image);
    list.AddImage(textureOf(texture), at, {at.x + f(w), at.y + f(h)});
  }
  if (cells.isEmpty()) return;
  LiveRange range;
  range.add(cells.values);
  // The overlay is stronger where more is read; masked cells are covered in grey.
  QImage overlay = cellsImage(cells.values, cells.rows, cells.columns, range, maskedColor());
  for (int y = 0; y < overlay.height(); ++y) {
    for (int x = 0; x < overlay.width(); ++x) {
      const float value = cells.values[static_cast<std::size_t>(y * cells.columns + x)];
      QColor color = overlay.pixelColor(x, y);
      const double share = range.high > 0 ? std::abs(static_cast<double>(value)) / range.high : 0;
      color.setAlphaF(
          std::isnan(value)
              ? 0
              : static_cast<float>(model_.overlay * (value == 0 ? 0.75 : 0.15 + 0.85 * share)));
      overlay.setPixelColor(x, y, color);
    }
  }
  const ImVec2 first{at.x + f(cells.area[1] * w), at.y + f(cells.area[0] * h)},
      last{first.x + f(cells.area[3] * w), first.y + f(cells.area[2] * h)};
  list.AddImage(textureOf(canvas_->textures().put(QStringLiteral("overlay"), overlay)), first,
                last);
  markCell(first, static_cast<double>(last.x - first.x), static_cast<double>(last.y - first.y),
           cells, cells.asking, Qt::white);
  if (isClicked) {
    model_.query = patchAt(at, w, h, {0, 0, 1, 1});
    chose();
  }
}

void LiveScene::drawProbeFacts(const AttentionCells& cells, const live::AttentionLayer& layer) {
  const Small small(*canvas_);
  const QColor muted = themeColors().muted, text = themeColors().text;
  showText(headName(layer.layer, std::min(model_.head, layer.heads - 1)), muted);
  if (model_.query.kind == LiveQuery::Kind::Mean) {
    showText(tr("mean query"), text);
  } else if (cells.asking >= 0) {
    showText(patchName(cells.asking / cells.columns, cells.asking % cells.columns), text);
  } else {
    showText(model_.queryKind() == LiveQuery::Kind::Class ? tr("class token") : tr("this patch"),
             text);
  }
  const auto pair = [&](const QString& name, const QString& value) {
    showText(name, muted);
    ImGui::SameLine(std::max(0.0F, ImGui::GetContentRegionAvail().x - sizeOf(value).x));
    showText(value, text);
  };
  ImGui::Dummy({1, f(px(2))});
  showText(tr("looks at"), muted);
  std::vector<int> order(cells.values.size());
  std::iota(order.begin(), order.end(), 0);
  std::erase_if(order,
                [&](int i) { return !(std::abs(cells.values[static_cast<std::size_t>(i)]) > 0); });
  const auto most = std::min<std::ptrdiff_t>(4, std::ssize(order));
  std::partial_sort(order.begin(), order.begin() + most, order.end(), [&](int a, int b) {
    return std::abs(cells.values[static_cast<std::size_t>(a)]) >
           std::abs(cells.values[static_cast<std::size_t>(b)]);
  });
  for (std::ptrdiff_t i = 0; i < most; ++i) {
    const int cell = order[static_cast<std::size_t>(i)];
    pair(patchName(cell / cells.columns, cell % cells.columns),
         number(static_cast<double>(cells.values[static_cast<std::size_t>(cell)]), 3));
  }
  if (cells.classValue >= 0)
    pair(tr("class token"), number(static_cast<double>(cells.classValue), 3));
  ImGui::Dummy({1, f(px(2))});
  pair(tr("row sum"), number(cells.rowSum, 2));
  if (cells.meanDistance >= 0)
    pair(tr("distance"), tr("%1 patches").arg(number(cells.meanDistance, 1)));
}

void LiveScene::drawHistory() {
  const std::vector<LiveModel::FramePointer> frames = model_.history(kHistory);
  if (frames.size() < 2) return;
  const ImVec2 room = ImGui::GetContentRegionAvail();
  const Small small(*canvas_);
  const double high = static_cast<double>(room.y) - px(18);
  const double side = std::floor(std::min(high, static_cast<double>(room.x) / kHistory - px(6)));
  if (side < px(16)) return;
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const ImVec2 row = ImGui::GetCursorScreenPos();
  // One range for the whole row: what grows is seen to grow.
  LiveRange range;
  std::vector<AttentionCells> all;
  for (const LiveModel::FramePointer& frame : frames) {
    AttentionCells cells;
    for (const live::AttentionLayer& layer : frame->attention) {
      if (layer.layer == model_.layer)
        cells = attentionCells(layer, std::min(model_.head, layer.heads - 1), model_.query);
    }
    range.add(cells.values);
    all.push_back(std::move(cells));
  }
  const LiveModel::FramePointer shown = model_.shown();
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i].isEmpty()) continue;
    const bool isNow = frames[i] == shown;
    const ImVec2 at{std::round(row.x + f((side + px(6)) * static_cast<double>(i))), row.y};
    ImGui::SetCursorScreenPos(at);
    ImGui::PushID(static_cast<int>(i));
    const bool isClicked = ImGui::InvisibleButton("past", {f(side), f(side)});
    ImGui::PopID();
    list.AddImage(
        textureOf(canvas_->textures().put(
            QStringLiteral("past %1").arg(i),
            cellsImage(all[i].values, all[i].rows, all[i].columns, range, maskedColor()))),
        at, {at.x + f(side), at.y + f(side)});
    markCell(at, side, side, all[i], all[i].asking, Qt::white);
    if (isNow)
      list.AddRect({at.x - 1, at.y - 1}, {at.x + f(side) + 1, at.y + f(side) + 1},
                   ink(themeColors().accent), 0, 0, 2);
    const bool isLive = i + 1 == all.size() && !model_.isFrozen() && !model_.scrubbed();
    const QString word = isLive ? tr("live") : count(frames[i]->step);
    textAt({at.x + f(side) / 2 - sizeOf(word).x / 2, at.y + f(side) + f(px(3))}, word,
           isNow ? themeColors().accent : themeColors().muted);
    if (isClicked) {
      model_.scrub(static_cast<double>(frames[i]->step));
      chose();
    }
  }
  ImGui::SetCursorScreenPos({row.x, row.y + f(high + px(18))});
}

}  // namespace vitrine::ui
