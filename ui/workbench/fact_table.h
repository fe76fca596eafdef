// Labels and values in two columns, as tall as its rows; selectable, copied with Ctrl+C.
#pragma once

#include <QTreeWidget>

#include "ui/workbench/run_facts.h"

namespace vitrine::ui {

class FactTable : public QTreeWidget {
  Q_OBJECT
 public:
  explicit FactTable(const QString& accessibleName, QWidget* parent = nullptr);
  void setFacts(const std::vector<Fact>& facts);
  /// Width of the labels; less where a value would be cut, and never more than their share.
  void setLabelWidth(int pixels) { labelWidth_ = pixels; }

  QSize sizeHint() const override;
  QSize minimumSizeHint() const override;

 protected:
  void keyPressEvent(QKeyEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;

 private:
  void fitColumns();
  int labelWidth_ = 0;
};

}  // namespace vitrine::ui
