// The line icons of the window: 16 px, 1.5 px stroke, drawn in code in the colours of the theme in
// use. Also the parts that the rows of lists are painted from.
#pragma once

#include <QColor>
#include <QFont>
#include <QIcon>
#include <QRect>
#include <cstdint>

class QPainter;

namespace vitrine::ui {

enum class Icon {
  Plus,
  More,  ///< what a bar has no room for
  Play,
  Stop,
  Search,
  Copy,
  Panel,
  Close,
  Follow,
  Fit,
  Trash,
  Folder,
  Refresh,
  Moon,
  Remove,
  Pause,
  Front,
  Clock,
  Eye,
  EyeOff,
  Bookmark,
};

/// Which colour of the theme the lines take.
enum class IconTint { Text, OnAccent, Bad, Muted };

/// Recoloured whenever it is painted, so it outlives a change of theme.
[[nodiscard]] QIcon icon(Icon name, IconTint tint = IconTint::Text);

/// The square next to the name of a run, in lists and titles. It is hollow for a run whose colour
/// comes round again, as its line is dashed.
void drawRunMark(QPainter& painter, const QRectF& square, std::int64_t run, const QColor& color);

/// Words in one line, shortened with an ellipsis where they are too long. \returns  the width that
/// all of them need
int writeLine(QPainter& painter, const QFont& font, const QColor& color, const QRect& rect,
              Qt::Alignment side, const QString& text, Qt::TextElideMode cut = Qt::ElideRight);

/// A bar that is filled to `share`, 0 to 1, in the accent.
void drawProgress(QPainter& painter, const QRect& track, double share, const QColor& ground);

/// The frame of the row that has the keyboard.
void drawRowFocus(QPainter& painter, const QRect& row);

}  // namespace vitrine::ui
