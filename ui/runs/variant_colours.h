// Colours of runs besides their usual ones: one for all seeds of a variant, on request, and those
// that a user gave them, which win.
#pragma once

#include <QObject>
#include <cstdint>
#include <map>

#include "ui/workbench/studio_workbench.h"

namespace vitrine::ui {

/// Kept for each database. Variants are those of Compare over all runs of the database. They are
/// numbered by their first runs, so that a new run changes no other colour.
class VariantColours : public QObject {
  Q_OBJECT
 public:
  VariantColours(StudioWorkbench& workbench, QObject* parent);

  [[nodiscard]] bool isOn() const { return isOn_; }
  void setOn(bool isOn);
  /// After runs were added or renamed: asks the database where runs share colours.
  void refresh();
  /// \param numbers  by run, of the palette: the colours that users gave them
  void setOwn(std::map<std::int64_t, std::int64_t> numbers);

 Q_SIGNALS:
  void switched(bool isOn);

 private:
  void set(std::map<std::int64_t, std::int64_t> numbers, std::map<std::int64_t, std::int64_t> own);

  StudioWorkbench& workbench_;
  QString key_;  ///< of the setting
  bool isOn_ = false;
  std::map<std::int64_t, std::int64_t> numbers_, own_;  ///< by run
};

}  // namespace vitrine::ui
