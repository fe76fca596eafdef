// A Compare page on a database, and hands to use its controls.
#pragma once

#include <gtest/gtest.h>

#include <QComboBox>
#include <QTableView>
#include <QTest>
#include <QToolButton>
#include <memory>
#include <vector>

#include "tests/ui/compare/ablation.h"
#include "tests/ui/support/qt_test.h"
#include "ui/compare/compare_page.h"

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
  template <class Widget>
  Widget* named(const QString& name) {
    for (auto* widget : page_->findChildren<Widget*>()) {
      if (widget->accessibleName() == name) return widget;
    }
    ADD_FAILURE() << "no widget is named " << name.toStdString();
    return nullptr;
  }
  void press(const QString& text) {
    for (auto* button : page_->findChildren<QToolButton*>()) {
      if (button->text() == text && button->isVisible()) {
        QTest::mouseClick(button, Qt::LeftButton);
        return;
      }
    }
    ADD_FAILURE() << "no button says " << text.toStdString();
  }
  void pick(const QString& combo, const QString& item) {
    auto* box = named<QComboBox>(combo);
    const int index = box->findText(item, Qt::MatchContains);
    ASSERT_GE(index, 0) << item.toStdString();
    box->setCurrentIndex(index);
    Q_EMIT box->activated(index);
    page_->waitUntilIdle();
  }
  QStringList cells(int row) {
    QStringList out;
    const QAbstractItemModel* model = page_->tableView().model();
    for (int i = 0; i < model->columnCount(); ++i) out << model->index(row, i).data().toString();
    return out;
  }
  QStringList variants() {
    QStringList out;
    const QAbstractItemModel* model = page_->tableView().model();
    for (int i = 0; i < model->rowCount(); ++i) out << model->index(i, 0).data().toString();
    return out;
  }

  SampleStudio studio_{SampleOptions{0, 0}};
  std::vector<std::int64_t> ids_;
  std::unique_ptr<ComparePage> page_;
};

}  // namespace vitrine::ui
