// A Compare page on a database, and hands to use its controls.
#pragma once

#include <gtest/gtest.h>

#include <QComboBox>
#include <QTableView>
#include <QToolButton>
#include <memory>
#include <vector>

#include "tests/ui/compare/ablation.h"
#include "tests/ui/support/find.h"
#include "tests/ui/support/qt_test.h"
#include "ui/compare/compare_page.h"
#include "ui/figures/figure_view.h"

namespace vitrine::ui {

class ComparePageTest : public ::testing::Test {
 protected:
  void fill() { ids_ = fillAblation(studio_.writer); }
  void show() {
    studio_.workbench.watcher().poll();
    page_ = std::make_unique<ComparePage>(studio_.workbench);
    page_->resize(1100, 760);
    page_->show();
    page_->waitUntilIdle();
  }
  void showFilled() {
    fill();
    show();
  }
  void press(const QString& text) { ui::press<QToolButton>(*page_, text); }
  void pick(const QString& combo, const QString& item) {
    auto* box = named<QComboBox>(*page_, combo);
    const int index = box->findText(item, Qt::MatchContains);
    ASSERT_GE(index, 0) << item.toStdString();
    box->setCurrentIndex(index);
    Q_EMIT box->activated(index);
    page_->waitUntilIdle();
  }
  FigureView& curves() {
    return *named<FigureView>(*page_, QStringLiteral("Curves of the variants"));
  }
  FigureView& difference() {
    return *named<FigureView>(*page_, QStringLiteral("Paired difference to the baseline"));
  }
  QStringList cells(int row) {
    QStringList out;
    const QAbstractItemModel* model = only<QTableView>(*page_).model();
    for (int i = 0; i < model->columnCount(); ++i) out << model->index(row, i).data().toString();
    return out;
  }
  QStringList variants() {
    QStringList out;
    const QAbstractItemModel* model = only<QTableView>(*page_).model();
    for (int i = 0; i < model->rowCount(); ++i) out << model->index(i, 0).data().toString();
    return out;
  }

  SampleStudio studio_{SampleOptions{0, 0}};
  std::vector<std::int64_t> ids_;
  std::unique_ptr<ComparePage> page_;
};

}  // namespace vitrine::ui
