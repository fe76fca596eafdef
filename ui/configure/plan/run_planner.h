// Plans the runs of a text off the window's thread: the newest text wins.
#pragma once

#include <QObject>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>

#include "core/config/catalog.h"
#include "core/config/experiment.h"
#include "ui/kit/background.h"

namespace vitrine::ui {

class RunPlanner : public QObject {
  Q_OBJECT
 public:
  /// planExperiment(), or what a test puts in its place.
  using Work = std::function<Plan(const std::string& text, const Catalog& catalog,
                                  const PlanLimits& limits)>;
  /// Runs that are worked out: a form shows no more of them.
  static constexpr std::size_t kMostRuns = 5'000;

  explicit RunPlanner(std::filesystem::path database, QObject* parent = nullptr, Work work = {});

  /// planned() answers, unless a newer text comes: one plan is made and one waits, never more.
  void ask(std::string text, std::shared_ptr<const Catalog> catalog);
  [[nodiscard]] bool isBusy() const { return background_.isBusy(); }
  /// The last text is planned and planned() emitted when this returns: for pictures and tests.
  void waitUntilIdle() { background_.waitUntilIdle(); }

 Q_SIGNALS:
  void planned(std::shared_ptr<const vitrine::Plan> plan);
  void failed(const QString& sentence);

 private:
  Work work_;
  Background background_;
};

}  // namespace vitrine::ui
