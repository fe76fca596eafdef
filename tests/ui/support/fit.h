// Whether anything in a widget lies on anything else, or is cut where no scrolling reaches it.
#pragma once

#include <QAbstractButton>
#include <QAbstractItemView>
#include <QAbstractSpinBox>
#include <QCheckBox>
#include <QComboBox>
#include <QCoreApplication>
#include <QLabel>
#include <QLineEdit>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QScrollArea>
#include <QSplitterHandle>
#include <QTabBar>
#include <QTextEdit>
#include <QToolButton>
#include <set>
#include <string>
#include <vector>

#include "ui/kit/theme.h"
#include "ui/workbench/page.h"

namespace vitrine::ui {
namespace fit {

inline std::string nameOf(const QWidget& widget) {
  QString text = widget.accessibleName();
  if (const auto* button = qobject_cast<const QAbstractButton*>(&widget)) text = button->text();
  if (const auto* label = qobject_cast<const QLabel*>(&widget)) text = label->text().left(40);
  const QRect at = widget.geometry();
  return std::string(widget.metaObject()->className()) + " \"" + text.toStdString() + "\" " +
         std::to_string(at.x()) + "," + std::to_string(at.y()) + " " + std::to_string(at.width()) +
         "x" + std::to_string(at.height());
}

/// Its parts are Qt's own business.
inline bool isWhole(const QWidget& widget) {
  return qobject_cast<const QAbstractItemView*>(&widget) != nullptr ||
         qobject_cast<const QComboBox*>(&widget) != nullptr ||
         qobject_cast<const QLineEdit*>(&widget) != nullptr ||
         qobject_cast<const QAbstractSpinBox*>(&widget) != nullptr ||
         qobject_cast<const QTabBar*>(&widget) != nullptr ||
         qobject_cast<const QPlainTextEdit*>(&widget) != nullptr ||
         qobject_cast<const QTextEdit*>(&widget) != nullptr;
}

/// Less than its letters need: -1 where it has room.
inline int missingHeight(const QWidget& widget) {
  int needed = -1;
  if (const auto* label = qobject_cast<const QLabel*>(&widget)) {
    if (label->text().isEmpty()) return -1;
    needed = label->wordWrap() ? label->heightForWidth(label->width())
                               : label->minimumSizeHint().height();
  } else if (widget.maximumHeight() == widget.height()) {
    return -1;  // meant so
  } else if (qobject_cast<const QPushButton*>(&widget) != nullptr ||
             qobject_cast<const QToolButton*>(&widget) != nullptr ||
             qobject_cast<const QCheckBox*>(&widget) != nullptr ||
             qobject_cast<const QComboBox*>(&widget) != nullptr ||
             qobject_cast<const QLineEdit*>(&widget) != nullptr ||
             qobject_cast<const QAbstractSpinBox*>(&widget) != nullptr) {
    needed = widget.minimumSizeHint().height() * 7 / 8;  // with less of the style's own margins
  }
  return widget.height() < needed - 1 ? needed : -1;
}

inline void collect(const QWidget& parent, const std::string& path, std::set<std::string>& found) {
  std::vector<const QWidget*> children;
  for (const QObject* child : parent.children()) {
    const auto* widget = qobject_cast<const QWidget*>(child);
    if (widget == nullptr || widget->isHidden() || widget->isWindow() ||
        qobject_cast<const QSplitterHandle*>(widget) != nullptr || widget->size().isEmpty())
      continue;
    children.push_back(widget);
  }
  const auto* area = qobject_cast<const QAbstractScrollArea*>(&parent);
  const auto* holder = qobject_cast<const QScrollArea*>(parent.parentWidget());
  for (const QWidget* child : children) {
    if (area != nullptr && child != area->viewport()) continue;
    const bool isScrolled = holder != nullptr && holder->viewport() == &parent;
    const QRect at = child->geometry();
    if (isScrolled) {
      const bool isCutRight = at.right() > parent.rect().right() + 1 &&
                              holder->horizontalScrollBarPolicy() == Qt::ScrollBarAlwaysOff;
      const bool isCutBelow = at.bottom() > parent.rect().bottom() + 1 &&
                              holder->verticalScrollBarPolicy() == Qt::ScrollBarAlwaysOff;
      if (isCutRight || isCutBelow) found.insert(path + nameOf(*child) + " has no scroll bar");
    } else if (!parent.rect().adjusted(-1, -1, 1, 1).contains(at)) {
      found.insert(path + nameOf(*child) + " is cut by its place");
    }
    if (const int needed = missingHeight(*child); needed > 0)
      found.insert(path + nameOf(*child) + " needs a height of " + std::to_string(needed));
    for (const QWidget* other : children) {
      if (other <= child || area != nullptr) continue;
      const QRect common = at & other->geometry();
      if (common.width() > 1 && common.height() > 1)
        found.insert(path + nameOf(*child) + " lies on " + nameOf(*other));
    }
    if (!isWhole(*child))
      collect(*child, path + child->metaObject()->className() + std::string(" > "), found);
  }
}

}  // namespace fit

/// One line for everything that is wrong; "" where nothing is.
inline std::string whatDoesNotFit(const QWidget& widget) {
  std::set<std::string> found;
  fit::collect(widget, "", found);
  std::string lines;
  for (const std::string& one : found) lines += "  " + one + "\n";
  return lines;
}

struct Zoomed {
  explicit Zoomed(double factor) {
    setUiZoom(factor);
    applyTheme(ThemeKind::Dark);
  }
  ~Zoomed() {
    setUiZoom(1);
    applyTheme(ThemeKind::Dark);
  }
};

/// A page by itself, made at that zoom.
template <class PageType>
struct PageAtZoom {
  template <class AnyWorkbench>
  PageAtZoom(AnyWorkbench& workbench, double zoom) : zoomed(zoom) {
    place.resize(1400, 1000);
    place.show();
    page = new PageType(workbench, &place);
    page->show();
  }

  Zoomed zoomed;
  QWidget place;
  PageType* page = nullptr;
};

/// At a size that nothing enlarges: what the window leaves for its page at 800 x 480, 1024 x 600,
/// 1366 x 768 and 1440 x 900.
inline const std::vector<QSize> kPageSizes{
    {300, 200}, {480, 330}, {700, 450}, {1050, 610}, {1100, 760}};

/// Lines as whatDoesNotFit() has them, each size and problem once. The page has a parent without a
/// layout.
inline std::string whatDoesNotFitAnywhere(Page& page) {
  std::string lines;
  for (const QSize& size : kPageSizes) {
    page.setGeometry({QPoint(0, 0), size});
    page.waitUntilIdle();
    for (int i = 0; i < 6; ++i) QCoreApplication::sendPostedEvents(nullptr, QEvent::LayoutRequest);
    QCoreApplication::processEvents();
    if (uiZoom() == 1.0 && size.width() == 300) continue;  // no window is as small as that
    const std::string found = whatDoesNotFit(page);
    if (!found.empty()) {
      lines += std::to_string(size.width()) + "x" + std::to_string(size.height()) + ", zoom " +
               std::to_string(uiZoom()).substr(0, 3) + ":\n" + found;
    }
  }
  return lines;
}

}  // namespace vitrine::ui
