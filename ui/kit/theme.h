// Colours, spacing and type of the window, from one table of colours (light, dark, high contrast).
#pragma once

#include <QColor>
#include <QFont>
#include <QPen>
#include <QString>
#include <cstdint>

class QWidget;

namespace vitrine::ui {

enum class ThemeKind { Dark, Light, HighContrast };

struct ThemeColors {
  QColor background, panel, raised, line, grid, text, muted, accent, onAccent, selection, ok, warn,
      bad;
};

/// Relative luminance of WCAG 2, 0 to 1.
[[nodiscard]] double luminance(const QColor& color);
/// WCAG 2 contrast of two opaque colours, 1 to 21.
[[nodiscard]] double contrast(const QColor& a, const QColor& b);

/// The table of colours of one theme; a test holds its contrasts (4.5:1 for text, 3:1 for lines
/// that carry meaning).
[[nodiscard]] const ThemeColors& themeColors(ThemeKind kind);

/// Sets palette, style sheet and fonts of the application; the kind in use is a process-wide
/// setting of the window.
void applyTheme(ThemeKind kind);
[[nodiscard]] ThemeKind currentTheme();
[[nodiscard]] inline const ThemeColors& themeColors() { return themeColors(currentTheme()); }
[[nodiscard]] ThemeKind themeFromString(
    const QString& name);  ///< "dark" | "light" | "high_contrast", else dark

/// A run has one colour, dash and symbol everywhere: list, curves, tables, overlays. Okabe-Ito
/// order.
[[nodiscard]] QColor seriesColor(std::int64_t runId);
[[nodiscard]] Qt::PenStyle seriesDash(std::int64_t runId);
/// The colour a run would have in another theme; at least 3:1 against its panel.
[[nodiscard]] QColor seriesColor(std::int64_t runId, ThemeKind kind);

/// The word of a run state is drawn in this colour.
[[nodiscard]] QColor stateColor(const QString& state);

inline constexpr double kLeastZoom = 0.6, kMostZoom = 2.4;
/// Size of the whole window relative to the system's: 1 is normal, held between the two above.
/// applyTheme() puts it to work.
void setUiZoom(double factor);
[[nodiscard]] double uiZoom();
/// A length of the design (13 px body text, 26 px buttons ...) at the font size and zoom in use.
[[nodiscard]] int px(double length);

[[nodiscard]] QFont bodyFont();   ///< 13 px at the default size
[[nodiscard]] QFont smallFont();  ///< 12 px
[[nodiscard]] QFont axisFont();   ///< 11 px, tabular figures
[[nodiscard]] QFont titleFont();  ///< 13 px, weight 600
[[nodiscard]] QFont monoFont();
/// `widget`, a label or a text field, writes in monoFont() at every zoom: a font that is set alone
/// keeps the size of its day.
void useMonoFont(QWidget& widget);

/// viridis and cividis, t in [0, 1].
[[nodiscard]] QColor viridis(double t);
[[nodiscard]] QColor cividis(double t);

/// Numbers as the window shows them: thin space before the unit, thousands separated, en dash for
/// missing.
[[nodiscard]] QString number(double value, int decimals);
[[nodiscard]] QString count(std::int64_t value);
[[nodiscard]] QString percent(double fraction, int decimals);
/// "1 run", "12 runs".
[[nodiscard]] QString counted(std::int64_t value, const QString& one, const QString& many);

}  // namespace vitrine::ui
