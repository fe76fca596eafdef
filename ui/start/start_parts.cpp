#include "ui/start/start_parts.h"

#include <algorithm>
#include <utility>

namespace vitrine::ui {
namespace {

const QString kName = QStringLiteral("name"), kAbout = QStringLiteral("about");

QWidget* makeRow(const StartRow& one) {
  auto* row = new QWidget;
  row->setObjectName(one.key);
  auto* name = new ElidedLabel(one.name);
  name->setObjectName(kName);
  auto* about = withRole(new ElidedLabel(one.about), "small");
  about->setObjectName(kAbout);
  auto* act = withName(new QPushButton(one.act), one.actName, one.tip);
  QObject::connect(act, &QPushButton::clicked, act, one.use);
  auto* texts = columnIn(nullptr, {}, 0);
  texts->addWidget(name);
  texts->addWidget(about);
  auto* line = rowIn(row, {0, px(2), 0, px(2)}, px(12));
  line->addLayout(texts, 1);
  line->addWidget(act, 0, Qt::AlignVCenter);
  return row;
}

}  // namespace

void showStartRows(QVBoxLayout& rows, const std::vector<StartRow>& wanted) {
  std::vector<QWidget*> before;
  for (int i = 0; i < rows.count(); ++i) before.push_back(rows.itemAt(i)->widget());
  const auto isOf = [](const QWidget* row, const StartRow& one) {
    return row->objectName() == one.key;
  };
  if (std::equal(before.begin(), before.end(), wanted.begin(), wanted.end(), isOf)) {
    for (std::size_t i = 0; i < before.size(); ++i) {
      before[i]->findChild<ElidedLabel*>(kName)->setText(wanted[i].name);
      before[i]->findChild<ElidedLabel*>(kAbout)->setText(wanted[i].about);
    }
    return;
  }
  for (const StartRow& one : wanted) rows.addWidget(makeRow(one));
  const auto hasFocus = [](const QWidget* row) {
    return row->isAncestorOf(row->window()->focusWidget());
  };
  if (const auto at = std::find_if(before.begin(), before.end(), hasFocus);
      at != before.end() && !wanted.empty()) {
    const auto same = std::find_if(wanted.begin(), wanted.end(),
                                   [&](const StartRow& one) { return isOf(*at, one); });
    const auto place = same != wanted.end() ? same - wanted.begin()
                                            : std::min(at - before.begin(), std::ssize(wanted) - 1);
    QWidget* row = rows.itemAt(static_cast<int>(std::ssize(before) + place))->widget();
    row->show();
    row->findChild<QPushButton*>()->setFocus();
  }
  for (QWidget* row : before) {
    row->hide();  // gives the focus to the next part where it still has it
    delete row;
  }
}

void StartButton::setReady(bool isReady) {
  if (isReady == isEnabled()) return;
  const bool hadFocus = window()->focusWidget() == this;
  setEnabled(isReady);
  QWidget* now = window()->focusWidget();
  if (!isReady) {
    hadFocus_ = hadFocus;
    meanwhile_ = now;
  } else if (std::exchange(hadFocus_, false) && now == meanwhile_.data()) {
    setFocus();
  }
}

void setStartState(QLabel& label, const QString& sentence, bool isProblem) {
  label.setProperty("role", isProblem ? QStringLiteral("error") : QStringLiteral("small"));
  label.setStyleSheet(QString());  // the role is looked at again
  sayIn(label, sentence);
}

}  // namespace vitrine::ui
