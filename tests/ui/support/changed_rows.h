// How many fields of a form differ from preset and defaults.
#pragma once

#include "ui/configure/form/experiment_form.h"
#include "ui/configure/form/form_row.h"

namespace vitrine::ui {

inline int changedRows(const ExperimentForm& form) {
  int changed = 0;
  for (const FormRow* row : form.findChildren<FormRow*>())
    changed += row->isChanged() && form.row(row->key()) == row ? 1 : 0;
  return changed;
}

}  // namespace vitrine::ui
