// Colours, spacing and type of the window, from one token table (light, dark, high contrast).
#pragma once

#include <QColor>
#include <QFont>
#include <QPen>
#include <QString>

#include <cstdint>

namespace vitrine::ui {

enum class ThemeKind { Dark, Light, HighContrast };

struct Tokens {
  QColor background, panel, raised, line, grid, text, muted, accent, onAccent, selection, ok, warn, bad;
};

/// The token table of one theme; a test holds its contrasts (4.5:1 for text, 3:1 for lines that carry meaning).
[[nodiscard]] const Tokens& tokensOf(ThemeKind kind);

/// Sets palette, style sheet and fonts of the application; the kind in use is a process-wide setting of the window.
void applyTheme(ThemeKind kind);
[[nodiscard]] ThemeKind currentTheme();
[[nodiscard]] inline const Tokens& tokens() { return tokensOf(currentTheme()); }
[[nodiscard]] ThemeKind themeFromString(const QString& name);  ///< "dark" | "light" | "high_contrast", else dark

/// A run has one colour, dash and symbol everywhere: list, curves, tables, overlays. Okabe-Ito order.
[[nodiscard]] QColor seriesColor(std::int64_t runId);
[[nodiscard]] Qt::PenStyle seriesDash(std::int64_t runId);

/// The word of a run state is drawn in this colour.
[[nodiscard]] QColor stateColor(const QString& state);

[[nodiscard]] QFont bodyFont();     ///< 13 px at the default size
[[nodiscard]] QFont smallFont();    ///< 12 px
[[nodiscard]] QFont axisFont();     ///< 11 px, tabular figures
[[nodiscard]] QFont titleFont();    ///< 13 px, weight 600
[[nodiscard]] QFont monoFont();

/// viridis and cividis, t in [0, 1].
[[nodiscard]] QColor viridis(double t);
[[nodiscard]] QColor cividis(double t);

/// Numbers as the window shows them: thin space before the unit, thousands separated, en dash for missing.
[[nodiscard]] QString number(double value, int decimals);
[[nodiscard]] QString count(std::int64_t value);
[[nodiscard]] QString percent(double fraction, int decimals);

}  // namespace vitrine::ui
