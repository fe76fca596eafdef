#include "ui/kit/theme.h"

#include <QApplication>
#include <QFontDatabase>
#include <QFontInfo>
#include <QGuiApplication>
#include <QLocale>
#include <QPalette>
#include <QPixmapCache>
#include <QScreen>
#include <QStyle>
#include <QWidget>
#include <algorithm>
#include <array>
#include <cmath>

#include "ui/kit/style_sheet.h"
#include "ui/kit/zoomed_style.h"

namespace vitrine::ui {
namespace {

struct State {
  ThemeKind kind = ThemeKind::Dark;
  double zoom = 1;
  double systemFactor = 0;  // 0: not asked yet
  QString family;
};

State& state() {
  static State value;
  return value;
}

// Body text is 13 px, or what the desktop asks for where that is larger.
double systemFactor() {
  if (state().systemFactor == 0) {
    double pixels = 13;
    if (QGuiApplication::platformName() != QLatin1String("offscreen")) {
      // From its description: to ask the font itself is to load one that is hardly used.
      const QFont font = QFontDatabase::systemFont(QFontDatabase::GeneralFont);
      const QScreen* screen = QGuiApplication::primaryScreen();
      const double perInch = screen != nullptr ? screen->logicalDotsPerInchY() : 96;
      const double asked =
          font.pixelSize() > 0 ? font.pixelSize() : font.pointSizeF() * perInch / 72;
      pixels = std::clamp<double>(std::round(asked), 13, 26);
    }
    state().systemFactor = pixels / 13;
  }
  return state().systemFactor;
}

const QString& family() {
  if (state().family.isEmpty()) {
    // Asked with the font of the body, which is loaded anyway: a list of all families takes longer.
    const QString inter = QStringLiteral("Inter");
    QFont body(inter);
    body.setPixelSize(px(13));
    state().family = QFontInfo(body).family() == inter
                         ? inter
                         : QFontDatabase::systemFont(QFontDatabase::GeneralFont).family();
  }
  return state().family;
}

QFont fontOf(double pixels, QFont::Weight weight) {
  QFont font(family());
  font.setPixelSize(px(pixels));
  font.setWeight(weight);
  return font;
}

double channel(double value) {
  return value <= 0.04045 ? value / 12.92 : std::pow((value + 0.055) / 1.055, 2.4);
}

// Moves towards white or black, whichever is away from `background`, until the contrast is reached.
QColor readable(QColor color, const QColor& background, double wanted) {
  const QColor target = luminance(background) < 0.18 ? QColor(255, 255, 255) : QColor(0, 0, 0);
  const QColor start = color;
  for (int step = 1; step <= 50 && contrast(color, background) < wanted; ++step) {
    const double t = step / 50.0;
    color = QColor::fromRgbF(start.redF() + t * (target.redF() - start.redF()),
                             start.greenF() + t * (target.greenF() - start.greenF()),
                             start.blueF() + t * (target.blueF() - start.blueF()));
  }
  return color;
}

constexpr int kSeries = 7;
constexpr int kMostPictures = 1024;  // kB that Qt keeps of marks and icons

QColor interpolate(const std::array<QRgb, 10>& stops, double t) {
  if (!(t > 0)) return QColor(stops.front());  // also NaN
  if (t >= 1) return QColor(stops.back());
  const double place = t * (stops.size() - 1);
  const auto index = static_cast<std::size_t>(place);
  const double part = place - static_cast<double>(index);
  const QColor a(stops[index]), b(stops[index + 1]);
  const auto mix = [part](int from, int to) {
    return static_cast<int>(std::lround(from + part * (to - from)));
  };
  return QColor(mix(a.red(), b.red()), mix(a.green(), b.green()), mix(a.blue(), b.blue()));
}

}  // namespace

double luminance(const QColor& color) {
  return 0.2126 * channel(color.redF()) + 0.7152 * channel(color.greenF()) +
         0.0722 * channel(color.blueF());
}

double contrast(const QColor& a, const QColor& b) {
  const double first = luminance(a), second = luminance(b);
  return (std::max(first, second) + 0.05) / (std::min(first, second) + 0.05);
}

const ThemeColors& themeColors(ThemeKind kind) {
  const auto c = [](const char* name) { return QColor(QLatin1String(name)); };
  static const ThemeColors dark{c("#15181D"), c("#1B1F26"), c("#232933"), c("#2D343F"),
                                c("#262D37"), c("#E7EAEF"), c("#98A2B3"), c("#4C9FE8"),
                                c("#0B1622"), c("#22364C"), c("#3FB68B"), c("#E0A33A"),
                                c("#F0716A")};
  static const ThemeColors light{c("#F4F5F7"), c("#FFFFFF"), c("#F9FAFB"), c("#DFE3E8"),
                                 c("#ECEFF3"), c("#1B1F24"), c("#5C6672"), c("#0B6BCB"),
                                 c("#FFFFFF"), c("#E3EFFB"), c("#167A57"), c("#9A5B00"),
                                 c("#B42318")};
  static const ThemeColors high{c("#000000"), c("#000000"), c("#101010"), c("#9A9A9A"),
                                c("#4A4A4A"), c("#FFFFFF"), c("#D6D6D6"), c("#6CC4FF"),
                                c("#000000"), c("#123B66"), c("#5CE0AE"), c("#FFC857"),
                                c("#FF8F88")};
  switch (kind) {
    case ThemeKind::Light:
      return light;
    case ThemeKind::HighContrast:
      return high;
    case ThemeKind::Dark:
      break;
  }
  return dark;
}

void applyTheme(ThemeKind kind) {
  state().kind = kind;
  if (qApp == nullptr) return;
  const ThemeColors& t = themeColors(kind);
  if (qApp->styleSheet().isEmpty() &&
      dynamic_cast<ZoomedStyle*>(QApplication::style()) == nullptr) {
    QApplication::setStyle(new ZoomedStyle);  // the application owns it
  }
  QPalette palette;
  palette.setColor(QPalette::Window, t.background);
  palette.setColor(QPalette::WindowText, t.text);
  palette.setColor(QPalette::Base, t.panel);
  palette.setColor(QPalette::AlternateBase, t.raised);
  palette.setColor(QPalette::Text, t.text);
  palette.setColor(QPalette::PlaceholderText, t.muted);
  palette.setColor(QPalette::Button, t.raised);
  palette.setColor(QPalette::ButtonText, t.text);
  palette.setColor(QPalette::BrightText, t.bad);
  palette.setColor(QPalette::ToolTipBase, t.raised);
  palette.setColor(QPalette::ToolTipText, t.text);
  palette.setColor(QPalette::Highlight, t.selection);
  palette.setColor(QPalette::HighlightedText, t.text);
  palette.setColor(QPalette::Link, t.accent);
  palette.setColor(QPalette::LinkVisited, t.accent);
  palette.setColor(QPalette::Light, t.raised);
  palette.setColor(QPalette::Midlight, t.line);
  palette.setColor(QPalette::Mid, t.line);
  palette.setColor(QPalette::Dark, t.line);
  palette.setColor(QPalette::Shadow, t.background);
  for (const auto role : {QPalette::WindowText, QPalette::Text, QPalette::ButtonText})
    palette.setColor(QPalette::Disabled, role, t.muted);
  // Qt's style keeps a picture of an arrow for each palette it was asked with. Under a style sheet
  // that is a new one for each drawing: its memory is bounded.
  QPixmapCache::setCacheLimit(kMostPictures);
  QApplication::setPalette(palette);
  QApplication::setFont(bodyFont());
  // Qt works every rule of a sheet that replaces another into each widget four times as slowly as
  // one that comes where none was.
  const QString sheet = styleSheet(t);
  if (sheet == qApp->styleSheet()) return;
  qApp->setStyleSheet(QString());
  qApp->setStyleSheet(sheet);
}

ThemeKind currentTheme() { return state().kind; }

ThemeKind themeFromString(const QString& name) {
  if (name == QLatin1String("light")) return ThemeKind::Light;
  if (name == QLatin1String("high_contrast")) return ThemeKind::HighContrast;
  return ThemeKind::Dark;
}

QColor seriesColor(std::int64_t runId) { return seriesColor(runId, currentTheme()); }

QColor seriesColor(std::int64_t runId, ThemeKind kind) {
  static const std::array<QRgb, kSeries - 1> okabeIto{0xff0072b2, 0xffd55e00, 0xff009e73,
                                                      0xffcc79a7, 0xffe69f00, 0xff56b4e9};
  const auto index = static_cast<std::size_t>(std::max<std::int64_t>(runId - 1, 0) % kSeries);
  const ThemeColors& t = themeColors(kind);
  if (index == okabeIto.size())
    return kind == ThemeKind::Light ? QColor(Qt::black) : QColor(Qt::white);
  return readable(QColor(okabeIto[index]), t.panel, 3.2);
}

Qt::PenStyle seriesDash(std::int64_t runId) {
  static constexpr std::array<Qt::PenStyle, 4> kDashes{Qt::SolidLine, Qt::DashLine, Qt::DashDotLine,
                                                       Qt::DotLine};
  return kDashes[static_cast<std::size_t>((std::max<std::int64_t>(runId - 1, 0) / kSeries) % 4)];
}

QColor stateColor(const QString& name) {
  const ThemeColors& t = themeColors();
  if (name == QLatin1String("done")) return t.ok;
  if (name == QLatin1String("failed")) return t.bad;
  if (name == QLatin1String("running") || name == QLatin1String("starting")) return t.accent;
  if (name == QLatin1String("interrupted") || name == QLatin1String("paused") ||
      name == QLatin1String("pausing") || name == QLatin1String("stopping")) {
    return t.warn;
  }
  return t.muted;  // queued, stopped
}

void setUiZoom(double factor) { state().zoom = std::clamp(factor, kLeastZoom, kMostZoom); }

double uiZoom() { return state().zoom; }

int px(double length) {
  const int pixels = static_cast<int>(std::lround(length * systemFactor() * state().zoom));
  return length > 0 ? std::max(pixels, 1) : pixels;
}

QFont bodyFont() { return fontOf(13, QFont::Normal); }
QFont smallFont() { return fontOf(12, QFont::Normal); }
QFont axisFont() { return fontOf(11, QFont::Normal); }
QFont titleFont() { return fontOf(13, QFont::DemiBold); }

QFont monoFont() {
  QFont font = QFontDatabase::systemFont(QFontDatabase::FixedFont);
  font.setPixelSize(px(12));
  return font;
}

void useMonoFont(QWidget& widget) {
  widget.setProperty("mono", true);  // the style sheet gives these the size
  widget.setFont(monoFont());
}

QColor viridis(double t) {
  static const std::array<QRgb, 10> stops{0xff440154, 0xff482878, 0xff3e4989, 0xff31688e,
                                          0xff26828e, 0xff1f9e89, 0xff35b779, 0xff6ece58,
                                          0xffb5de2b, 0xfffde725};
  return interpolate(stops, t);
}

QColor cividis(double t) {
  static const std::array<QRgb, 10> stops{0xff00224e, 0xff123570, 0xff3b496c, 0xff575d6d,
                                          0xff707173, 0xff8a8678, 0xffa59c74, 0xffc3b369,
                                          0xffe1cc55, 0xfffee838};
  return interpolate(stops, t);
}

QString number(double value, int decimals) {
  if (std::isnan(value)) return QStringLiteral("\u2013");
  if (std::isinf(value))
    return value > 0 ? QStringLiteral("\u221e") : QStringLiteral("\u2212\u221e");
  QString text =
      QLocale(QLocale::English, QLocale::UnitedStates).toString(std::abs(value), 'f', decimals);
  const bool isZero = std::none_of(text.cbegin(), text.cend(), [](QChar c) {
    return c >= QLatin1Char('1') && c <= QLatin1Char('9');
  });
  return value < 0 && !isZero ? QStringLiteral("\u2212") + text : text;
}

QString count(std::int64_t value) {
  // Every digit: a double has 53 bits.
  QString text = QLocale(QLocale::English, QLocale::UnitedStates).toString(qlonglong{value});
  return text.replace(QLatin1Char('-'), QChar(0x2212));
}

QString percent(double fraction, int decimals) {
  const QString text = number(fraction * 100, decimals);
  return std::isfinite(fraction) ? text + QStringLiteral("\u2009%") : text;
}

QString counted(std::int64_t value, const QString& one, const QString& many) {
  return count(value) + QLatin1Char(' ') + (value == 1 ? one : many);
}

}  // namespace vitrine::ui
