// The widgets of the New Experiment page.
#include <QLabel>
#include <QPushButton>
#include <QScrollArea>
#include <QSplitter>
#include <QToolButton>
#include <QVBoxLayout>

#include "ui/configure/configure_page.h"
#include "ui/configure/document.h"
#include "ui/configure/experiment_form.h"
#include "ui/configure/side_panel.h"

namespace vitrine::ui {

QWidget* ConfigurePage::makeContent() {
  splitter_ = new QSplitter(this);
  splitter_->setChildrenCollapsible(false);
  splitter_->setHandleWidth(1);
  auto* left = new QWidget(splitter_);
  auto* column = new QVBoxLayout(left);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(0);
  auto* bar = new QHBoxLayout;
  bar->setContentsMargins(12, 8, 12, 0);
  bar->setSpacing(8);
  const auto button = [&](const QString& text, const QString& tip) {
    auto* made = new QToolButton(left);
    made->setText(text);
    made->setToolTip(tip);
    made->setAccessibleName(text);
    bar->addWidget(made);
    return made;
  };
  auto* fresh = button(QStringLiteral("New"), QStringLiteral("Start from the defaults again"));
  auto* openButton = button(QStringLiteral("Open\u2026"),
                            QStringLiteral("Open an experiment file; or drop one here"));
  fromRun_ = button(QStringLiteral("From selected run"),
                    QStringLiteral("Fill the form with the selected run's configuration"));
  bar->addStretch();
  sideButton_ = button(QStringLiteral("Changes and TOML"),
                       QStringLiteral("Show changes, sweep, variants and the text"));
  sideButton_->setCheckable(true);
  sideButton_->setChecked(true);
  column->addLayout(bar);
  auto* scroll = new QScrollArea(left);
  scroll->setWidgetResizable(true);
  scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  scroll->setVerticalScrollBarPolicy(Qt::ScrollBarAlwaysOn);  // cards keep the footer's right edge
  scroll->setFocusPolicy(Qt::NoFocus);
  form_ = new ExperimentForm(scroll);
  scroll->setWidget(form_);
  column->addWidget(scroll, 1);
  column->addWidget(makeFooter());
  side_ = new SidePanel(splitter_);
  side_->setMinimumWidth(250);
  splitter_->addWidget(left);
  splitter_->addWidget(side_);
  splitter_->setStretchFactor(0, 1);
  splitter_->setStretchFactor(1, 0);
  splitter_->setSizes({620, 290});
  connect(fresh, &QToolButton::clicked, this, [this] {
    if (form_->catalog() != nullptr)
      setText(toText(ExperimentForm::freshDocument(*form_->catalog())));
  });
  connect(openButton, &QToolButton::clicked, this, &ConfigurePage::open);
  connect(fromRun_, &QToolButton::clicked, this,
          [this] { startFrom(workbench_.selection().current()); });
  connect(sideButton_, &QToolButton::clicked, this, [this](bool isChecked) {
    isSideChosen_ = true;
    isSideWanted_ = isChecked;
    placeSide();
  });
  return splitter_;
}

QWidget* ConfigurePage::makeFooter() {
  auto* holder = new QWidget(this);
  auto* around = new QVBoxLayout(holder);
  around->setContentsMargins(12, 0, 12, 12);
  auto* card = new QFrame(holder);
  card->setProperty("role", QStringLiteral("card"));
  around->addWidget(card);
  auto* column = new QVBoxLayout(card);
  column->setContentsMargins(16, 12, 16, 12);
  column->setSpacing(6);
  headline_ = new QLabel(card);
  headline_->setProperty("role", QStringLiteral("title"));
  headline_->setWordWrap(true);
  details_ = new QLabel(card);
  details_->setProperty("role", QStringLiteral("muted"));
  details_->setWordWrap(true);
  warning_ = new QLabel(card);
  warning_->setProperty("role", QStringLiteral("warn"));
  warning_->setWordWrap(true);
  warning_->setTextInteractionFlags(Qt::TextSelectableByMouse);
  for (QLabel* label : {headline_, details_, warning_}) column->addWidget(label);
  auto* line = new QHBoxLayout;
  line->setSpacing(8);
  start_ = new QPushButton(QStringLiteral("Start"), card);
  start_->setProperty("primary", true);
  start_->setToolTip(
      QStringLiteral("Put these runs into the queue, which starts them when their device is free "
                     "(Ctrl+Return)"));
  front_ = new QPushButton(QStringLiteral("Start in front"), card);
  front_->setToolTip(QStringLiteral("Before all others in the queue (Ctrl+Shift+Return)"));
  auto* saveButton = new QPushButton(QStringLiteral("Save as TOML\u2026"), card);
  auto* copy = new QPushButton(QStringLiteral("Copy as command"), card);
  copy->setToolTip(QStringLiteral("The command that starts the same runs in a terminal"));
  for (QPushButton* one : {start_, front_, saveButton, copy}) line->addWidget(one);
  line->addStretch();
  column->addLayout(line);
  connect(start_, &QPushButton::clicked, this, [this] { start(QueueEnd::Back); });
  connect(front_, &QPushButton::clicked, this, [this] { start(QueueEnd::Front); });
  connect(&enqueue_, &EnqueueProcess::finished, this, &ConfigurePage::onEnqueued);
  connect(&enqueue_, &EnqueueProcess::failed, this, [this](const QString& sentence) {
    showCost();
    workbench_.say(sentence);
  });
  connect(saveButton, &QPushButton::clicked, this, &ConfigurePage::save);
  connect(copy, &QPushButton::clicked, this, &ConfigurePage::copyAsCommand);
  return holder;
}

}  // namespace vitrine::ui
