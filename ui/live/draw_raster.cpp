// Draw lists on the processor: for pictures, and where there is no OpenGL.
#include <imgui.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "ui/live/live_canvas.h"

namespace vitrine::ui {

namespace {

struct Corner {
  double x = 0, y = 0, u = 0, v = 0;
  std::array<double, 4> color{};  ///< red, green, blue, alpha: 0 to 1
};

Corner cornerOf(const ImDrawVert& vertex, const ImDrawData& data) {
  Corner corner;
  corner.x = static_cast<double>((vertex.pos.x - data.DisplayPos.x) * data.FramebufferScale.x);
  corner.y = static_cast<double>((vertex.pos.y - data.DisplayPos.y) * data.FramebufferScale.y);
  corner.u = static_cast<double>(vertex.uv.x);
  corner.v = static_cast<double>(vertex.uv.y);
  for (std::size_t i = 0; i < 4; ++i)
    corner.color[i] = static_cast<double>((vertex.col >> (8 * i)) & 0xFFU) / 255;
  return corner;
}

/// Twice the area of the triangle a, b, p; positive on the one side of the edge.
double edge(const Corner& a, const Corner& b, double x, double y) {
  return (b.x - a.x) * (y - a.y) - (b.y - a.y) * (x - a.x);
}

/// Of two triangles that share an edge, one draws the pixels on it.
bool isOwnEdge(const Corner& a, const Corner& b) {
  const double dx = b.x - a.x, dy = b.y - a.y;
  return dy < 0 || (dy == 0 && dx > 0);
}

class Triangles {
 public:
  Triangles(QImage& target, const QRect& clip) : target_(target), clip_(clip) {}

  void draw(Corner a, Corner b, Corner c, const QImage* texture) {
    double area = edge(a, b, c.x, c.y);
    if (area == 0 || !std::isfinite(area)) return;
    if (area < 0) {
      std::swap(b, c);
      area = -area;
    }
    const int left =
                  std::max(clip_.left(), static_cast<int>(std::floor(std::min({a.x, b.x, c.x})))),
              right =
                  std::min(clip_.right(), static_cast<int>(std::ceil(std::max({a.x, b.x, c.x})))),
              top = std::max(clip_.top(), static_cast<int>(std::floor(std::min({a.y, b.y, c.y})))),
              bottom =
                  std::min(clip_.bottom(), static_cast<int>(std::ceil(std::max({a.y, b.y, c.y}))));
    const bool ownA = isOwnEdge(b, c), ownB = isOwnEdge(c, a), ownC = isOwnEdge(a, b);
    for (int y = top; y <= bottom; ++y) {
      auto* line = reinterpret_cast<QRgb*>(target_.scanLine(y));
      for (int x = left; x <= right; ++x) {
        const double px = x + 0.5, py = y + 0.5;
        const double wa = edge(b, c, px, py), wb = edge(c, a, px, py), wc = edge(a, b, px, py);
        if (wa < 0 || wb < 0 || wc < 0 || (wa == 0 && !ownA) || (wb == 0 && !ownB) ||
            (wc == 0 && !ownC))
          continue;
        blend(line[x], a, b, c, wa / area, wb / area, wc / area, texture);
      }
    }
  }

 private:
  static void blend(QRgb& pixel, const Corner& a, const Corner& b, const Corner& c, double wa,
                    double wb, double wc, const QImage* texture) {
    std::array<double, 4> color{};
    for (std::size_t i = 0; i < 4; ++i)
      color[i] = wa * a.color[i] + wb * b.color[i] + wc * c.color[i];
    if (texture != nullptr) {
      const double u = wa * a.u + wb * b.u + wc * c.u, v = wa * a.v + wb * b.v + wc * c.v;
      const int x = std::clamp(static_cast<int>(u * texture->width()), 0, texture->width() - 1),
                y = std::clamp(static_cast<int>(v * texture->height()), 0, texture->height() - 1);
      const uchar* texel = texture->constScanLine(y) + 4 * x;
      for (std::size_t i = 0; i < 4; ++i) color[i] *= texel[i] / 255.0;
    }
    const double alpha = std::clamp(color[3], 0.0, 1.0);
    if (alpha <= 0) return;
    const auto mix = [&](double part, int below) {
      return static_cast<int>(std::lround(255 * part * alpha + below * (1 - alpha)));
    };
    pixel =
        qRgb(mix(color[0], qRed(pixel)), mix(color[1], qGreen(pixel)), mix(color[2], qBlue(pixel)));
  }

  QImage& target_;
  QRect clip_;
};

}  // namespace

QImage rasterised(const ImDrawData& data, LiveTextures& textures, const QImage& base) {
  QImage target = base.convertToFormat(QImage::Format_RGB32);
  for (int n = 0; n < data.CmdListsCount; ++n) {
    const ImDrawList& list = *data.CmdLists[n];
    for (const ImDrawCmd& command : list.CmdBuffer) {
      if (command.UserCallback != nullptr) continue;
      const auto clipAt = [&](float value, float origin, float scale) {
        return static_cast<int>(std::lround((value - origin) * scale));
      };
      const QPoint first(clipAt(command.ClipRect.x, data.DisplayPos.x, data.FramebufferScale.x),
                         clipAt(command.ClipRect.y, data.DisplayPos.y, data.FramebufferScale.y)),
          last(clipAt(command.ClipRect.z, data.DisplayPos.x, data.FramebufferScale.x) - 1,
               clipAt(command.ClipRect.w, data.DisplayPos.y, data.FramebufferScale.y) - 1);
      const QRect clip = QRect(first, last) & target.rect();
      if (clip.isEmpty()) continue;
      const auto* picture = textures.find(
          static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(command.GetTexID())));
      Triangles triangles(target, clip);
      for (unsigned i = 0; i + 2 < command.ElemCount; i += 3) {
        std::array<Corner, 3> corners;
        for (unsigned j = 0; j < 3; ++j) {
          const ImDrawIdx index = list.IdxBuffer[static_cast<int>(command.IdxOffset + i + j)];
          corners[j] = cornerOf(list.VtxBuffer[static_cast<int>(command.VtxOffset + index)], data);
        }
        triangles.draw(corners[0], corners[1], corners[2],
                       picture == nullptr ? nullptr : &picture->image);
      }
    }
  }
  return target;
}

}  // namespace vitrine::ui
