// Lines of the form that are not fields.
#pragma once

#include <QVBoxLayout>
#include <QWidget>

#include "ui/kit/small_widgets.h"
#include "ui/kit/theme.h"

namespace vitrine::ui {

/// The column of a holder whose contents stand where the rows of the form do.
inline QVBoxLayout* lineOf(QWidget* holder, int top) {
  return columnIn(holder, {px(16), px(top), px(16), px(4)}, px(4));
}

}  // namespace vitrine::ui
