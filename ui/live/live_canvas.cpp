#include "ui/live/live_canvas.h"

#include <imgui.h>

#include <QCursor>
#include <QFontMetricsF>
#include <QMouseEvent>
#include <QPainter>
#include <QWheelEvent>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>
#include <vector>

#include "ui/kit/theme.h"

namespace vitrine::ui {

namespace {

const QString kFontName = QStringLiteral("font_atlas");

/// A letter drawn by Qt into the atlas: the same fonts and hinting as in the rest of the window.
struct Letter {
  int rect = 0;
  char16_t code = 0;
  const QFont* font = nullptr;
};

/// Letters that the page writes, whatever the language: Latin, Greek and a few signs.
std::vector<char16_t> letters() {
  std::vector<char16_t> codes;
  const auto range = [&](char16_t first, char16_t last) {
    for (char16_t code = first; code <= last; ++code) codes.push_back(code);
  };
  range(0x20, 0x7E);
  range(0xA0, 0x17F);
  range(0x391, 0x3C9);
  for (const char16_t code :
       {u'\u2009', u'\u2013', u'\u2014', u'\u2018', u'\u2019', u'\u201C', u'\u201D', u'\u2026',
        u'\u2190', u'\u2192', u'\u2212', u'\u2218', u'\u00B7'})
    codes.push_back(code);
  return codes;
}

QFont scaled(QFont font, double scale) {
  const double size = font.pixelSize() > 0 ? font.pixelSize() : QFontInfo(font).pixelSize();
  font.setPixelSize(std::max(6, static_cast<int>(std::lround(size * scale))));
  return font;
}

ImFont* addFont(ImFontAtlas& atlas, const QFont& font, std::vector<Letter>& drawn) {
  const QFontMetricsF metrics(font);
  ImFontConfig base;
  base.SizePixels = static_cast<float>(std::ceil(metrics.height()));
  ImFont* made = atlas.AddFontDefault(&base);
  for (const char16_t code : letters()) {
    const double advance = metrics.horizontalAdvance(QChar(code));
    const int width = static_cast<int>(std::ceil(advance)) + 2;
    const int rect = atlas.AddCustomRectFontGlyph(made, code, std::max(width, 1),
                                                  static_cast<int>(std::ceil(metrics.height())),
                                                  static_cast<float>(advance), ImVec2(-1, 0));
    drawn.push_back({rect, code, &font});
  }
  return made;
}

ImVec4 rgba(const QColor& color, double alpha = 1) {
  return {static_cast<float>(color.redF()), static_cast<float>(color.greenF()),
          static_cast<float>(color.blueF()), static_cast<float>(alpha)};
}

int mouseButton(Qt::MouseButton button) {
  if (button == Qt::LeftButton) return 0;
  if (button == Qt::RightButton) return 1;
  return button == Qt::MiddleButton ? 2 : -1;
}

std::int64_t clockNow() {
  return std::chrono::duration_cast<std::chrono::microseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

}  // namespace

std::uint64_t LiveTextures::put(const QString& name, const QImage& image) {
  std::uint64_t& number = numbers_[name];
  if (number == 0) number = numbers_.size();
  Picture& picture = pictures_[number];
  const QImage plain = image.convertToFormat(QImage::Format_RGBA8888);
  if (picture.version != 0 && picture.image == plain) return number;
  picture.image = plain;
  ++picture.version;
  return number;
}

LiveTextures::Picture* LiveTextures::find(std::uint64_t number) {
  const auto found = pictures_.find(number);
  return found == pictures_.end() ? nullptr : &found->second;
}

LiveCanvas::LiveCanvas(Draw draw) : draw_(std::move(draw)), context_(ImGui::CreateContext()) {
  ImGui::SetCurrentContext(context_);
  ImGuiIO& io = ImGui::GetIO();
  io.IniFilename = nullptr;  // places of windows are the page's, in no file of the working folder
  io.LogFilename = nullptr;
  io.ConfigWindowsMoveFromTitleBarOnly = true;
  io.BackendFlags |= ImGuiBackendFlags_RendererHasVtxOffset;
  io.Fonts->Flags |= ImFontAtlasFlags_NoBakedLines | ImFontAtlasFlags_NoMouseCursors;
}

void LiveCanvas::makeCurrent() const { ImGui::SetCurrentContext(context_); }

LiveCanvas::~LiveCanvas() { ImGui::DestroyContext(context_); }

void LiveCanvas::makeFonts(double scale) {
  ImGuiIO& io = ImGui::GetIO();
  ImFontAtlas& atlas = *io.Fonts;
  atlas.Clear();
  const QFont body = scaled(ui::smallFont(), scale), small = scaled(axisFont(), scale);
  std::vector<Letter> drawn;
  body_ = addFont(atlas, body, drawn);
  small_ = addFont(atlas, small, drawn);
  io.FontDefault = body_;
  io.FontGlobalScale = static_cast<float>(1 / scale);
  unsigned char* pixels = nullptr;
  int width = 0, height = 0;
  atlas.GetTexDataAsRGBA32(&pixels, &width, &height);
  QImage image(pixels, width, height, width * 4, QImage::Format_RGBA8888);
  for (const Letter& letter : drawn) {
    const ImFontAtlasCustomRect* rect = atlas.GetCustomRectByIndex(letter.rect);
    QImage one(rect->Width, rect->Height, QImage::Format_ARGB32_Premultiplied);
    one.fill(Qt::transparent);
    QPainter painter(&one);
    painter.setFont(*letter.font);
    painter.setPen(Qt::white);
    painter.drawText(QPointF(1, QFontMetricsF(*letter.font).ascent()), QString(QChar(letter.code)));
    painter.end();
    for (int y = 0; y < one.height(); ++y) {
      for (int x = 0; x < one.width(); ++x)
        image.setPixelColor(rect->X + x, rect->Y + y,
                            QColor(255, 255, 255, qAlpha(one.pixel(x, y))));
    }
  }
  letters_ = textures_.put(kFontName, image.copy());
}

void LiveCanvas::applyColors() {
  ImGuiStyle& style = ImGui::GetStyle();
  style = ImGuiStyle();
  const ThemeColors& c = themeColors();
  ImGui::StyleColorsDark(&style);
  style.WindowRounding = style.ChildRounding = style.PopupRounding = static_cast<float>(px(4));
  style.FrameRounding = style.GrabRounding = static_cast<float>(px(4));
  style.WindowBorderSize = style.FrameBorderSize = 1;
  style.WindowPadding = {static_cast<float>(px(8)), static_cast<float>(px(8))};
  style.FramePadding = {static_cast<float>(px(6)), static_cast<float>(px(3))};
  style.ItemSpacing = {static_cast<float>(px(8)), static_cast<float>(px(4))};
  style.WindowMenuButtonPosition = ImGuiDir_Left;
  const std::pair<ImGuiCol, ImVec4> colors[] = {
      {ImGuiCol_Text, rgba(c.text)},
      {ImGuiCol_TextDisabled, rgba(c.muted)},
      {ImGuiCol_WindowBg, rgba(c.panel)},
      {ImGuiCol_ChildBg, rgba(c.panel, 0)},
      {ImGuiCol_PopupBg, rgba(c.raised)},
      {ImGuiCol_Border, rgba(c.line)},
      {ImGuiCol_BorderShadow, rgba(c.line, 0)},
      {ImGuiCol_FrameBg, rgba(c.background)},
      {ImGuiCol_FrameBgHovered, rgba(c.raised)},
      {ImGuiCol_FrameBgActive, rgba(c.selection)},
      {ImGuiCol_TitleBg, rgba(c.raised)},
      {ImGuiCol_TitleBgActive, rgba(c.raised)},
      {ImGuiCol_TitleBgCollapsed, rgba(c.raised)},
      {ImGuiCol_ScrollbarBg, rgba(c.panel)},
      {ImGuiCol_ScrollbarGrab, rgba(c.line)},
      {ImGuiCol_CheckMark, rgba(c.accent)},
      {ImGuiCol_SliderGrab, rgba(c.accent)},
      {ImGuiCol_SliderGrabActive, rgba(c.accent)},
      {ImGuiCol_Button, rgba(c.raised)},
      {ImGuiCol_ButtonHovered, rgba(c.selection)},
      {ImGuiCol_ButtonActive, rgba(c.selection)},
      {ImGuiCol_Header, rgba(c.selection)},
      {ImGuiCol_HeaderHovered, rgba(c.selection)},
      {ImGuiCol_HeaderActive, rgba(c.selection)},
      {ImGuiCol_ResizeGrip, rgba(c.line)},
      {ImGuiCol_ResizeGripHovered, rgba(c.accent)},
      {ImGuiCol_ResizeGripActive, rgba(c.accent)},
      {ImGuiCol_Separator, rgba(c.line)},
      {ImGuiCol_NavHighlight, rgba(c.accent)},
  };
  for (const auto& [which, color] : colors) style.Colors[which] = color;
}

ImDrawData* LiveCanvas::frame(QSize size, double scale) {
  ImGui::SetCurrentContext(context_);
  ImGuiIO& io = ImGui::GetIO();
  if (styledScale_ != scale) {
    makeFonts(scale);
    applyColors();
    styledScale_ = scale;
    wantsArranging_ = true;
  }
  isArranging_ = wantsArranging_ || size != size_;
  wantsArranging_ = false;
  size_ = size;
  io.DisplaySize = {static_cast<float>(size.width()), static_cast<float>(size.height())};
  io.DisplayFramebufferScale = {static_cast<float>(scale), static_cast<float>(scale)};
  const std::int64_t now = clockNow();
  io.DeltaTime = lastFrame_ == 0
                     ? 1.0F / 60
                     : std::clamp(static_cast<float>(now - lastFrame_) * 1e-6F, 1e-4F, 1.0F);
  lastFrame_ = now;
  // A painter sets a texture of its own, which lacks what Qt drew, and forgets it at its end.
  io.Fonts->SetTexID(reinterpret_cast<ImTextureID>(letters_));
  ImGui::NewFrame();
  draw_(*this);
  ImGui::Render();
  return ImGui::GetDrawData();
}

QImage LiveCanvas::image(QSize size, double scale) {
  // Twice: a window knows how large its content is only after it was drawn once.
  static_cast<void>(frame(size, scale));
  const ImDrawData* data = frame(size, scale);
  QImage base(size * scale, QImage::Format_RGB32);
  base.fill(themeColors().background);
  QImage drawn = rasterised(*data, textures_, base);
  drawn.setDevicePixelRatio(scale);
  return drawn;
}

bool LiveCanvas::take(QEvent* event) {
  ImGui::SetCurrentContext(context_);
  ImGuiIO& io = ImGui::GetIO();
  switch (event->type()) {
    case QEvent::MouseMove:
    case QEvent::MouseButtonPress:
    case QEvent::MouseButtonRelease:
    case QEvent::MouseButtonDblClick: {
      const auto* mouse = static_cast<QMouseEvent*>(event);
      io.MousePos = {static_cast<float>(mouse->position().x()),
                     static_cast<float>(mouse->position().y())};
      const int button = mouseButton(mouse->button());
      if (event->type() == QEvent::MouseMove || button < 0) return true;
      io.MouseDown[button] = event->type() != QEvent::MouseButtonRelease;
      // A press and its release may come before the next painting: each is seen.
      if (styledScale_ > 0) static_cast<void>(frame(size_, styledScale_));
      return true;
    }
    case QEvent::Wheel: {
      const auto* wheel = static_cast<QWheelEvent*>(event);
      io.MouseWheel += static_cast<float>(wheel->angleDelta().y()) / 120;
      io.MouseWheelH += static_cast<float>(wheel->angleDelta().x()) / 120;
      return true;
    }
    case QEvent::Leave:
      io.MousePos = {-1e30F, -1e30F};
      return true;
    default:
      return false;
  }
}

}  // namespace vitrine::ui
