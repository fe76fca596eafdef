#include "ui/kit/style_sheet.h"

#include <QDir>
#include <QHash>
#include <QImage>
#include <QPainter>
#include <QPainterPath>
#include <QRegularExpression>
#include <QTemporaryDir>
#include <algorithm>

namespace vitrine::ui {
namespace {

// Style sheets take pictures from files alone, so the few arrows and marks are drawn into a folder
// of this process.
QString picture(const QString& name, const QColor& color, const QPainterPath& path, double width) {
  static QTemporaryDir folder(QDir::tempPath() + QStringLiteral("/vitrine-studio-XXXXXX"));
  if (!folder.isValid()) return {};
  const int size = px(12);  // as large as the text next to it
  const QString base =
      folder.filePath(QStringLiteral("%1-%2-%3").arg(name, color.name().mid(1)).arg(size));
  for (const int scale : {1, 2}) {
    const QString file = base + (scale == 2 ? QStringLiteral("@2x.png") : QStringLiteral(".png"));
    if (QFile::exists(file)) continue;
    QImage image(size * scale, size * scale, QImage::Format_ARGB32_Premultiplied);
    image.fill(Qt::transparent);
    QPainter painter(&image);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.scale(scale * size / 12.0, scale * size / 12.0);
    painter.setPen(QPen(color, width, Qt::SolidLine, Qt::RoundCap, Qt::RoundJoin));
    painter.drawPath(path);
    painter.end();
    image.save(file, "PNG");
  }
  return base + QStringLiteral(".png");
}

QPainterPath polyline(const QList<QPointF>& points) {
  QPainterPath path(points.front());
  for (const QPointF& point : points.mid(1)) path.lineTo(point);
  return path;
}

// @name is a colour of the table, #N! a length in design pixels.
const char* const kSheet = R"(
QWidget { color: @text; }
QMainWindow, QDialog, QWidget[role="canvas"] { background: @background; }
QWidget[role="panel"], QDockWidget, QDockWidget > QWidget { background: @panel; }
QWidget[role="raised"] { background: @raised; }
QFrame[role="card"] { background: @panel; border: 1px solid @line; border-radius: 8!; }
QFrame[role="rule"] { background: @line; border: none; max-height: 1px; min-height: 1px; }
QLabel { background: transparent; }
QLabel[role="title"] { font-weight: 600; }
QLabel[role="muted"] { color: @muted; }
QLabel[role="small"] { color: @muted; font-size: 12!; }
QLabel[role="error"] { color: @bad; font-size: 12!; }
QLabel[role="warn"] { color: @warn; font-size: 12!; }
QLabel:disabled { color: @muted; }
QToolTip { color: @text; background: @raised; border: 1px solid @line; padding: 4!; }

QMenuBar { background: @panel; border-bottom: 1px solid @line; padding: 2! 4!; }
QMenuBar::item { background: transparent; padding: 4! 8!; border-radius: 4!; }
QMenuBar::item:selected { background: @selection; }
QMenu { background: @panel; border: 1px solid @line; padding: 4!; }
QMenu::item { padding: 5! 28! 5! 24!; border-radius: 4!; }
QMenu::item:selected { background: @selection; }
QMenu::item:disabled { color: @muted; }
QMenu::separator { height: 1px; background: @line; margin: 4! 8!; }
QMenu::icon { padding-left: 6!; }
QMenu::indicator { width: 12!; height: 12!; margin-left: 6!; border: 1px solid @muted;
  border-radius: 3!; background: @raised; }
QMenu::indicator:checked { background: @accent; border-color: @accent; image: url("@checkOn"); }
QMenu::indicator:exclusive { border-radius: 7!; }
QMenu::indicator:exclusive:checked { image: url("@dotOn"); }

QToolBar { background: @panel; border: none; border-bottom: 1px solid @line; padding: 6! 8!;
  spacing: 8!; }
QToolBar[role="edge"] { border: none; border-left: 1px solid @line; padding: 0; }
QToolBar::separator { background: @line; width: 1px; margin: 2! 4!; }

QPushButton, QToolButton { background: @raised; border: 1px solid @line; border-radius: 6!;
  padding: 3! 10!; min-height: 18!; outline: none; }
QPushButton:hover, QToolButton:hover { border-color: @muted; }
QPushButton:pressed, QToolButton:pressed, QPushButton:checked, QToolButton:checked {
  background: @selection; border-color: @accent; }
QPushButton:focus, QToolButton:focus { border-color: @accent; }
QPushButton:checked:focus, QToolButton:checked:focus { border-color: @text; }
QPushButton:disabled, QToolButton:disabled { color: @muted; border-color: @line;
  background: @panel; }
QPushButton[primary="true"], QToolButton[primary="true"] { background: @accent; color: @onAccent;
  border-color: @accent; font-weight: 500; }
QPushButton[primary="true"]:focus, QToolButton[primary="true"]:focus { border-color: @text; }
@disabledBorder
QPushButton[primary="true"]:disabled { background: @raised; color: @muted; border-color: @line; }
QPushButton[quiet="true"], QToolButton[quiet="true"] { background: transparent;
  border-color: transparent; padding: 2! 6!; }
QPushButton[quiet="true"]:hover, QToolButton[quiet="true"]:hover { background: @raised; }
QPushButton[quiet="true"]:focus, QToolButton[quiet="true"]:focus { border-color: @accent; }
QPushButton[quiet="true"]:checked, QToolButton[quiet="true"]:checked { color: @accent;
  background: transparent; }
QToolButton[tight="true"] { padding: 0; }
QToolButton[role="fold"] { font-weight: 600; padding-left: 0; }
QToolButton[role="fold"]:checked { color: @text; }
QToolButton#qt_toolbar_ext_button { padding: 0; }
QLineEdit > QToolButton { padding: 0; border: none; min-height: 0; }
QPushButton[danger="true"] { color: @bad; }
QToolButton::menu-indicator { image: url("@down"); subcontrol-origin: padding;
  subcontrol-position: center right; right: 6!; width: 12!; height: 12!; }
QToolButton[popupMode="2"], QPushButton[hasMenu="true"] { padding-right: 22!; }
QToolButton[role="dots"] { padding-right: 6!; }
QToolButton[role="dots"]::menu-indicator { image: none; width: 0; }
QPushButton::menu-indicator { image: url("@down"); subcontrol-origin: padding;
  subcontrol-position: center right; right: 6!; width: 12!; height: 12!; }

QLineEdit, QPlainTextEdit, QTextEdit, QAbstractSpinBox, QComboBox { background: @raised;
  border: 1px solid @line; border-radius: 6!; selection-background-color: @accent;
  selection-color: @onAccent; }
QLineEdit, QAbstractSpinBox, QComboBox { padding: 2! 8!; min-height: 20!; }
QPlainTextEdit, QTextEdit { padding: 4!; }
QPlainTextEdit[mono="true"], QLabel[mono="true"] { font-family: "@monoFamily"; font-size: 12!; }
QPlainTextEdit[role="mono"], QTextEdit[role="mono"] { background: transparent; border: none;
  padding: 0; }
QLineEdit:focus, QPlainTextEdit:focus, QTextEdit:focus, QAbstractSpinBox:focus, QComboBox:focus {
  border-color: @accent; }
QLineEdit[invalid="true"], QAbstractSpinBox[invalid="true"], QComboBox[invalid="true"],
  QPlainTextEdit[invalid="true"] { border-color: @bad; }
QLineEdit:disabled, QAbstractSpinBox:disabled, QComboBox:disabled { color: @muted; }
QComboBox { padding-right: 22!; }
QComboBox::drop-down { border: none; width: 20!; }
QComboBox::down-arrow { image: url("@down"); width: 12!; height: 12!; }
QComboBox QAbstractItemView { background: @panel; border: 1px solid @line; padding: 4!;
  selection-background-color: @selection; selection-color: @text; outline: none; }
QAbstractSpinBox { padding-right: 20!; }
QAbstractSpinBox::up-button, QAbstractSpinBox::down-button { border: none; width: 18!;
  background: transparent; subcontrol-origin: border; }
QAbstractSpinBox::up-button { subcontrol-position: top right; }
QAbstractSpinBox::down-button { subcontrol-position: bottom right; }
QAbstractSpinBox::up-arrow { image: url("@up"); width: 10!; height: 10!; }
QAbstractSpinBox::down-arrow { image: url("@down"); width: 10!; height: 10!; }
QCheckBox, QRadioButton { spacing: 8!; background: transparent; }
QCheckBox::indicator { width: 14!; height: 14!; border: 1px solid @muted; border-radius: 3!;
  background: @raised; }
QCheckBox::indicator:checked { background: @accent; border-color: @accent; image: url("@checkOn"); }
QCheckBox::indicator:focus, QRadioButton::indicator:focus { border-color: @accent; }
QRadioButton::indicator { width: 12!; height: 12!; border: 1px solid @muted; border-radius: 7!;
  background: @raised; }
QRadioButton::indicator:checked { background: @accent; border: 3px solid @raised; }
QSlider::groove:horizontal { height: 4!; background: @line; border-radius: 2!; }
QSlider::sub-page:horizontal { background: @accent; border-radius: 2!; }
QSlider::handle:horizontal { width: 12!; height: 12!; margin: -5! 0; border-radius: 6!;
  background: @text; border: 1px solid @line; }
QSlider::handle:horizontal:focus { background: @accent; border-color: @text; }
QProgressBar { background: @line; border: none; border-radius: 2!; max-height: 4!; min-height: 4!; }
QProgressBar::chunk { background: @accent; border-radius: 2!; }

QTabWidget::pane { border: none; background: @background; }
QTabBar { background: @panel; qproperty-drawBase: 0; outline: none; }
QTabWidget::tab-bar { left: 0; }
QTabBar::tab { background: @panel; color: @muted; padding: 0 @tabPadding; height: 31!;
  border: none; border-top: 2px solid transparent; }
QTabBar::tab:selected { color: @text; background: @background; border-top-color: @accent;
  border-left: 1px solid @line; border-right: 1px solid @line; }
QTabBar::tab:hover:!selected { color: @text; }
QTabBar::tab:focus { border-top-color: @text; background: @selection; }
QTabBar QToolButton { border-radius: 0; padding: 0; }
QWidget#tabStrip { background: @panel; border-bottom: 1px solid @line; }

QDockWidget { titlebar-close-icon: none; titlebar-normal-icon: none; }
QMainWindow::separator { background: @line; width: 1px; height: 1px; }
QMainWindow::separator:hover { background: @accent; }
QSplitter::handle { background: @line; }
QSplitter[role="gap"]::handle { background: transparent; }
QSplitter::handle:horizontal { width: 1px; }
QSplitter::handle:vertical { height: 1px; }

QAbstractItemView { background: @panel; alternate-background-color: @raised; border: none;
  selection-background-color: @selection; selection-color: @text; outline: none;
  gridline-color: @grid; }
QTableView::item, QListView::item { padding: 2! 4!; border: none; }
QTreeView::item { padding: 2! 0; border: none; }
QTreeView[role="rows"]::item { padding: 5! 4!; }
QTableView::item:selected, QTreeView::item:selected, QListView::item:selected {
  background: @selection; color: @text; }
QTreeView::branch { background: @panel; }
QTreeView::branch:has-children:closed { image: url("@right"); }
QTreeView::branch:has-children:open { image: url("@down"); }
QHeaderView { background: @panel; }
QHeaderView::section { background: @panel; color: @muted; border: none;
  border-bottom: 1px solid @line; padding: 4! 8!; }
QHeaderView::section:vertical { border-bottom: none; }
QTableCornerButton::section { background: @panel; border: none; }

QDialogButtonBox { dialogbuttonbox-buttons-have-icons: 0; }
QFileDialog QToolButton { padding: 3!; min-height: 16!; }

QScrollArea { background: transparent; border: none; }
QScrollArea > QWidget > QWidget { background: transparent; }
QScrollBar:vertical { background: transparent; width: 10!; margin: 0; }
QScrollBar:horizontal { background: transparent; height: 10!; margin: 0; }
QScrollBar::handle { background: @line; border-radius: 4!; margin: 1!; }
QScrollBar::handle:vertical { min-height: 28!; }
QScrollBar::handle:horizontal { min-width: 28!; }
QScrollBar::handle:hover { background: @muted; }
QAbstractScrollArea::corner { background: transparent; border: none; }
QScrollBar::add-line, QScrollBar::sub-line { width: 0; height: 0; }
QScrollBar::add-page, QScrollBar::sub-page { background: transparent; }

QStatusBar { background: @panel; border-top: 1px solid @line; }
QStatusBar::item { border: none; }
QGroupBox { border: 1px solid @line; border-radius: 8!; margin-top: 10!; padding: 12! 12! 8! 12!;
  background: @panel; font-weight: 600; }
QGroupBox::title { subcontrol-origin: margin; left: 12!; padding: 0 4!; }
)";

}  // namespace

QString styleSheet(const ThemeColors& t) {
  const QPainterPath down = polyline({{3, 4.75}, {6, 7.75}, {9, 4.75}});
  const QPainterPath up = polyline({{3, 7.25}, {6, 4.25}, {9, 7.25}});
  const QPainterPath right = polyline({{4.5, 3}, {7.5, 6}, {4.5, 9}});
  const QPainterPath check = polyline({{2.5, 6.25}, {5, 8.75}, {9.5, 3.5}});
  QPainterPath dot;
  dot.addEllipse(QPointF(6, 6), 1, 1);
  const QHash<QString, QString> values{
      {QStringLiteral("background"), t.background.name()},
      {QStringLiteral("panel"), t.panel.name()},
      {QStringLiteral("raised"), t.raised.name()},
      {QStringLiteral("line"), t.line.name()},
      {QStringLiteral("grid"), t.grid.name()},
      {QStringLiteral("text"), t.text.name()},
      {QStringLiteral("muted"), t.muted.name()},
      {QStringLiteral("accent"), t.accent.name()},
      {QStringLiteral("onAccent"), t.onAccent.name()},
      {QStringLiteral("selection"), t.selection.name()},
      {QStringLiteral("ok"), t.ok.name()},
      {QStringLiteral("warn"), t.warn.name()},
      {QStringLiteral("bad"), t.bad.name()},
      {QStringLiteral("monoFamily"), monoFont().family()},
      // Large letters leave less room between them, so that all tabs stay in sight.
      {QStringLiteral("tabPadding"),
       QStringLiteral("%1px").arg(std::min(px(14), std::max(8, px(14) - 2 * (px(14) - 14))))},
      // Where all text is of one colour, what cannot be used needs another mark.
      {QStringLiteral("disabledBorder"),
       &t == &themeColors(ThemeKind::HighContrast)
           ? QStringLiteral("QPushButton:disabled, QToolButton:disabled { "
                            "border-style: dashed; }")
           : QString()},
      {QStringLiteral("down"), picture(QStringLiteral("down"), t.muted, down, 1.5)},
      {QStringLiteral("up"), picture(QStringLiteral("up"), t.muted, up, 1.5)},
      {QStringLiteral("right"), picture(QStringLiteral("right"), t.muted, right, 1.5)},
      {QStringLiteral("dotOn"), picture(QStringLiteral("dot"), t.onAccent, dot, 2)},
      {QStringLiteral("checkOn"), picture(QStringLiteral("check"), t.onAccent, check, 2)},
  };
  static const QRegularExpression token(QStringLiteral("@([A-Za-z]+)|(-?)(\\d+)!"));
  const QString source = QString::fromLatin1(kSheet);
  QString sheet;
  sheet.reserve(source.size() * 2);
  qsizetype from = 0;
  for (auto it = token.globalMatch(source); it.hasNext();) {
    const auto match = it.next();
    sheet += QStringView(source).mid(from, match.capturedStart() - from);
    if (match.hasCaptured(1) && !match.captured(1).isEmpty()) {
      sheet += values.value(match.captured(1));
    } else {
      sheet +=
          match.captured(2) + QString::number(px(match.captured(3).toInt())) + QStringLiteral("px");
    }
    from = match.capturedEnd();
  }
  sheet += QStringView(source).mid(from);
  return sheet;
}

}  // namespace vitrine::ui
