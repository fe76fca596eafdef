// The schedule as a scrubber, the matrices at that moment, and images being denoised.
#include <imgui.h>

#include <QImage>
#include <algorithm>
#include <cmath>

#include "ui/figures/painting.h"
#include "ui/kit/value_text.h"
#include "ui/live/live_scene.h"
#include "ui/live/scene_parts.h"

namespace vitrine::ui {

using namespace scene;

namespace {

constexpr int kGridLines = 4;

/// A line through the points, clipped to what was trained.
void drawCurve(const LiveCurve& curve, double low, double high, ImVec2 at, double width,
               double height, double steps, const QColor& color) {
  if (curve.size() < 2 || high <= low) return;
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const std::size_t stride = std::max<std::size_t>(1, curve.size() / 1000);
  list.PathClear();
  for (std::size_t i = 0; i < curve.size(); i += stride) {
    const auto& [step, value] = curve[i];
    if (!std::isfinite(value)) continue;
    list.PathLineTo({at.x + f(width * step / steps),
                     at.y + f(height * (1 - std::clamp((value - low) / (high - low), 0.0, 1.0)))});
  }
  list.PathStroke(ink(color), 0, 1.5F);
}

QImage greys(const std::vector<float>& factors, int rows, int columns) {
  QImage image(columns, rows, QImage::Format_RGBA8888);
  for (int i = 0; i < rows * columns; ++i) {
    const float factor = factors[static_cast<std::size_t>(i)];
    // Seen is light; a key that no query can be told to see is between.
    const int grey =
        std::isnan(factor) ? 60 : static_cast<int>(80 + 160 * std::clamp(factor, 0.0F, 1.0F));
    image.setPixelColor(i % columns, i / columns, QColor(grey, grey, grey));
  }
  return image;
}

}  // namespace

void LiveScene::drawSchedule(const QRectF& place) {
  const bool hasCurve = !model_.scheduleNames().empty();
  const bool isOpen = begin(hasCurve ? tr("Schedule") : tr("Attention matrix"), "schedule",
                            hasCurve ? tr("drag along the schedule") : QString(), place);
  if (!isOpen) return end();
  const double high = static_cast<double>(ImGui::GetContentRegionAvail().y);
  if (hasCurve) drawTrack(std::max(60.0, high * 0.4));
  drawMatrices();
  end();
}

void LiveScene::drawTrack(double height) {
  const Small small(*canvas_);
  const ThemeColors& c = themeColors();
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const ImVec2 corner = ImGui::GetCursorScreenPos();
  const double left = px(30), below = px(16), right = px(8);
  const double width = static_cast<double>(ImGui::GetContentRegionAvail().x) - left - right,
               tall = height - below - px(4);
  const ImVec2 at{corner.x + f(left), corner.y + f(px(4))};
  const double steps = std::max<double>(1, static_cast<double>(model_.totalSteps()));
  const auto trained = static_cast<double>(model_.newest().step);
  // Scale: all schedules between 0 and their largest value.
  double top = 0;
  for (const std::string& name : model_.scheduleNames()) {
    for (const auto& [step, value] : *model_.schedule(name))
      top = std::max(top, std::isfinite(value) ? value : 0);
  }
  if (top <= 0 || (top > 0.5 && top < 1)) top = 1;
  for (int i = 0; i <= kGridLines; i += 2) {
    const double share = static_cast<double>(i) / kGridLines;
    const float y = std::round(at.y + f(tall * (1 - share)));
    list.AddLine({at.x, y}, {at.x + f(width), y}, ink(c.grid));
    const QString value = number(top * share, top < 0.1 ? 3 : 1);
    textAt({at.x - f(px(6)) - sizeOf(value).x, y - sizeOf(value).y / 2}, value, c.muted);
  }
  // Steps that are not trained yet are dark.
  const float edge = at.x + f(width * std::min(1.0, trained / steps));
  list.AddRectFilled({edge, at.y}, {at.x + f(width), at.y + f(tall)}, ink(c.background));
  const QString notYet = tr("not trained yet");
  if (at.x + f(width) - edge > sizeOf(notYet).x + f(px(16)))
    textAt({(edge + at.x + f(width) - sizeOf(notYet).x) / 2, at.y + f(tall) / 2}, notYet, c.muted);
  for (int i = 0; i <= kGridLines; ++i) {
    const double step = steps * i / kGridLines;
    const QString word = count(static_cast<std::int64_t>(step));
    const float x = at.x + f(width * i / kGridLines) -
                    sizeOf(word).x * f(i == 0            ? 0
                                       : i == kGridLines ? 1
                                                         : 0.5);
    textAt({x, at.y + f(tall + px(3))}, word, c.muted);
  }
  // The gap, in a scale of its own, under the schedule.
  double most = 0;
  LiveCurve gap;
  for (const LiveModel::GapPoint& each : model_.gaps()) {
    gap.emplace_back(each.step, each.gap);
    most = std::max(most, each.gap);
  }
  const QColor gapColor = c.accent;
  drawCurve(gap, 0, std::max(most, 1e-9) * 1.15, at, width, tall, steps, gapColor);
  // Names stand at the right, where steps that are not trained yet leave room.
  float legend = at.x + f(width - px(8));
  const auto name = [&](const QString& word, const QColor& color) {
    legend -= sizeOf(word).x;
    textAt({legend, at.y + 1}, word, color);
    legend -= f(px(12));
  };
  if (gap.size() > 1) name(tr("loss change, up to %1").arg(number(most, 3)), gapColor);
  for (const std::string& each : model_.scheduleNames()) {
    drawCurve(*model_.schedule(each), 0, top, at, width, tall, steps, c.text);
    name(shortName(each), c.text);
  }
  // The handle.
  ImGui::SetCursorScreenPos({at.x, corner.y});
  ImGui::InvisibleButton("track", {f(std::max(width, 1.0)), f(height - below)});
  if (ImGui::IsItemActive()) {
    const double share = static_cast<double>(ImGui::GetIO().MousePos.x - at.x) / width;
    model_.scrub(std::clamp(share, 0.0, 1.0) * steps);
    chose();
  }
  const double step = model_.moment();
  const float x = std::round(at.x + f(width * std::min(1.0, step / steps)));
  list.AddLine({x, at.y}, {x, at.y + f(tall)}, ink(c.accent), 2);
  list.AddTriangleFilled({x - 5, at.y - 3}, {x + 5, at.y - 3}, {x, at.y + 5}, ink(c.accent));
  if (!model_.scrubbed() && !model_.isFrozen() && trained < steps) {
    const QString word = tr("live %1").arg(count(static_cast<std::int64_t>(trained)));
    const float wide = sizeOf(word).x;
    textAt({x + f(px(8)) + wide < at.x + f(width) ? x + f(px(6)) : x - wide - f(px(6)),
            at.y + f(tall) - f(px(14))},
           word, c.accent);
  }
  ImGui::SetCursorScreenPos({corner.x, corner.y + f(height)});
}

void LiveScene::drawMatrices() {
  const LiveModel::FramePointer frame = model_.shown();
  const QColor muted = themeColors().muted, text = themeColors().text;
  // The sentence about the moment stands at the foot.
  const auto foot = [&] {
    const double step = model_.moment();
    QString line = tr("step %1").arg(count(static_cast<std::int64_t>(step)));
    for (const std::string& name : model_.scheduleNames()) {
      const auto value = LiveModel::at(*model_.schedule(name), step);
      if (value) line += QStringLiteral("   %1 %2").arg(shortName(name), number(*value, 3));
    }
    if (const auto loss = LiveModel::at(model_.loss(), step))
      line += tr("   loss %1").arg(number(*loss, 3));
    showText(line, text);
    // Frames are kept since the page looks.
    if (const std::int64_t first = model_.kept().front()->step;
        model_.scrubbed() && step < static_cast<double>(first)) {
      ImGui::SameLine();
      showText(tr("maps of step %1, the first that was watched").arg(count(first)), muted);
    }
    if (const auto gap = model_.gapAt(step)) {
      ImGui::SameLine();
      const QString value = signedNumber(*gap), words = tr("Loss change if the schedule ended now");
      const bool fits =
          sizeOf(words).x + sizeOf(value).x + f(px(8)) <= ImGui::GetContentRegionAvail().x;
      showText(fits ? words : tr("loss change"), muted);
      ImGui::SameLine();
      showText(value, themeColors().accent);
    }
  };
  const Small small(*canvas_);
  if (!frame->matrices) {
    showSentence(frame->attention.empty()
                     ? noAttention()
                     : tr("The matrix of this layer is too large to be shown whole."),
                 muted);
    return foot();
  }
  const live::Matrices& m = *frame->matrices;
  const std::vector<float> mask = maskOf(m);
  const bool isMasked = std::any_of(mask.begin(), mask.end(), [](float factor) {
    return !std::isnan(factor) && std::abs(factor - 1) > 0.01F;
  });
  LiveRange range;
  range.add(m.softmax);
  LiveRange after;
  after.add(m.effective);
  const QString where = headName(m.layer, m.head);
  struct Panel {
    QString title, about;
    QImage image;
  };
  std::vector<Panel> panels;
  if (isMasked)
    panels.push_back({tr("Mask S"), tr("light: visible"), greys(mask, m.queries, m.keys)});
  const QRgb none = QColor(0x6A, 0x70, 0x78).rgb();
  panels.push_back(
      {tr("Attention A"), where, cellsImage(m.softmax, m.queries, m.keys, range, none)});
  if (isMasked)
    panels.push_back({tr("A \u2218 S"), tr("attention after the mask"),
                      cellsImage(m.effective, m.queries, m.keys, after, none)});
  const ImVec2 corner = ImGui::GetCursorScreenPos();
  const ImVec2 room = ImGui::GetContentRegionAvail();
  const double gap = px(8), head = px(16), footHeight = px(18);
  const double wide =
      (static_cast<double>(room.x) - gap * (static_cast<double>(panels.size()) - 1)) /
      static_cast<double>(panels.size());
  const double tall = static_cast<double>(room.y) - head - footHeight;
  // Cells are squares: queries down, keys to the right.
  const double cell = std::min(wide / m.keys, tall / m.queries);
  ImDrawList& list = *ImGui::GetWindowDrawList();
  for (std::size_t i = 0; i < panels.size(); ++i) {
    const ImVec2 at{corner.x + f((wide + gap) * static_cast<double>(i)), corner.y};
    const ImVec2 size = textAt(at, panels[i].title, text);
    if (size.x + f(px(8)) + sizeOf(panels[i].about).x <= f(wide))
      textAt({at.x + size.x + f(px(8)), at.y}, panels[i].about, muted);
    if (cell <= 0) continue;
    list.AddImage(
        textureOf(canvas_->textures().put(QStringLiteral("matrix %1").arg(i), panels[i].image)),
        {at.x, at.y + f(head)}, {at.x + f(cell * m.keys), at.y + f(head + cell * m.queries)});
  }
  ImGui::SetCursorScreenPos({corner.x, corner.y + f(head + std::max(tall, 0.0) + px(4))});
  foot();
}

void LiveScene::drawFilm(const QRectF& place) {
  const live::Film& film = *model_.film();
  const bool isOpen =
      begin(tr("Images being denoised"), "film",
            tr("predicted from the same noise \u00B7 weights of step %1").arg(count(film.step)),
            place);
  if (isOpen && !film.times.empty() && film.images > 0) drawFilmStrip(film);
  end();
}

double LiveScene::filmNamesWidth(int images, double room) const {
  constexpr double kMostShare = 0.28;  // of the room
  double widest = 0;
  for (int i = 0; i < images; ++i)
    widest = std::max(widest, static_cast<double>(sizeOf(model_.filmName(i)).x));
  return std::min(widest + px(8), kMostShare * room);
}

void LiveScene::drawFilmName(int image, const ImVec2& at, const ImVec2& size) {
  const QString name = model_.filmName(image);
  const ImVec2 text = sizeOf(name), end{at.x + size.x - f(px(4)), at.y + size.y};
  ImGui::PushClipRect(at, end, true);
  textAt({at.x, at.y + (size.y - text.y) / 2}, name, themeColors().muted);
  ImGui::PopClipRect();
  if (at.x + text.x > end.x && ImGui::IsMouseHoveringRect(at, end))
    ImGui::SetTooltip("%s", name.toUtf8().constData());
}

void LiveScene::drawFilmStrip(const live::Film& film) {
  const Small small(*canvas_);
  ImVec2 corner = ImGui::GetCursorScreenPos();
  const ImVec2 room = ImGui::GetContentRegionAvail();
  const auto columns = static_cast<int>(film.times.size());
  const double gap = px(3), foot = px(15);
  const double names = filmNamesWidth(film.images, static_cast<double>(room.x));
  const double wide = static_cast<double>(room.x) - names - gap * (columns - 1);
  const double side = std::max(
      4.0, std::min(wide / columns, (static_cast<double>(room.y) - foot) / film.images - gap));
  for (int row = 0; row < film.images; ++row)
    drawFilmName(row, {corner.x, corner.y + f((side + gap) * row)}, {f(names), f(side)});
  corner.x += f(names);
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const std::size_t bytes = static_cast<std::size_t>(film.height) *
                            static_cast<std::size_t>(film.width) *
                            static_cast<std::size_t>(film.channels);
  for (int column = 0; column < columns; ++column) {
    for (int row = 0; row < film.images; ++row) {
      const std::size_t first =
          (static_cast<std::size_t>(column) * static_cast<std::size_t>(film.images) +
           static_cast<std::size_t>(row)) *
          bytes;
      const QImage image(film.bytes.data() + first, film.width, film.height,
                         film.width * film.channels,
                         film.channels == 3 ? QImage::Format_RGB888 : QImage::Format_Grayscale8);
      const ImVec2 at{std::round(corner.x + f((side + gap) * column)),
                      std::round(corner.y + f((side + gap) * row))};
      list.AddImage(textureOf(canvas_->textures().put(
                        QStringLiteral("film %1 %2").arg(column).arg(row), image)),
                    at, {at.x + f(side), at.y + f(side)});
    }
    // The network takes even pure noise for an image: nothing of the strip is the noise itself.
    QString time = column == 0 ? tr("first prediction") : tr("image");
    if ((column > 0 && column + 1 < columns) || sizeOf(time).x >= f(side + gap))
      time = shortNumber(static_cast<double>(film.times[static_cast<std::size_t>(column)]));
    const float x = corner.x + f((side + gap) * column + side / 2) - sizeOf(time).x / 2;
    if (sizeOf(time).x < f(side + gap))
      textAt({x, corner.y + f((side + gap) * film.images)}, time, themeColors().muted);
  }
}

}  // namespace vitrine::ui
