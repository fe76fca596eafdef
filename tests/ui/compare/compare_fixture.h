// A store, and what the Compare page reads of it.
#pragma once

#include <gtest/gtest.h>

#include <QTemporaryDir>
#include <atomic>
#include <memory>
#include <string>

#include "core/store/run_store.h"
#include "ui/compare/compare_data.h"
#include "ui/compare/variant_curves.h"

namespace vitrine::ui {

class CompareValues : public ::testing::Test {
 protected:
  std::shared_ptr<const CompareData> read(const CompareChoice& choice = {}) {
    const std::atomic<bool> isStale = false;
    queries_ = 0;
    return readCompareData(query(), store_.runs(), choice, isStale);
  }
  store::QueryFunction query() {
    return [this](const std::string& sql) {
      ++queries_;
      return store_.query(sql);
    };
  }
  CurvePoints points(const CurveRequest& request) {
    CurvePoints points;
    for (const std::int64_t run : request.runs) points[run] = store_.points(run, request.metric);
    return points;
  }

  QTemporaryDir folder_;
  store::RunStore store_{folder_.filePath(QStringLiteral("experiments.sqlite")).toStdString()};
  int queries_ = 0;
};

}  // namespace vitrine::ui
