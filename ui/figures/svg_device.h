// A paint device that writes SVG 1.1: lines, areas, pictures and text, clipped where the painter
// clips. Qt's own generator is a package more to install and leaves the clip out.
#pragma once

#include <QByteArray>
#include <QPaintDevice>
#include <QSizeF>
#include <memory>

namespace vitrine::ui {

class SvgEngine;

/// Clips must be rectangles, and stay so under the transformation in use: what figures need. Text
/// stays text, held to the width it has here, so that it fits where the font is another.
class SvgDevice : public QPaintDevice {
 public:
  /// \param logical  size in the coordinates of the painter
  /// \param paper    size on paper, millimetres
  SvgDevice(QSizeF logical, QSizeF paper);
  ~SvgDevice() override;

  /// The document, after the painter has ended. \param metadata  text for <metadata>, which must
  /// need no escape; empty for none
  [[nodiscard]] QByteArray document(const QByteArray& metadata) const;

  [[nodiscard]] QPaintEngine* paintEngine() const override;

 protected:
  int metric(PaintDeviceMetric which) const override;

 private:
  QSizeF logical_, paper_;
  std::unique_ptr<SvgEngine> engine_;
};

}  // namespace vitrine::ui
