// Qt's Fusion style whose own lengths follow the zoom: icons of buttons and lists, spacing and
// margins where a layout names none.
#pragma once

#include <QProxyStyle>

namespace vitrine::ui {

class ZoomedStyle final : public QProxyStyle {
 public:
  ZoomedStyle() : QProxyStyle(QStringLiteral("Fusion")) {}
  int pixelMetric(PixelMetric metric, const QStyleOption* option = nullptr,
                  const QWidget* widget = nullptr) const override;
  QRect subElementRect(SubElement element, const QStyleOption* option,
                       const QWidget* widget = nullptr) const override;
  /// Ours where Qt's is drawn for light windows only.
  QIcon standardIcon(StandardPixmap name, const QStyleOption* option = nullptr,
                     const QWidget* widget = nullptr) const override;
};

}  // namespace vitrine::ui
