#include "plugins/datasets/shapes/glyph_strokes.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <string_view>

#include "core/base/random.h"

namespace vitrine::shapes {

namespace {

/// Strokes with a space between them: '-' straight, '~' smooth, 'o' smooth and closed, then points
/// in hexadecimal. x goes from 0 to 6, y from 0 (top of capitals) over 8 (base line) to b, 11
/// (below it).
constexpr std::array<std::string_view, kGlyphs> kStrokes = {
    "-083068 -1555",                    // A
    "-0800 ~0040524404 ~0444664808",    // B
    "~615030110417385867",              // C
    "-0800 ~00305264563808",            // D
    "-60000868 -0454",                  // E
    "-600008 -0454",                    // F
    "~615030110417385866 -666434",      // G
    "-0008 -6068 -0464",                // H
    "-2040 -3038 -2848",                // I
    "~505547281706",                    // J
    "-0008 -6004 -2368",                // K
    "-000868",                          // L
    "-0800356068",                      // M
    "-08006860",                        // N
    "o3051645738170411",                // O
    "-0800 ~0040524404",                // P
    "o3051645738170411 -3579",          // Q
    "-0800 ~0040524404 -2468",          // R
    "~61402002244466482807",            // S
    "-0060 -3038",                      // T
    "~00051738576560",                  // U
    "-003860",                          // V
    "-0018335860",                      // W
    "-0068 -6008",                      // X
    "-003460 -3438",                    // Y
    "-00600868",                        // Z
    "o33545638271524 -5358",            // a
    "-1018 o34555738271615",            // b
    "~5443231527384757",                // c
    "-5058 o33545638271524",            // d
    "-1555 ~55543315163857",            // e
    "~50413238 -1454",                  // f
    "-5359 o33545638271524 ~595a3b1a",  // g
    "-1018 ~153444555658",              // h
    "-3338 -3031",                      // i
    "~33393a1b -3031",                  // j
    "-1018 -5316 -2658",                // k
    "~30374858",                        // l
    "-0308 ~0423343638 ~3453646668",    // m
    "-1318 ~153444555658",              // n
    "o33545738271524",                  // o
    "-131b o34555738271615",            // p
    "-535b o33545638271524",            // q
    "-1318 ~15344454",                  // r
    "~544323143556482817",              // s
    "~31374858 -1353",                  // t
    "~13162738475653 -5358",            // u
    "-133853",                          // v
    "-0318355863",                      // w
    "-1358 -5318",                      // x
    "-1338 -532b",                      // y
    "-13531858",                        // z
    "o3051645738170411 -5117",          // 0
    "-123038 -1858",                    // 1
    "~02104062542608 -0868",            // 2
    "~012040624424 ~244466482807",      // 3
    "-48400565",                        // 4
    "-600003 ~033365482807",            // 5
    "~502105173857653415",              // 6
    "-006028",                          // 7
    "o30523412 o34663806",              // 8
    "~184763513011033453",              // 9
};

struct Font {
  double width = 1;     // of a glyph, against its height
  double pen = 0.5;     // half the width of an upright stroke
  double contrast = 0;  // how much thinner a level stroke is
  double lean = 0;      // x per y
  double wobble = 0;    // of the points
};

Font fontOf(std::int64_t font) {
  const auto nth = static_cast<double>(font % 7);
  const std::string& family = fontFamily(font);
  Font made{.width = 0.8 + 0.07 * nth, .pen = 0.42 + 0.06 * std::fmod(nth * 3, 5)};
  if (family == "serif") made.contrast = 0.1 + 0.06 * nth;
  if (family == "handwritten") {
    made.lean = 0.04 * nth;
    made.wobble = 0.25 + 0.04 * nth;
    made.pen *= 0.8;
  }
  return made;
}

struct Stroke {
  Outline points;
  bool isSmooth = false, isClosed = false;
};

std::int64_t digitOf(char c) { return c <= '9' ? c - '0' : c - 'a' + 10; }

std::vector<Stroke> strokesOf(std::string_view text) {
  std::vector<Stroke> strokes;
  std::string point;
  for (const char c : text) {
    if (c == ' ') continue;
    if (c == '-' || c == '~' || c == 'o') {
      strokes.push_back({{}, c != '-', c == 'o'});
      continue;
    }
    point += c;
    if (point.size() < 2) continue;
    strokes.back().points.push_back(
        {static_cast<double>(digitOf(point[0])), static_cast<double>(digitOf(point[1]))});
    point.clear();
  }
  return strokes;
}

/// Points on a curve through those given (centripetal in spirit: Catmull and Rom 1974, uniform).
Outline smoothed(const Stroke& stroke) {
  const auto count = std::ssize(stroke.points);
  const auto at = [&](std::int64_t i) {
    if (stroke.isClosed) return stroke.points[static_cast<std::size_t>((i + count) % count)];
    return stroke.points[static_cast<std::size_t>(std::clamp<std::int64_t>(i, 0, count - 1))];
  };
  Outline out{at(0)};
  constexpr int kPieces = 5;
  for (std::int64_t i = 0; i + (stroke.isClosed ? 0 : 1) < count; ++i) {
    const Point a = at(i - 1), b = at(i), c = at(i + 1), d = at(i + 2);
    for (int piece = 1; piece <= kPieces; ++piece) {
      const double t = static_cast<double>(piece) / kPieces, t2 = t * t, t3 = t2 * t;
      const auto mix = [&](double p, double q, double r, double s) {
        return 0.5 * (2 * q + (r - p) * t + (2 * p - 5 * q + 4 * r - s) * t2 +
                      (3 * q - p - 3 * r + s) * t3);
      };
      out.push_back({mix(a.x, b.x, c.x, d.x), mix(a.y, b.y, c.y, d.y)});
    }
  }
  return out;
}

/// As wide as an upright stroke and as high as a level one.
void addDisk(const Point& centre, double width, double height, std::vector<Outline>& out) {
  Outline disk;
  for (int i = 0; i < 12; ++i) {
    const double angle = std::numbers::pi * i / 6;
    disk.push_back({centre.x + width * std::cos(angle), centre.y + height * std::sin(angle)});
  }
  out.push_back(std::move(disk));
}

void addSegment(const Point& from, const Point& to, double radius, std::vector<Outline>& out) {
  const double dx = to.x - from.x, dy = to.y - from.y, length = std::hypot(dx, dy);
  if (length <= 0) return;
  const double nx = -dy / length * radius, ny = dx / length * radius;
  out.push_back({{from.x + nx, from.y + ny},
                 {to.x + nx, to.y + ny},
                 {to.x - nx, to.y - ny},
                 {from.x - nx, from.y - ny}});
}

/// A level bar where a stroke ends upright on a line of the script.
void addSerif(const Point& end, const Point& before, double radius, std::vector<Outline>& out) {
  const bool isOnLine = std::abs(end.y + 4) < 0.1 || std::abs(end.y - 4) < 0.1 ||
                        std::abs(end.y + 1) < 0.1 || std::abs(end.y - 7) < 0.1;
  if (!isOnLine || std::abs(end.y - before.y) < std::abs(end.x - before.x)) return;
  addSegment({end.x - 2.2 * radius, end.y}, {end.x + 2.2 * radius, end.y}, 0.5 * radius, out);
}

}  // namespace

char glyphName(std::int64_t glyph) {
  constexpr std::string_view names =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
  return names.at(static_cast<std::size_t>(glyph));
}

const std::string& fontFamily(std::int64_t font) {
  static const std::array<std::string, 3> names = {"serif", "sans", "handwritten"};
  return names.at(static_cast<std::size_t>(font / 7));
}

std::vector<Outline> glyphOutlines(std::int64_t glyph, const GlyphStyle& style) {
  static const RandomStream hand(0, "glyphs/hand");
  const Font font = fontOf(style.font);
  const double pen = font.pen * (style.isBold ? 1.7 : 1);
  const double lean = font.lean + (style.isItalic ? 0.25 : 0);
  std::vector<Outline> out;
  std::uint32_t lane = 0;
  for (Stroke& stroke : strokesOf(kStrokes.at(static_cast<std::size_t>(glyph)))) {
    for (Point& point : stroke.points) {
      const auto draw = [&] {
        return hand.uniform(static_cast<std::uint64_t>(style.font),
                            static_cast<std::uint64_t>(glyph), lane++);
      };
      const double x = point.x - 3 + font.wobble * (2 * draw() - 1);
      const double y = point.y - 4 + font.wobble * (2 * draw() - 1);
      point = {font.width * x - lean * y, y};
    }
    const bool isHand = font.wobble > 0 && stroke.points.size() > 2;
    if (isHand) stroke.isSmooth = true;
    const Outline line = stroke.isSmooth ? smoothed(stroke) : stroke.points;
    for (std::size_t i = 0; i < line.size(); ++i) {
      addDisk(line[i], pen, pen * (1 - font.contrast), out);
      if (i == 0) continue;
      const double dx = line[i].x - line[i - 1].x, dy = line[i].y - line[i - 1].y;
      const double level = std::abs(dx) / std::max(1e-9, std::hypot(dx, dy));
      addSegment(line[i - 1], line[i], pen * (1 - font.contrast * level), out);
    }
    if (font.contrast <= 0 || stroke.isClosed) continue;
    addSerif(line.front(), line[1], pen, out);
    addSerif(line.back(), line[line.size() - 2], pen, out);
  }
  return out;
}

}  // namespace vitrine::shapes
