// What tests read of parts that keep it to themselves, and how often a part does something.
#pragma once

#include <QApplication>
#include <QEvent>
#include <QWidget>

namespace vitrine::ui {

/// Reads the parts that have it as their friend.
class Probe {
 public:
  static auto rowsMade(const auto& scene) { return scene.rowsMade_; }
  static auto measurings(const auto& label) { return label.measurings_; }
  static auto flattenings(const auto& configs) { return configs.flattenings_; }
  static auto queries(const auto& configs) { return configs.queries_; }
  static auto looked(const auto& extremes) { return extremes.looked_; }
  static const auto& cacheOf(const auto& page) { return page.cache_; }
  static auto readings(const auto& page) { return page.cache_.readings_; }
  static auto drawings(const auto& plot) { return plot.drawings_; }
  static const auto& forecast(const auto& page) { return page.forecast_; }
  static bool isReading(const auto& page) { return page.reader_.isBusy(); }
  static bool isLoading(const auto& page) { return page.loading_.isBusy(); }
  static const auto& bands(const auto& plot) { return plot.bands_; }
  static bool hasReadout(const auto& plot) { return plot.hasReadout_ && plot.cursor_.has_value(); }
  static auto looks(const auto& alerts) { return alerts.looks_; }
};

/// Counts the paint events of a widget from now on.
class PaintCount : public QObject {
 public:
  explicit PaintCount(QWidget& of) { of.installEventFilter(this); }
  [[nodiscard]] int count() const { return count_; }

 protected:
  bool eventFilter(QObject* of, QEvent* event) override {
    if (event->type() == QEvent::Paint) ++count_;
    return QObject::eventFilter(of, event);
  }

 private:
  int count_ = 0;
};

/// Counts how often widgets are given a style from now on.
class StyleCount : public QObject {
 public:
  StyleCount() { qApp->installEventFilter(this); }
  [[nodiscard]] int count() const { return count_; }

 protected:
  bool eventFilter(QObject* of, QEvent* event) override {
    if (event->type() == QEvent::StyleChange && of->isWidgetType()) ++count_;
    return QObject::eventFilter(of, event);
  }

 private:
  int count_ = 0;
};

}  // namespace vitrine::ui
