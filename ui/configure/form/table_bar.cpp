#include "ui/configure/form/table_bar.h"

#include <QKeyEvent>
#include <QLabel>
#include <QLineEdit>
#include <QRegularExpression>
#include <QToolButton>
#include <algorithm>

#include "ui/kit/small_widgets.h"
#include "ui/kit/theme.h"

namespace vitrine::ui {

namespace {

constexpr int kBarTitleWidth = 150;  // of the rows below
constexpr int kNameWidth = 190;

}  // namespace

TableBar::TableBar(std::string place, std::string name, const QString& what,
                   std::vector<std::string> others, QWidget* parent)
    : QWidget(parent),
      place_(std::move(place)),
      name_(std::move(name)),
      others_(std::move(others)),
      line_(new QLineEdit(QString::fromStdString(name_), this)),
      problem_(wrappedLabel("error", this)) {
  auto* column = columnIn(this, {px(16), px(10), px(16), px(2)}, px(2));
  auto* row = rowIn(nullptr, {}, px(8));
  auto* title = new QLabel(tr("Name"), this);
  title->setFixedWidth(px(kBarTitleWidth));
  title->setBuddy(line_);
  title->setToolTip(QString::fromStdString(path()));
  QFont bold = title->font();
  bold.setWeight(QFont::DemiBold);
  title->setFont(bold);
  line_->setFixedWidth(px(kNameWidth));
  line_->setFont(bold);
  line_->setMaxLength(40);
  line_->setAccessibleName(tr("Name of the %1 %2").arg(what, line_->text()));
  line_->setToolTip(
      tr("Lower-case letters, digits and _; Return applies the name, Escape restores "
         "it"));
  line_->installEventFilter(this);
  auto* remove =
      makeQuietButton(tr("Remove"), tr("Remove the %1 %2").arg(what, line_->text()), this);
  row->addWidget(title);
  row->addWidget(line_);
  row->addWidget(remove);
  row->addStretch();
  column->addLayout(row);
  problem_->hide();
  auto* below = rowIn(nullptr, {px(kBarTitleWidth + 8), 0, 0, 0});
  below->addWidget(problem_);
  column->addLayout(below);
  connect(line_, &QLineEdit::editingFinished, this, &TableBar::takeName);
  connect(line_, &QLineEdit::textEdited, this, [this](const QString& text) {
    refusal_ = text.toStdString() == name_ ? QString() : whyNot(text, others_);
    showMessage();
  });
  connect(remove, &QToolButton::clicked, this, &TableBar::removed);
}

QString TableBar::whyNot(const QString& name, const std::vector<std::string>& others) {
  static const QRegularExpression kIdentifier(QStringLiteral("^[a-z][a-z0-9_]{0,39}$"));
  if (name.isEmpty()) return tr("a name is needed: lower-case letters, digits and _");
  if (!kIdentifier.match(name).hasMatch()) {
    return tr("\u201c%1\u201d is not a name: use at most 40 lower-case letters, digits and _, a "
              "letter first")
        .arg(name);
  }
  const bool isTaken = std::find(others.begin(), others.end(), name.toStdString()) != others.end();
  return isTaken ? tr("\u201c%1\u201d is used already; choose another name").arg(name) : QString();
}

std::string TableBar::freeName(const std::string& wanted, const std::vector<std::string>& others) {
  std::string name = wanted;
  for (int i = 2; std::find(others.begin(), others.end(), name) != others.end(); ++i)
    name = wanted + "_" + std::to_string(i);
  return name;
}

void TableBar::takeName() {
  const std::string wanted = line_->text().toStdString();
  if (wanted == name_) return;
  refusal_ = whyNot(line_->text(), others_);
  showMessage();
  if (!refusal_.isEmpty()) return;
  Q_EMIT renamed(wanted);
}

QString TableBar::message() const { return refusal_.isEmpty() ? message_ : refusal_; }

void TableBar::setMessage(const QString& message) {
  message_ = message;
  showMessage();
}

void TableBar::showMessage() {
  sayIn(*problem_, message());
  line_->setAccessibleDescription(message());
  restyle(*line_, "invalid", !message().isEmpty());
}

bool TableBar::eventFilter(QObject* watched, QEvent* event) {
  if (event->type() == QEvent::KeyPress &&
      static_cast<QKeyEvent*>(event)->key() == Qt::Key_Escape) {
    line_->setText(QString::fromStdString(name_));
    refusal_.clear();
    showMessage();
    return true;
  }
  return QWidget::eventFilter(watched, event);
}

}  // namespace vitrine::ui
