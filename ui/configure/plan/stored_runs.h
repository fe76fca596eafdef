// Reads stored runs for the form, off the window's thread: configurations, which never change and
// are kept, and checkpoints.
#pragma once

#include <QCache>
#include <QObject>
#include <cstdint>
#include <vector>

#include "core/base/json.h"
#include "ui/kit/background.h"

namespace vitrine::ui {

class StoredRuns : public QObject {
  Q_OBJECT
 public:
  explicit StoredRuns(std::filesystem::path database, QObject* parent = nullptr);

  /// The configuration of a run; nullptr where it is not read yet: arrived() is emitted then.
  [[nodiscard]] const Json* config(std::int64_t run);
  /// Steps of its checkpoints as they were when `sign`, anything that changes with them, was last
  /// another one; nullptr where they are not read yet.
  [[nodiscard]] const std::vector<std::int64_t>* checkpoints(std::int64_t run, std::int64_t sign);
  void waitUntilIdle();

 Q_SIGNALS:
  void arrived();
  void failed(const QString& sentence);

 private:
  QCache<std::int64_t, Json> configs_{16};  ///< by run, the last few that were asked for
  std::int64_t configAsked_ = 0;
  struct Steps {
    std::int64_t run = 0, sign = 0;
    std::vector<std::int64_t> steps;
  };
  Steps steps_;
  std::int64_t stepsAsked_ = 0, signAsked_ = 0;
  Background configReader_, stepReader_;
};

}  // namespace vitrine::ui
