// Where the Tab key leads in the window, and a frame around parts that do not show the focus.
#pragma once

#include <QFocusEvent>
#include <QList>
#include <QWidget>

namespace vitrine::ui {

/// The visible parts of `window` that take the Tab key, as they are read. Lines go from the top,
/// each from the left, one container after the other. The order in which parts were made does not
/// count.
/// \param from  part of it wherever it is in the window, hidden or disabled, too; nullptr: none
[[nodiscard]] QList<QWidget*> tabStops(QWidget& window, const QWidget* from);

/// Scrolls the areas around `widget` until it is in sight.
void bringIntoView(QWidget& widget);

/// A frame around a page, a list, an area or a text that took the focus from the keyboard; it goes
/// with the focus. A dialog or a menu in between leaves it.
class FocusRing final : public QWidget {
  Q_OBJECT
 public:
  /// Around `widget`, where the event gives it the focus so and it is such a part.
  /// \param isKeyed  the last input was a key: the program moved the focus because of it
  static void show(QWidget& widget, const QFocusEvent& event, bool isKeyed);

 protected:
  void paintEvent(QPaintEvent* event) override;
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  explicit FocusRing(QWidget& part);
};

}  // namespace vitrine::ui
