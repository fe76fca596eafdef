// Applies a change of the zoom to existing widgets. Lengths that were given in pixels of the old
// zoom (fixed sizes, icons, margins, spacing) become those of the new one.
#pragma once

#include <QHash>
#include <QObject>
#include <QPointer>
#include <cstddef>
#include <vector>

class QWidget;

namespace vitrine::ui {

class LiveZoom {
 public:
  /// \param zoom  at which the widgets given later are made
  explicit LiveZoom(double zoom) : zoom_(zoom) {}
  /// Rescales `root` and all in it. Lengths are rounded from what they are without zoom, so that
  /// any way back to the old zoom ends at the old lengths.
  void apply(QWidget& root, double zoom);

 private:
  struct Length {
    double base = 0;  ///< at zoom 1
    int pixels = 0;   ///< as last given; another value now means that it was set elsewhere
  };
  struct Known {
    QPointer<QObject> object;  ///< null: it is gone, and its address may be another's
    std::vector<Length> lengths;
  };
  /// The next length of the object at hand, for its value now.
  int scaled(Known& known, std::size_t place, int now) const;
  Known& known(QObject& object);
  void rescale(QWidget& widget);

  double zoom_, next_ = 1;
  QHash<const QObject*, Known> known_;
};

}  // namespace vitrine::ui
