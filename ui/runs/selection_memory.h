// The selection of runs that a database had when its window was last open.
#pragma once

#include <QString>

#include "ui/workbench/studio_workbench.h"

namespace vitrine::ui {

/// The name of a setting that each database has for itself, known by its UUID wherever the file is:
/// "selections/<uuid>".
[[nodiscard]] QString databaseSetting(const QString& group, store::RunReader& store);

class SelectionMemory {
 public:
  explicit SelectionMemory(store::RunReader& store);
  void keep(const Selection& selection) const;
  /// Selects those of the kept runs that are still there. \returns  whether there was one
  bool restore(StudioWorkbench& workbench) const;

 private:
  QString key_;  ///< of the setting
};

}  // namespace vitrine::ui
