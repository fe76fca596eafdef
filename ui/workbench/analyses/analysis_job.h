// Computes one analysis of several runs, one after the other, and stores what it gives.
#pragma once

#include <QObject>
#include <QString>
#include <cstdint>
#include <string>
#include <vector>

namespace vitrine::ui {

class Workbench;

class AnalysisJob final : public QObject {
  Q_OBJECT
 public:
  explicit AnalysisJob(Workbench& workbench, QObject* parent = nullptr);

  /// finished() or failed() answers. Does nothing while it computes, or where nothing can be
  /// computed.
  void start(const std::string& analysis, std::vector<std::int64_t> runs);
  void cancel();
  [[nodiscard]] bool isRunning() const { return ticket_ != 0; }
  /// "Computing attention_rank of 3, baseline: 2 of 4"; "" while nothing is computed.
  [[nodiscard]] const QString& sentence() const { return sentence_; }

 Q_SIGNALS:
  /// sentence() is another one.
  void progressed();
  /// All runs have it.
  void finished(const std::string& analysis);
  /// What was computed before stays.
  void failed(const QString& sentence);

 private:
  void next();
  void say(const QString& sentence);

  Workbench& workbench_;
  std::string analysis_;
  std::vector<std::int64_t> waiting_;
  std::uint64_t ticket_ = 0;  ///< ModelService::Ticket
  QString sentence_, problem_;
};

}  // namespace vitrine::ui
