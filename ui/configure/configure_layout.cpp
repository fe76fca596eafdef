// The widgets of the New Experiment page.
#include <QFrame>
#include <QLabel>
#include <QLineEdit>
#include <QMenu>
#include <QPushButton>
#include <QScrollArea>
#include <QSplitter>
#include <QStackedWidget>
#include <QToolButton>

#include "core/config/edit/document.h"
#include "ui/configure/configure_page.h"
#include "ui/configure/form/experiment_form.h"
#include "ui/configure/form/form_row.h"
#include "ui/configure/plan/side_panel.h"
#include "ui/kit/fit_area.h"
#include "ui/kit/flow_row.h"
#include "ui/kit/icons.h"
#include "ui/kit/menus.h"
#include "ui/kit/small_widgets.h"
#include "ui/kit/theme.h"
#include "ui/kit/value_text.h"
#include "ui/workbench/page_commands.h"

namespace vitrine::ui {

void ConfigurePage::makeActions() {
  menu_ = std::make_unique<QMenu>(tr("Experiment"));
  const auto add = [this](const QString& text, const QList<QKeySequence>& keys, auto slot) {
    QAction* made = addAction(text, this, slot);
    made->setShortcuts(keys);
    made->setShortcutContext(Qt::WidgetWithChildrenShortcut);
    menu_->addAction(made);
    keys_ << made;
    return made;
  };
  add(tr("New experiment from the defaults"), {}, [this] {
    if (form_->catalog() != nullptr) setText(toText(freshDocument(*form_->catalog())));
  });
  add(tr("Open experiment\u2026"), {}, [this] { open(); });
  add(tr("Clone a run\u2026"), {}, [this] { cloneRun(); });
  add(tr("Save experiment"), {QKeySequence(Qt::CTRL | Qt::Key_S)}, [this] { save(); });
  add(tr("Save experiment as\u2026"), {QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_S)},
      [this] { saveAs(); });
  add(tr("Copy as command"), {}, [this] { copyAsCommand(); });
  menu_->addSeparator();
  undoAction_ = add(tr("Undo"), {QKeySequence(Qt::CTRL | Qt::Key_Z)}, [this] { undo(); });
  redoAction_ =
      add(tr("Redo"),
          {QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_Z), QKeySequence(Qt::CTRL | Qt::Key_Y)},
          [this] { redo(); });
  findAction_ = add(tr("Find a field"), {QKeySequence(Qt::CTRL | Qt::Key_F)}, [this] { find(); });
  menu_->addSeparator();
  startAction_ =
      add(tr("Start the experiment"),
          {QKeySequence(Qt::CTRL | Qt::Key_Return), QKeySequence(Qt::CTRL | Qt::Key_Enter)},
          [this] { start(jobs::QueueEnd::Back); });
  queueAction_ = add(tr("Queue the experiment"), {}, [this] { queueUp(); });
  frontAction_ = add(tr("Queue the experiment first"),
                     {QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_Return),
                      QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_Enter)},
                     [this] { start(jobs::QueueEnd::Front); });
  menuAction_ = menu_->menuAction();
  menuAction_->setText(tr("Experiment"));
  menuAction_->setToolTip(tr("All commands for this experiment"));
}

QList<QAction*> ConfigurePage::tools() { return {undoAction_, redoAction_, menuAction_}; }

QWidget* ConfigurePage::makeBar() {
  auto* holder = new QWidget(this);
  auto* column = columnIn(holder, {px(12), px(8), px(12), 0}, px(4));
  auto* bar = rowIn(nullptr, {}, px(8));
  const auto button = [&](const QString& text, const QString& tip) {
    auto* made = withName(makeToolButton(text, tip, holder), text);
    made->setProperty(kListed, false);  // the menu "Experiment" says the same
    bar->addWidget(made);
    return made;
  };
  auto* fresh = button(tr("New"), tr("Start from the defaults again"));
  auto* openButton = button(tr("Open\u2026"), tr("Open an experiment file; or drop one here"));
  auto* clone = button(tr("Clone\u2026"), tr("Fill the form with the configuration of a run"));
  search_ = makeSearchField(tr("Find a field"), tr("Find a field: name, key or meaning"), holder);
  search_->setToolTip(tr("Find a field; Return goes to the first"));
  showKeyOf(findAction_, *search_);
  search_->setMinimumWidth(px(120));
  bar->addWidget(search_, 1);
  clone->setAccessibleName(tr("Clone a run"));
  sideButton_ = button(QString(), tr("Show changes, sweep, variants, planned runs and TOML"));
  sideButton_->setIcon(icon(Icon::Panel));
  sideButton_->setIconSize(QSize(px(16), px(16)));
  sideButton_->setAccessibleName(tr("Changes, planned runs and TOML"));
  sideButton_->setProperty(kListed, tr("Show changes, planned runs and TOML"));
  sideButton_->setCheckable(true);
  sideButton_->setChecked(true);
  column->addLayout(bar);
  auto* notes = new QHBoxLayout;
  searchNote_ = withRole(new QLabel(holder), "small");
  searchNote_->hide();
  originLabel_ = withRole(new ElidedLabel(holder), "small");
  originLabel_->hide();
  notes->addWidget(originLabel_, 1);
  notes->addWidget(searchNote_);
  column->addLayout(notes);
  connect(fresh, &QToolButton::clicked, this, [this] {
    if (form_->catalog() != nullptr) setText(toText(freshDocument(*form_->catalog())));
  });
  connect(openButton, &QToolButton::clicked, this, &ConfigurePage::open);
  connect(clone, &QToolButton::clicked, this, &ConfigurePage::cloneRun);
  connect(sideButton_, &QToolButton::clicked, this, [this](bool isChecked) {
    isSideChosen_ = true;
    isSideWanted_ = isChecked;
    placeSide();
    Q_EMIT viewChanged();
  });
  connect(search_, &QLineEdit::textChanged, this, [this](const QString& text) {
    const int found = form_->search(text);
    const bool isSearching = !text.trimmed().isEmpty();
    searchNote_->setText(found == 0 ? tr("No field matches.")
                                    : counted(found, tr("field"), tr("fields")));
    searchNote_->setVisible(isSearching);
  });
  connect(search_, &QLineEdit::returnPressed, this, [this] {
    if (FormRow* row = form_->firstFound(); row != nullptr) {
      row->editor().input()->setFocus(Qt::ShortcutFocusReason);
      scroll_->ensureWidgetVisible(row);
    }
  });
  return holder;
}

QWidget* ConfigurePage::makeContent() {
  splitter_ = new QSplitter(stack_);
  splitter_->setChildrenCollapsible(false);
  splitter_->setHandleWidth(1);
  auto* left = new QWidget(this);  // from the beginning in the window: the form is tabbed first
  splitter_->addWidget(makeFitArea(left, splitter_));
  auto* column = columnIn(left, {}, 0);
  column->addWidget(makeBar());
  scroll_ = new QScrollArea(left);
  scroll_->setWidgetResizable(true);
  scroll_->setMinimumHeight(px(140));
  scroll_->setVerticalScrollBarPolicy(Qt::ScrollBarAlwaysOn);  // cards keep the footer's right edge
  scroll_->setFocusPolicy(Qt::NoFocus);
  form_ = new ExperimentForm(scroll_);
  scroll_->setWidget(form_);
  column->addWidget(scroll_, 1);
  column->addWidget(makeFooter());
  side_ = new SidePanel(splitter_);
  side_->setMinimumWidth(px(300));
  splitter_->addWidget(side_);
  splitter_->setStretchFactor(0, 1);
  splitter_->setStretchFactor(1, 0);
  splitter_->setSizes({620, px(330)});
  return splitter_;
}

QWidget* ConfigurePage::makeNotice() {
  notice_ = withRole(new QFrame(this), "card");
  auto* line = rowIn(notice_, {px(16), px(8), px(16), px(8)}, px(8));
  noticeText_ = withRole(new WrapLabel(notice_), "warn");
  line->addWidget(noticeText_, 1);
  noticeOpen_ = new QPushButton(tr("Open it"), notice_);
  noticeSeed_ = new QPushButton(tr("Use another seed"), notice_);
  line->addWidget(noticeOpen_);
  line->addWidget(noticeSeed_);
  notice_->hide();
  connect(noticeOpen_, &QPushButton::clicked, this, [this] {
    std::vector<std::int64_t> ids;
    for (const RunForecast& one : forecast_.runs) {
      if (one.existing != 0) ids.push_back(one.existing);
    }
    if (ids.empty()) return;
    workbench_.selection().setRuns(ids, ids.front());
    workbench_.showPage(QStringLiteral("monitor"));
  });
  connect(noticeSeed_, &QPushButton::clicked, this, &ConfigurePage::useFreeSeed);
  return notice_;
}

QWidget* ConfigurePage::makeFooter() {
  auto* holder = new QWidget(this);
  auto* around = columnIn(holder, {px(12), 0, px(12), px(12)}, px(8));
  around->addWidget(makeNotice());
  auto* card = withRole(new QFrame(holder), "card");
  around->addWidget(card);
  auto* column = columnIn(card, {px(16), px(12), px(16), px(12)}, px(6));
  headline_ = withRole(new WrapLabel(card), "title");
  details_ = withRole(new WrapLabel(card), "muted");
  details_->setTextInteractionFlags(Qt::TextBrowserInteraction);
  warning_ = withRole(new WrapLabel(card), "warn");
  warning_->setTextInteractionFlags(Qt::TextSelectableByMouse);
  for (QLabel* label : {headline_, details_, warning_}) column->addWidget(label);
  auto* buttons = new FlowBar(card);
  FlowRow* line = &buttons->row();
  start_ = new QPushButton(tr("Start"), card);
  start_->setProperty("primary", true);
  showKeyOf(startAction_, *start_);
  start_->setToolTip(
      tr("Put these runs into the queue, which starts them when their device is free, "
         "and show them"));
  queue_ = new QPushButton(tr("Queue"), card);
  queue_->setToolTip(tr("Put these runs at the queue's end and stay here"));
  front_ = new QPushButton(tr("Queue first"), card);
  showKeyOf(frontAction_, *front_);
  front_->setToolTip(tr("Before all others in the queue"));
  auto* saveButton = withName(new QPushButton(tr("Save\u2026"), card), tr("Save as TOML"),
                              tr("Save the experiment as TOML"));
  auto* copy = new QPushButton(tr("Copy command"), card);
  copy->setToolTip(tr("The command that starts the same runs in a terminal"));
  for (QPushButton* one : {start_, queue_, front_, saveButton, copy}) {
    one->setProperty(kListed, false);  // the menu "Experiment" says the same
    line->addWidget(one);
  }
  column->addWidget(buttons);
  connect(details_, &QLabel::linkActivated, this,
          [this](const QString& key) { reveal(key.toStdString()); });
  connect(start_, &QPushButton::clicked, this, [this] { start(jobs::QueueEnd::Back); });
  connect(queue_, &QPushButton::clicked, this, &ConfigurePage::queueUp);
  connect(front_, &QPushButton::clicked, this, [this] { start(jobs::QueueEnd::Front); });
  check_.setLink(workbench_.link());
  enqueue_.setLink(workbench_.link());
  connect(&enqueue_, &EnqueueProcess::finished, this, &ConfigurePage::onEnqueued);
  connect(&enqueue_, &EnqueueProcess::failed, this, [this](const QString& sentence) {
    // A plugin or a file may be another one by now: the next Start is of a fresh look.
    report_.reset();
    checkTimer_.start();
    showCost();
    workbench_.showError(sentence);
  });
  connect(saveButton, &QPushButton::clicked, this, &ConfigurePage::saveAs);
  connect(copy, &QPushButton::clicked, this, &ConfigurePage::copyAsCommand);
  return holder;
}

Json ConfigurePage::viewState() const {
  Json groups = Json::object();
  for (const FormSection* section : form_->sections()) {
    groups[section->name().toStdString()] = {{"open", section->isOpen()},
                                             {"all_fields", section->isUnfolded()}};
  }
  Json state{{"groups", groups}, {"side", side_->viewState()}};
  if (isSideChosen_) state["side_panel"] = isSideWanted_;
  return state;
}

void ConfigurePage::setViewState(const Json& state) {
  if (!state.is_object()) return;
  for (FormSection* section : form_->sections()) {
    const Json& one = stateTable(stateTable(state, "groups"), section->name().toStdString());
    section->setOpen(stateFlag(one, "open", section->isOpen()));
    section->setUnfolded(stateFlag(one, "all_fields", section->isUnfolded()));
  }
  side_->setViewState(stateMember(state, "side"));
  isSideChosen_ = stateMember(state, "side_panel").is_boolean();
  isSideWanted_ = stateFlag(state, "side_panel", isSideWanted_);
  placeSide();
}

QString ConfigurePage::howToRead() const {
  return tr(
      "Every field comes from the schema of a plugin, with its meaning and range next to it. A bar "
      "at the left marks a field that differs from the preset or the default; the arrow restores "
      "it.\n\n"
      "The menu of a field makes a sweep axis or a variant of it. Runs are variants \u00d7 axes "
      "\u00d7 seeds. \u201cPlanned runs\u201d lists each with its differences from the first, its "
      "estimated time, and whether it exists already. Clear its check box to exclude a run; the "
      "TOML gets an [[exclude]].\n\n"
      "Changes compares with the defaults, with any run, or with the run that has the fewest other "
      "keys. Form and TOML are the same experiment: edit either. Undo takes back one "
      "step of either.");
}

}  // namespace vitrine::ui
