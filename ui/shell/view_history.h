// Undo for what the user chose to look at: one history for all pages, in the order of the choices.
#pragma once

#include <QObject>
#include <QString>
#include <map>
#include <vector>

#include "core/base/json.h"

namespace vitrine::ui {

class ViewHistory : public QObject {
  Q_OBJECT
 public:
  /// Steps that are kept.
  static constexpr std::size_t kMost = 200;

  struct View {
    QString page;
    Json state;
  };

  using QObject::QObject;

  /// What a page shows when it is first looked at.
  void begin(const QString& page, const Json& state);
  /// What it shows now, without a choice of the user: it has read its data, or other runs are
  /// selected.
  void setNow(const QString& page, const Json& state);
  /// The user chose another view of `page`. Choices of one kind that follow each other within the
  /// same gesture are one step.
  enum class Gesture { New, Continues };
  void add(const QString& page, const Json& state, Gesture gesture);

  [[nodiscard]] bool canUndo() const { return done_ > 0; }
  [[nodiscard]] bool canRedo() const { return done_ < steps_.size(); }
  /// The change that undo() or redo() concerns next: "zoom", "sort"; "" where there is none.
  [[nodiscard]] QString undoName() const;
  [[nodiscard]] QString redoName() const;
  /// The view that stands again; call only when it can.
  View undo();
  View redo();

 Q_SIGNALS:
  void changed();

 private:
  struct Step {
    QString page;
    Json before, after;
  };
  std::map<QString, Json> now_;
  std::vector<Step> steps_;
  std::size_t done_ = 0;  ///< steps_[0, done_) stand
};

}  // namespace vitrine::ui
