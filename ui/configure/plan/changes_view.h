// Differences of the experiment from the defaults, from any run, or from the nearest one.
#pragma once

#include <QWidget>
#include <cstdint>
#include <vector>

#include "core/config/config.h"

class QCheckBox;
class QComboBox;
class QLabel;
class QScrollArea;

namespace vitrine::ui {

class ChangesView : public QWidget {
  Q_OBJECT
 public:
  explicit ChangesView(QWidget* parent = nullptr);

  /// What the changes are counted from.
  enum class Against { Defaults, Nearest, Run };
  [[nodiscard]] Against against() const;
  /// Of Against::Run.
  [[nodiscard]] std::int64_t run() const;
  /// Offers the selected run; 0 where none is.
  void setSelectedRun(std::int64_t run);
  /// Compares with a run that was picked.
  void compareWith(std::int64_t run);
  void setAgainst(Against against);
  [[nodiscard]] bool showsAll() const;
  void setShowsAll(bool isAll);

  /// \param note  one sentence on what it is compared with, or ""
  /// \param same  keys that both say the same of, shown when all are asked for
  void show(const std::vector<Difference>& changes, const QString& note,
            const std::vector<std::pair<std::string, Json>>& same);
  /// Where the choice stands: in the corner of the heading.
  [[nodiscard]] QComboBox* choice() const { return against_; }

 Q_SIGNALS:
  void againstChanged();
  void chooseRequested();  ///< any run, from a list
  void keyRequested(const QString& key);

 protected:
  void resizeEvent(QResizeEvent* event) override;

 private:
  void fit();
  void offer(std::int64_t run, const QString& label, const QString& role);

  QComboBox* against_;
  QLabel *note_, *changes_;
  QScrollArea* list_;
  QCheckBox* all_;
  int last_ = 0;  ///< the choice before "Choose a run"
};

/// "64", "none": short enough for a line.
[[nodiscard]] QString shortValue(const Json& value);

}  // namespace vitrine::ui
