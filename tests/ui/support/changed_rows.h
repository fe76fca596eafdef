// How many fields of a form differ from preset and defaults.
#pragma once

#include "core/config/config.h"
#include "ui/configure/form/experiment_form.h"
#include "ui/configure/form/form_row.h"

namespace vitrine::ui {

inline int changedRows(const ExperimentForm& form) {
  int changed = 0;
  for (const auto& [key, value] : flatten(form.merged())) {
    const FormRow* row = form.row(key);
    changed += row != nullptr && row->isChanged() ? 1 : 0;
  }
  return changed;
}

}  // namespace vitrine::ui
