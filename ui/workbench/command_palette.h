// Everything the window can do, go to or select, by typing a few letters of its name.
#pragma once

#include <QDialog>
#include <QLineEdit>
#include <QListWidget>
#include <functional>
#include <vector>

namespace vitrine::ui {

struct Command {
  QString title;  ///< "New experiment"
  QString group;  ///< "action", "page", "run"
  QString hint;   ///< shortcut or state, shown right
  std::function<void()> act;
  bool isEnabled = true;
  QString why = {};  ///< not, where it is known
};

class CommandPalette : public QDialog {
  Q_OBJECT
 public:
  /// Of the items: what stands at their right.
  static constexpr int kHintRole = Qt::UserRole + 2;

  explicit CommandPalette(QWidget* parent);
  /// Opens in the upper middle of its parent with these commands.
  void ask(std::vector<Command> commands);
  [[nodiscard]] QLineEdit& input() { return *input_; }
  [[nodiscard]] QListWidget& list() { return *list_; }

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  void filter(const QString& text);
  void run();

  std::vector<Command> commands_;
  QLineEdit* input_;
  QListWidget* list_;
};

}  // namespace vitrine::ui
