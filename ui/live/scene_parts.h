// Small things that every window of the Live page draws. Private to ui/live.
#pragma once

#include <imgui.h>

#include <QColor>
#include <QString>

#include "ui/kit/theme.h"
#include "ui/live/live_canvas.h"
#include "ui/live/live_model.h"
#include "ui/live/part_words.h"

namespace vitrine::ui::scene {

[[nodiscard]] inline ImU32 ink(const QColor& color, double alpha = 1) {
  return IM_COL32(color.red(), color.green(), color.blue(),
                  static_cast<int>(255 * alpha * color.alphaF()));
}
[[nodiscard]] inline float f(double value) { return static_cast<float>(value); }
[[nodiscard]] inline ImTextureID textureOf(std::uint64_t number) {
  return reinterpret_cast<ImTextureID>(static_cast<std::uintptr_t>(number));
}
/// Text at a place, in muted ink where asked for. \returns  its size
ImVec2 textAt(ImVec2 at, const QString& text, const QColor& color);
[[nodiscard]] ImVec2 sizeOf(const QString& text);
/// A line of ImGui's own text.
void showText(const QString& text, const QColor& color);
/// The same, wrapped at the edge of the window.
void showSentence(const QString& text, const QColor& color);

/// Small text while it lives.
class Small {
 public:
  explicit Small(const LiveCanvas& canvas) { ImGui::PushFont(canvas.smallFont()); }
  ~Small() { ImGui::PopFont(); }
  Small(const Small&) = delete;
  Small& operator=(const Small&) = delete;
};

}  // namespace vitrine::ui::scene
