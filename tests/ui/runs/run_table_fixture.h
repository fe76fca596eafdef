// A panel of runs whose list is shown as a table.
#pragma once

#include <QHeaderView>
#include <QMenu>
#include <QTest>
#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "tests/ui/support/find.h"
#include "tests/ui/support/qt_test.h"
#include "ui/runs/runs_panel.h"

namespace vitrine::ui {

using Ids = std::vector<std::int64_t>;
using Names = std::vector<std::string>;

class RunTables : public ::testing::Test {
 protected:
  RunTables() : panel(studio.workbench), runs(studio.runs) {
    panel.resize(1200, 900);
    panel.show();
    studio.workbench.waitForCards();  // scores come after them
    panel.setTable(true);
  }
  QHeaderView& header() { return *panel.view().header(); }
  QAbstractItemModel& shown() { return *panel.view().model(); }
  int columnOf(const std::string& id) {
    const Names& ids = panel.table().columns();
    const auto found = std::find(ids.begin(), ids.end(), id);
    return found == ids.end() ? -1 : static_cast<int>(found - ids.begin()) + 1;
  }
  QModelIndex cell(std::int64_t run, int column) {
    const auto& proxy = static_cast<QAbstractProxyModel&>(shown());
    return proxy.mapFromSource(panel.model().indexOf(run)).siblingAtColumn(column);
  }
  QString text(std::int64_t run, const std::string& id) {
    return cell(run, columnOf(id)).data().toString();
  }
  void clickHeader(int column) {
    const int x = header().sectionViewportPosition(column) + 20;
    QTest::mouseClick(header().viewport(), Qt::LeftButton, {}, {x, header().height() / 2});
  }
  /// Runs of the experiments from top to bottom.
  std::vector<Ids> order() {
    std::vector<Ids> all;
    for (int group = 0; group < shown().rowCount(); ++group) {
      Ids ids;
      const QModelIndex parent = shown().index(group, 0);
      for (int row = 0; row < shown().rowCount(parent); ++row)
        ids.push_back(shown().index(row, 0, parent).data(RunsModel::IdRole).toLongLong());
      all.push_back(ids);
    }
    return all;
  }
  /// Chooses the entry of a menu whose text is so, submenus included.
  void choose(QMenu& menu, const QString& text) {
    for (QAction* one : menu.actions())
      if (one->text().remove(QLatin1Char('&')) == text) return one->trigger();
    ADD_FAILURE() << "no entry " << text.toStdString();
  }
  /// "Seed: 0" and so on, from top to bottom.
  QStringList groups() {
    QStringList titles;
    for (int row = 0; row < shown().rowCount(); ++row)
      titles << shown().index(row, 0).data().toString();
    return titles;
  }
  /// Means of the last values of a metric over the shown runs of each group, from top to bottom;
  /// groups without a value are left out.
  std::vector<double> means(const std::string& metric) {
    std::map<std::int64_t, double> values;
    for (const auto& [run, value] : studio.writer.lastValues(metric)) values[run] = value;
    std::vector<double> all;
    for (const Ids& ids : order()) {
      double sum = 0;
      int number = 0;
      for (const std::int64_t id : ids) {
        if (!values.contains(id)) continue;
        sum += values.at(id);
        ++number;
      }
      if (number > 0) all.push_back(sum / number);
    }
    return all;
  }
  /// Mean of the last values of a metric, as the database has them, over runs that are counted.
  template <typename IsCounted>
  double meanOf(const std::string& metric, IsCounted isCounted) {
    double sum = 0;
    int number = 0;
    for (const auto& [run, value] : studio.writer.lastValues(metric)) {
      if (!isCounted(*studio.workbench.run(run))) continue;
      sum += value;
      ++number;
    }
    return sum / number;
  }

  SampleStudio studio{SampleOptions{0, 50}};
  RunsPanel panel;
  const Ids& runs;
};

}  // namespace vitrine::ui
