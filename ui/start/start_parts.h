// Parts of the cards of the Start page.
#pragma once

#include <QFrame>
#include <QPointer>
#include <QPushButton>
#include <QVBoxLayout>
#include <functional>
#include <vector>

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

/// A button that is off while what it started is prepared.
class StartButton final : public QPushButton {
 public:
  using QPushButton::QPushButton;
  /// The focus that it loses goes to the next part, and comes back unless the user has moved it.
  void setReady(bool isReady);

 private:
  bool hadFocus_ = false;
  QPointer<QWidget> meanwhile_;  ///< has the focus in its place
};

/// A line of a list: what it is, what about it, and one thing to do.
struct StartRow {
  QString key;  ///< of what its button does: tells it from all others
  QString name, about;
  QString act, actName, tip;  ///< of the button
  std::function<void()> use;
};

/// Shows these lines. While their keys are the same, only the words change: what a run writes
/// meanwhile takes neither a click nor the focus away. Else the focus goes to the line of that key,
/// or to the one in its place.
void showStartRows(QVBoxLayout& rows, const std::vector<StartRow>& wanted);

/// A sentence below a button; hidden where there is none. \param isProblem  in the colour of one
void setStartState(QLabel& label, const QString& sentence, bool isProblem);

}  // namespace vitrine::ui
