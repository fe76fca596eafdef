// Says above the pages what could not be stored, and offers to try again.
#pragma once

#include <QAction>
#include <QFrame>
#include <QPushButton>

#include "core/store/run_store.h"
#include "ui/kit/fit_area.h"

namespace vitrine::ui {

class LocalEdits;

/// Its actions() are what it offers, for the palette.
class StoreBar : public QFrame {
  Q_OBJECT
 public:
  StoreBar(LocalEdits& edits, store::RunReader& store, QWidget* parent = nullptr);
  /// Looks whether there is something to say.
  void look();
  [[nodiscard]] QString sentence() const;

 Q_SIGNALS:
  /// Opens the database in a new window and closes this one.
  void openAgainRequested();

 private:
  LocalEdits& edits_;
  store::RunReader& store_;
  WrapLabel* text_;
  QPushButton *try_, *open_;
  QAction *tryAction_, *openAction_;
};

}  // namespace vitrine::ui
