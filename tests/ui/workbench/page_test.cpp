// What every page has in common.
#include "ui/workbench/page.h"

#include <gtest/gtest.h>

#include <QApplication>
#include <QLineEdit>
#include <QTest>
#include <memory>

#include "tests/ui/support/soon.h"

namespace vitrine::ui {
namespace {

/// Counts what it is told, as a page that acts on it.
class CountingPage final : public Page {
 public:
  explicit CountingPage(int& told) : line_(new QLineEdit(this)) {
    connect(line_, &QLineEdit::editingFinished, this, [&told] { ++told; });
    connect(qApp, &QApplication::focusChanged, this, [&told] { ++told; });
  }
  void waitUntilIdle() override {}
  [[nodiscard]] QLineEdit& line() { return *line_; }

 private:
  QLineEdit* line_;
};

TEST(Page, IsToldNothingByItsPartsOnceItGoes) {
  int told = 0;
  auto page = std::make_unique<CountingPage>(told);
  bringUp(*page);
  page->line().setFocus();
  QTest::keyClicks(&page->line(), QStringLiteral("typed"));
  const int before = told;
  page.reset();
  EXPECT_EQ(told, before) << "the line has lost the focus with the window";
}

}  // namespace
}  // namespace vitrine::ui
