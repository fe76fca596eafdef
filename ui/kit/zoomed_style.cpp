#include "ui/kit/zoomed_style.h"

#include <QStyleOption>

#include "ui/kit/icons.h"
#include "ui/kit/theme.h"

namespace vitrine::ui {

int ZoomedStyle::pixelMetric(PixelMetric metric, const QStyleOption* option,
                             const QWidget* widget) const {
  const int length = QProxyStyle::pixelMetric(metric, option, widget);
  switch (metric) {
    case PM_ButtonIconSize:
    case PM_SmallIconSize:
    case PM_ListViewIconSize:
    case PM_TabBarIconSize:
    case PM_LayoutHorizontalSpacing:
    case PM_LayoutVerticalSpacing:
    case PM_LayoutLeftMargin:
    case PM_LayoutTopMargin:
    case PM_LayoutRightMargin:
    case PM_LayoutBottomMargin:
      return length > 0 ? qRound(length * uiZoom()) : length;  // of the screen it knows
    case PM_ToolBarExtensionExtent:
      return px(28);
    default:
      return length;
  }
}

QRect ZoomedStyle::subElementRect(SubElement element, const QStyleOption* option,
                                  const QWidget* widget) const {
  if (element != SE_HeaderArrow) return QProxyStyle::subElementRect(element, option, widget);
  // In the padding of the heading. A rule of the style sheet would move every heading, sorted or
  // not, away from the numbers below it.
  QRect arrow = option->rect;
  arrow.setLeft(arrow.right() + 1 - px(8));
  return arrow;
}

QIcon ZoomedStyle::standardIcon(StandardPixmap name, const QStyleOption* option,
                                const QWidget* widget) const {
  if (name == SP_ToolBarHorizontalExtensionButton) return icon(Icon::More);
  if (name == SP_LineEditClearButton) return icon(Icon::Close, IconTint::Muted);
  return QProxyStyle::standardIcon(name, option, widget);
}

}  // namespace vitrine::ui
