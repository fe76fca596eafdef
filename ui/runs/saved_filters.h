// Filters of the list of runs that the user gave a name, and the button that offers them.
#pragma once

#include <QLineEdit>
#include <QMenu>
#include <QString>
#include <QStringList>
#include <QToolButton>

namespace vitrine::ui {

/// Names of the stored filters, sorted.
[[nodiscard]] QStringList filterNames();
/// The text of a stored filter; "" where there is none of that name.
[[nodiscard]] QString storedFilter(const QString& name);

class FilterButton : public QToolButton {
  Q_OBJECT
 public:
  /// \param filter  the line that the filters are read from and written to
  explicit FilterButton(QLineEdit& filter, QWidget* parent = nullptr);
  /// Asks for a name for what the line says. Nothing is asked of an empty one.
  void askName();

 Q_SIGNALS:
  void messageSent(const QString& sentence);

 private:
  void fillMenu();

  QLineEdit& filter_;
  QMenu menu_;
};

}  // namespace vitrine::ui
