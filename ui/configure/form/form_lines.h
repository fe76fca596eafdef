// Lines of the form that are not fields.
#pragma once

#include <QLabel>
#include <QVBoxLayout>
#include <QWidget>

#include "ui/kit/theme.h"

namespace vitrine::ui {

/// The column of a holder whose contents stand where the rows of the form do.
inline QVBoxLayout* lineOf(QWidget* holder, int top) {
  auto* column = new QVBoxLayout(holder);
  column->setContentsMargins(px(16), px(top), px(16), px(4));
  column->setSpacing(px(4));
  return column;
}

inline QLabel* smallText(const QString& text, QWidget* parent) {
  auto* label = new QLabel(text, parent);
  label->setProperty("role", QStringLiteral("small"));
  label->setWordWrap(true);
  return label;
}

}  // namespace vitrine::ui
