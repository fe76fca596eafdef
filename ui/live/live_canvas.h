// Dear ImGui with the window's fonts and colours, fed by Qt's events. The drawing comes out as
// lists of triangles, for OpenGL or for the processor.
#pragma once

#include <QEvent>
#include <QImage>
#include <QSize>
#include <QString>
#include <cstdint>
#include <functional>
#include <map>

struct ImDrawData;
struct ImFont;
struct ImGuiContext;

namespace vitrine::ui {

/// Pictures that are drawn, by name. A painter makes textures of them.
class LiveTextures {
 public:
  struct Picture {
    QImage image;  ///< RGBA8888
    std::uint64_t version = 0;
    std::uint64_t texture = 0;  ///< the painter's own number; 0: it has none yet
    std::uint64_t made = 0;     ///< version that the texture has
  };
  /// Keeps the image under that name. \returns  what a draw command names it by
  std::uint64_t put(const QString& name, const QImage& image);
  /// nullptr: there is none of that number.
  [[nodiscard]] Picture* find(std::uint64_t number);
  [[nodiscard]] std::map<std::uint64_t, Picture>& all() { return pictures_; }

 private:
  std::map<QString, std::uint64_t> numbers_;
  std::map<std::uint64_t, Picture> pictures_;
};

class LiveCanvas {
 public:
  /// Draws with ImGui's calls; the context is current.
  using Draw = std::function<void(LiveCanvas& canvas)>;

  explicit LiveCanvas(Draw draw);
  ~LiveCanvas();
  LiveCanvas(const LiveCanvas&) = delete;
  LiveCanvas& operator=(const LiveCanvas&) = delete;

  /// \param size  logical pixels  \param scale  device pixels per logical one
  /// \returns  good until the next call
  ImDrawData* frame(QSize size, double scale);
  /// The same, drawn by the processor.
  [[nodiscard]] QImage image(QSize size, double scale);
  /// Mouse, wheel and key events. \returns  whether it was one
  bool take(QEvent* event);
  /// Colours or font sizes are others from now on.
  void restyle() { styledScale_ = 0; }

  void makeCurrent() const;

  [[nodiscard]] LiveTextures& textures() { return textures_; }
  [[nodiscard]] QSize size() const { return size_; }
  [[nodiscard]] ImFont* smallFont() const { return small_; }
  [[nodiscard]] ImFont* bodyFont() const { return body_; }
  /// Whether windows are to be put to their places: the first time, in another size, or asked for.
  [[nodiscard]] bool isArranging() const { return isArranging_; }
  void arrange() { wantsArranging_ = true; }

 private:
  void makeFonts(double scale);
  void applyColors();
  Draw draw_;
  ImGuiContext* context_;
  ImFont *body_ = nullptr, *small_ = nullptr;
  LiveTextures textures_;
  std::uint64_t letters_ = 0;  ///< the picture of the letters, in textures_
  QSize size_;
  double styledScale_ = 0;
  bool isArranging_ = false, wantsArranging_ = true;
  std::int64_t lastFrame_ = 0;
};

/// Draws lists of triangles by the processor. \param base  the background
[[nodiscard]] QImage rasterised(const ImDrawData& data, LiveTextures& textures, const QImage& base);

}  // namespace vitrine::ui
