// Two configurations side by side: their blocks aligned, what changed in colour, the keys that
// differ. Also the experiment that tries one difference at a time.
#pragma once

#include <QTimer>
#include <QWidget>
#include <optional>
#include <string>

#include "ui/plugins/block_diff.h"
#include "ui/workbench/headless.h"
#include "ui/workbench/page.h"

class QComboBox;
class QLabel;
class QPushButton;
class QStackedWidget;
class QToolButton;
class QTreeWidget;

namespace vitrine::ui {

class DiffView : public QWidget {
  Q_OBJECT
 public:
  explicit DiffView(Workbench& workbench, QWidget* parent = nullptr);

  /// Fills the two lists again: presets, architectures, runs, the form's present text.
  void fillSources();
  /// "preset:NAME/SIZE", "architecture:NAME", "run:7", "form".
  void choose(const QString& a, const QString& b);
  [[nodiscard]] QString sourceA() const;
  [[nodiscard]] QString sourceB() const;
  [[nodiscard]] QTreeWidget& blocks() const { return *blocks_; }
  [[nodiscard]] QTreeWidget& keys() const { return *keys_; }
  [[nodiscard]] QString error() const;
  [[nodiscard]] bool isBusy() const;
  /// The listed blocks as comma-separated text.
  [[nodiscard]] QString csv() const;
  /// The table of a figure; null before both sides are known.
  [[nodiscard]] Json tableJson() const;

 public Q_SLOTS:
  void ablate();
  void swapSides();
  void restyle();

 Q_SIGNALS:
  void sourcesChosen();

 private:
  struct Side {
    QComboBox* choice = nullptr;
    CheckProcess* check = nullptr;
    QString wanted;       ///< a source that is not listed yet
    QString asked, text;  ///< the source that was asked about, and its experiment file
    std::optional<Json> report;
    QString error;
  };
  void fill(Side& side, const QString& wanted);
  void ask(Side& side);
  void show();
  void showBlocks();
  void showKeys();
  /// Of the page of this window that edits an experiment; none before it was opened.
  [[nodiscard]] std::optional<std::string> experimentText() const;
  [[nodiscard]] std::string textOf(const QString& source, QString& failure) const;
  [[nodiscard]] QString nameOf(const Side& side) const;
  [[nodiscard]] static std::optional<Json> configOf(const Side& side);

  Workbench& workbench_;
  Side a_, b_;
  QStackedWidget* stack_ = nullptr;
  QLabel *totals_ = nullptr, *message_ = nullptr, *note_ = nullptr;
  QTreeWidget *blocks_ = nullptr, *keys_ = nullptr;
  QPushButton* ablate_ = nullptr;
  QToolButton* onlyChanges_ = nullptr;
  std::vector<BlockGroup> groups_;
  bool isFilling_ = false;
};

}  // namespace vitrine::ui
