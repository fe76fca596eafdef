// The loading state of one page: whether the user waits for its readers, and when to read again.
#pragma once

#include <QObject>
#include <QTimer>
#include <vector>

#include "ui/kit/background.h"

namespace vitrine::ui {

class LoadingState : public QObject {
  Q_OBJECT
 public:
  static constexpr int kWaitingAfterMs = 300;  ///< what takes longer says that it is being read
  static constexpr int kCancelAfterMs = 1000;  ///< what takes longer offers to stop

  /// \param readers  outlive this object
  /// \param pauseMs  between two readings while runs write
  LoadingState(std::vector<Background*> readers, int pauseMs, QObject* parent = nullptr);

  [[nodiscard]] bool isBusy() const;
  /// Drops their results and the requests that wait.
  void cancel();
  /// Asks for again() after the pause, once for all calls until then. It waits until what is being
  /// read is there: otherwise a page that reads for longer than runs pause would never show
  /// anything.
  void readLater();
  /// Takes that back: it is being read now.
  void forgetLater() { pause_.stop(); }

 Q_SIGNALS:
  /// One of them has been busy for kWaitingAfterMs; once more for each that begins after that.
  void waiting();
  /// Busy for kCancelAfterMs.
  void cancellable();
  /// None is busy.
  void done();
  void again();

 private:
  void look();

  std::vector<Background*> readers_;
  QTimer pause_, waiting_, cancellable_;
  bool isOffered_ = false;
};

}  // namespace vitrine::ui
