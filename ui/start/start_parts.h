// Parts of the cards of the Start page.
#pragma once

#include <QFrame>
#include <QVBoxLayout>

#include "ui/kit/small_widgets.h"
#include "ui/kit/theme.h"

namespace vitrine::ui {

/// Words that wrap. \param role  of the style sheet: "muted", "small", "title"
[[nodiscard]] inline QLabel* startLabel(const QString& text, const char* role) {
  return withRole(new WordLabel(text), role);
}

/// A card with its title; what follows is added to its layout.
[[nodiscard]] inline QFrame* startCard(const QString& title, QVBoxLayout*& inside) {
  auto* card = withRole(new QFrame, "card");
  inside = columnIn(card, {px(16), px(12), px(16), px(16)}, px(8));
  inside->addWidget(startLabel(title, "title"));
  return card;
}

/// A sentence below a button; hidden where there is none. \param isProblem  in the colour of one
void setStartState(QLabel& label, const QString& sentence, bool isProblem);

}  // namespace vitrine::ui
