// The heading of a table whose name the experiment gives: [aux.NAME], [train.groups.NAME].
#pragma once

#include <QStringList>
#include <QWidget>
#include <string>
#include <vector>

class QLabel;
class QLineEdit;

namespace vitrine::ui {

class TableBar : public QWidget {
  Q_OBJECT
 public:
  /// \param place   "aux"
  /// \param what    "auxiliary network"
  /// \param others  names that it cannot have
  TableBar(std::string place, std::string name, const QString& what,
           std::vector<std::string> others, QWidget* parent = nullptr);

  [[nodiscard]] std::string path() const { return place_ + "." + name_; }
  [[nodiscard]] QLineEdit& line() const { return *line_; }
  [[nodiscard]] QString message() const;
  /// The problem of the table as a whole; "": none.
  void setMessage(const QString& message);

  /// Why a table cannot have that name; "" when it can.
  [[nodiscard]] static QString whyNot(const QString& name, const std::vector<std::string>& others);
  /// "teacher", or "teacher_2" where that is taken.
  [[nodiscard]] static std::string freeName(const std::string& wanted,
                                            const std::vector<std::string>& others);

 Q_SIGNALS:
  void renamed(const std::string& to);
  void removed();

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  void showMessage();
  void takeName();

  std::string place_, name_;
  std::vector<std::string> others_;
  QLineEdit* line_;
  QLabel* problem_;
  QString message_, refusal_;
};

}  // namespace vitrine::ui
