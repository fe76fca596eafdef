#include "ui/shell/inspector.h"

#include <QClipboard>
#include <QGuiApplication>
#include <QHBoxLayout>
#include <QMenu>
#include <QScrollArea>
#include <QStyle>
#include <QVBoxLayout>

#include "core/base/error.h"
#include "core/base/text.h"
#include "ui/shell/icons.h"
#include "ui/shell/theme.h"

namespace vitrine::ui {
namespace {

QToolButton* quietButton(const QString& text, const QString& name) {
  auto* button = new QToolButton;
  button->setText(text);
  button->setAccessibleName(name);
  button->setProperty("quiet", true);
  return button;
}

QString tagLine(const std::vector<std::string>& tags) {
  QStringList list;
  for (const std::string& tag : tags) list << QString::fromStdString(tag);
  return list.join(QStringLiteral(", "));
}

}  // namespace

ConflictBar::ConflictBar(const QString& what, QWidget* parent) : QFrame(parent) {
  auto* sentence = new QLabel(
      tr("Somebody else changed the %1 meanwhile. Yours is above, theirs is this:").arg(what));
  sentence->setProperty("role", "warn");
  sentence->setWordWrap(true);
  text_ = new QLabel;
  text_->setTextFormat(Qt::PlainText);
  text_->setWordWrap(true);
  text_->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
  text_->setAccessibleName(tr("What somebody else wrote as %1").arg(what));
  auto* mine = new QPushButton(tr("Keep mine"));
  mine->setAccessibleName(tr("Keep my %1").arg(what));
  mine->setToolTip(tr("Yours replaces theirs, which stays in the history of the run"));
  auto* theirs = new QPushButton(tr("Take theirs"));
  theirs->setAccessibleName(tr("Take their %1").arg(what));
  theirs->setToolTip(tr("Theirs stands; yours stays in the history of the run"));
  auto* buttons = new QHBoxLayout;
  buttons->setContentsMargins(0, 0, 0, 0);
  buttons->addWidget(mine);
  buttons->addWidget(theirs);
  buttons->addStretch();
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, px(4));
  layout->setSpacing(px(4));
  layout->addWidget(sentence);
  layout->addWidget(text_);
  layout->addLayout(buttons);
  connect(mine, &QPushButton::clicked, this, &ConflictBar::mineChosen);
  connect(theirs, &QPushButton::clicked, this, &ConflictBar::theirsChosen);
  hide();
}

void ConflictBar::open(const QString& theirs, std::int64_t version) {
  version_ = version;
  text_->setText(theirs.isEmpty() ? tr("(nothing)") : theirs);
  setVisible(true);
}

QWidget* Inspector::section(const QString& title, QWidget* right, QWidget* content) {
  auto* box = new QWidget;
  auto* layout = new QVBoxLayout(box);
  layout->setContentsMargins(0, px(4), 0, 0);
  layout->setSpacing(px(4));
  auto* header = new QHBoxLayout;
  header->setContentsMargins(px(12), 0, px(8), 0);
  auto* label = new QLabel(title);
  label->setProperty("role", "title");
  header->addWidget(label);
  header->addStretch();
  if (right != nullptr) header->addWidget(right);
  auto* rule = new QFrame;
  rule->setProperty("role", "rule");
  auto* inner = new QVBoxLayout;
  inner->setContentsMargins(px(8), 0, px(8), 0);
  inner->addWidget(content);
  layout->addLayout(header);
  layout->addWidget(rule);
  layout->addLayout(inner);
  return box;
}

Inspector::Inspector(StudioWorkbench& workbench, QWidget* parent)
    : QWidget(parent), workbench_(workbench) {
  setProperty("role", "panel");
  setAttribute(Qt::WA_StyledBackground);

  state_ = new QLabel;
  state_->setAccessibleName(tr("State"));
  reason_ = new QLabel;
  reason_->setWordWrap(true);
  reason_->setContentsMargins(0, px(4), 0, px(4));
  reason_->setTextInteractionFlags(Qt::TextSelectableByMouse);
  facts_ = new FactTable(tr("Facts of the run"));
  facts_->setLabelWidth(134);
  configTable_ = new FactTable(tr("Configuration of the run"));
  environmentTable_ = new FactTable(tr("Environment of the run"));
  environmentTable_->setLabelWidth(120);

  auto* stateRow = new QHBoxLayout;
  stateRow->setContentsMargins(px(12), px(8), px(12), 0);
  auto* stateLabel = new QLabel(tr("State"));
  stateLabel->setProperty("role", "muted");
  stateLabel->setFixedWidth(px(130));
  stateRow->addWidget(stateLabel);
  auto* stateHolder = new QHBoxLayout;
  stateHolder->addWidget(state_);
  stateHolder->addStretch();
  stateRow->addLayout(stateHolder, 1);
  auto* factsHolder = new QVBoxLayout;
  factsHolder->setContentsMargins(px(8), 0, px(8), 0);
  factsHolder->addWidget(facts_);
  auto* reasonHolder = new QVBoxLayout;
  reasonHolder->setContentsMargins(px(12), 0, px(12), 0);
  reasonHolder->addWidget(reason_);

  filterButton_ =
      quietButton(tr("differs from baseline"), tr("Which configuration keys are shown"));
  filterButton_->setPopupMode(QToolButton::InstantPopup);
  auto* filterMenu = new QMenu(filterButton_);
  const std::pair<ConfigFilter, QString> filters[] = {
      {ConfigFilter::Baseline, tr("differs from baseline")},
      {ConfigFilter::Default, tr("differs from default")},
      {ConfigFilter::All, tr("all keys")},
  };
  for (const auto& [filter, title] : filters) {
    connect(filterMenu->addAction(title), &QAction::triggered, this,
            [this, filter = filter, title = title] {
              filter_ = filter;
              filterButton_->setText(title);
              showConfig();
            });
  }
  filterButton_->setMenu(filterMenu);
  configHint_ = new QLabel;
  configHint_->setProperty("role", "small");
  configHint_->setWordWrap(true);
  auto* configBox = new QWidget;
  auto* configLayout = new QVBoxLayout(configBox);
  configLayout->setContentsMargins(0, 0, 0, 0);
  configLayout->addWidget(configHint_);
  configLayout->addWidget(configTable_);

  auto* repeat = quietButton(tr("Copy command to repeat"), tr("Copy command to repeat"));
  repeat->setIcon(icon(Icon::Copy));
  repeat->setToolButtonStyle(Qt::ToolButtonTextBesideIcon);
  connect(repeat, &QToolButton::clicked, this, [this] {
    const RunRow* row = workbench_.run(run_);
    if (row == nullptr) return;
    QGuiApplication::clipboard()->setText(repeatCommand(*row, config_));
    workbench_.say(tr("Copied: paste it into a terminal to train run %1 again.").arg(run_));
  });

  auto* newFrom = quietButton(tr("New from this run"), tr("New from this run"));
  newFrom->setIcon(icon(Icon::Plus));
  newFrom->setToolButtonStyle(Qt::ToolButtonTextBesideIcon);
  newFrom->setToolTip(tr("Fill the form with this run's configuration (Ctrl+Shift+N)"));
  connect(newFrom, &QToolButton::clicked, this, [this] {
    if (run_ != 0) workbench_.newFromRun(run_);
  });
  configLayout->addWidget(newFrom, 0, Qt::AlignLeft);

  auto* environmentBox = new QWidget;
  auto* environmentLayout = new QVBoxLayout(environmentBox);
  environmentLayout->setContentsMargins(0, 0, 0, 0);
  environmentLayout->addWidget(environmentTable_);
  environmentLayout->addWidget(repeat, 0, Qt::AlignLeft);

  auto* noteBox = new QWidget;
  auto* noteLayout = new QVBoxLayout(noteBox);
  noteLayout->setContentsMargins(px(4), px(4), px(4), 0);
  noteLayout->setSpacing(px(8));
  note_ = new QPlainTextEdit;
  note_->setAccessibleName(tr("Note on the run"));
  note_->setPlaceholderText(tr("Note"));
  note_->setTabChangesFocus(true);
  note_->setFixedHeight(px(56));
  tags_ = new QLineEdit;
  tags_->setAccessibleName(tr("Tags of the run, separated by commas"));
  tags_->setPlaceholderText(tr("Tags, separated by commas"));
  noteConflict_ = new ConflictBar(tr("note"));
  tagsConflict_ = new ConflictBar(tr("tags"));
  connect(noteConflict_, &ConflictBar::mineChosen, this, [this] { keepMine(RunField::Note); });
  connect(noteConflict_, &ConflictBar::theirsChosen, this, [this] { takeTheirs(RunField::Note); });
  connect(tagsConflict_, &ConflictBar::mineChosen, this, [this] { keepMine(RunField::Tags); });
  connect(tagsConflict_, &ConflictBar::theirsChosen, this, [this] { takeTheirs(RunField::Tags); });
  noteLayout->addWidget(note_);
  noteLayout->addWidget(noteConflict_);
  noteLayout->addWidget(tags_);
  noteLayout->addWidget(tagsConflict_);

  auto* follow = quietButton(tr("follow"), tr("Follow the log"));
  follow->setCheckable(true);
  follow->setChecked(true);
  log_ = new LogTail;
  log_->setMinimumHeight(px(120));
  connect(follow, &QToolButton::toggled, log_, &LogTail::setFollowing);
  auto* logBox = new QWidget;
  auto* logLayout = new QVBoxLayout(logBox);
  logLayout->setContentsMargins(px(4), px(4), px(4), px(8));
  logLayout->addWidget(log_);

  auto* content = new QWidget;
  content->setProperty("role", "panel");
  auto* layout = new QVBoxLayout(content);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(px(8));
  auto* top = new QVBoxLayout;
  top->setSpacing(px(2));
  top->addLayout(stateRow);
  top->addLayout(reasonHolder);
  top->addLayout(factsHolder);
  layout->addLayout(top);
  layout->addWidget(section(tr("Configuration"), filterButton_, configBox));
  layout->addWidget(section(tr("Log"), follow, logBox), 1);
  layout->addWidget(section(tr("Notes and tags"), nullptr, noteBox));
  layout->addWidget(section(tr("Environment"), nullptr, environmentBox));
  layout->addSpacing(px(8));
  auto* scroll = new QScrollArea;
  scroll->setWidget(content);
  scroll->setWidgetResizable(true);
  scroll->setFrameShape(QFrame::NoFrame);
  scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  scroll->setFocusPolicy(Qt::NoFocus);

  auto* empty = new QLabel(tr("Select a run to see its state, configuration and log."));
  empty->setProperty("role", "muted");
  empty->setWordWrap(true);
  empty->setAlignment(Qt::AlignTop | Qt::AlignLeft);
  empty->setContentsMargins(px(12), px(12), px(12), px(12));
  stack_ = new QStackedWidget;
  stack_->addWidget(scroll);
  stack_->addWidget(empty);
  auto* outer = new QVBoxLayout(this);
  outer->setContentsMargins(0, 0, 0, 0);
  outer->addWidget(stack_);

  later_.setSingleShot(true);
  later_.setInterval(250);
  connect(&later_, &QTimer::timeout, this, &Inspector::showFacts);
  noteLater_.setSingleShot(true);
  noteLater_.setInterval(800);
  connect(&noteLater_, &QTimer::timeout, this, &Inspector::saveNote);
  connect(note_, &QPlainTextEdit::textChanged, this, [this] { noteLater_.start(); });
  connect(tags_, &QLineEdit::editingFinished, this, &Inspector::saveTags);
  connect(&workbench.selection(), &Selection::runsChanged, this, &Inspector::showRun);
  connect(&workbench, &StudioWorkbench::runsChanged, this, [this](const std::vector<RunRow>& rows) {
    for (const RunRow& row : rows) {
      if (row.id == run_ && !later_.isActive()) later_.start();
    }
  });
  connect(&workbench, &Workbench::themeChanged, this, &Inspector::refresh);
  showRun();
}

Inspector::~Inspector() { leaveEdits(); }

void Inspector::refresh() {
  leaveEdits();
  run_ = 0;
  showRun();
}

void Inspector::showRun() {
  const std::int64_t id = workbench_.selection().current();
  if (id == run_ && id != 0) return;
  leaveEdits();
  run_ = id;
  const RunRow* row = workbench_.run(id);
  stack_->setCurrentIndex(row == nullptr ? 1 : 0);
  if (row == nullptr) {
    Q_EMIT titleChanged(tr("Inspector"), QString());
    return;
  }
  Q_EMIT titleChanged(QString::fromStdString(row->name), QStringLiteral("#%1").arg(id));
  try {
    RunStore& store = workbench_.store();
    config_ = store.config(id);
    origins_ = store.origins(id);
    std::int64_t first = id;
    for (const auto& [other, its] : workbench_.runs()) {
      if (its.experimentId == row->experimentId) {
        first = other;
        break;
      }
    }
    baseline_ = first == id ? config_ : store.config(first);
    noteVersion_ = tagsVersion_ = -1;
    note_->document()->setModified(false);
    tags_->setModified(false);
    showEdits();
  } catch (const Error& error) {
    workbench_.say(QString::fromUtf8(error.what()));
  }
  showConfig();
  showFacts();
}

void Inspector::showFacts() {
  const RunRow* row = workbench_.run(run_);
  if (row == nullptr) return showRun();
  const QString word = QString::fromStdString(toString(row->state));
  const QColor color = stateColor(word);
  state_->setText(word);
  state_->setStyleSheet(
      QStringLiteral("color: %1; border: 1px solid %1; border-radius: %2px; padding: 0 %3px; "
                     "font-size: %4px; min-height: %5px;")
          .arg(color.name())
          .arg(px(9))
          .arg(px(8))
          .arg(px(12))
          .arg(px(18)));
  reason_->setText(QString::fromStdString(row->reason));
  reason_->setVisible(!row->reason.empty());
  reason_->setProperty("role", row->state == RunState::Failed        ? "error"
                               : row->state == RunState::Interrupted ? "warn"
                                                                     : "small");
  reason_->style()->polish(reason_);
  try {
    RunStore& store = workbench_.store();
    showEdits();
    environment_ = store.environment(run_);
    facts_->setFacts(runFacts(*row, store.summaries(run_), environment_));
    environmentTable_->setFacts(environmentFacts(environment_));
    log_->setFile(row->logFile.empty() ? QString()
                                       : QString::fromStdString(
                                             (filesFolder(store.file()) / row->logFile).string()));
  } catch (const Error& error) {
    workbench_.say(QString::fromUtf8(error.what()));
  }
}

void Inspector::showConfig() {
  const std::vector<Fact> facts = configFacts(config_, baseline_, origins_, filter_);
  configTable_->setFacts(facts);
  configTable_->setVisible(!facts.empty());
  configHint_->setVisible(facts.empty());
  configHint_->setText(filter_ == ConfigFilter::Baseline && config_ == baseline_
                           ? tr("This run is the baseline of its experiment, or equal to it.")
                           : tr("Every value is the default."));
  configHint_->setContentsMargins(px(4), px(4), px(4), px(4));
}

/// What others wrote meanwhile, where nothing was typed here. The version is read before the text:
/// a change between the two is met when this one is saved. What waits for the link to another
/// machine is newer than what was read from there.
void Inspector::showEdits() {
  RunStore& store = workbench_.store();
  const auto waiting = [this](RunField field) {
    RemoteLink* link = workbench_.link();
    return link != nullptr ? link->waiting(run_, field) : nullptr;
  };
  const std::int64_t note = store.version(run_, RunField::Note);
  if (note != noteVersion_ && !note_->document()->isModified() && !noteConflict_->isOpen()) {
    const QSignalBlocker quiet(note_);
    const std::string* typed = waiting(RunField::Note);
    note_->setPlainText(QString::fromStdString(typed != nullptr ? *typed : store.note(run_)));
    noteVersion_ = note;
  }
  const std::int64_t tags = store.version(run_, RunField::Tags);
  if (tags != tagsVersion_ && !tags_->isModified() && !tagsConflict_->isOpen()) {
    const std::string* typed = waiting(RunField::Tags);
    tags_->setText(tagLine(typed != nullptr ? split(*typed, '\n') : store.tags(run_)));
    tagsVersion_ = tags;
  }
}

void Inspector::saveNote() {
  noteLater_.stop();
  if (run_ == 0 || noteConflict_->isOpen()) return;
  const std::int64_t run = run_;
  const QString text = note_->toPlainText();
  workbench_.edit(run, RunField::Note, text.toStdString(), noteVersion_, this,
                  [this, run, text](const EditOutcome& outcome) {
                    if (!outcome.trouble.isEmpty()) workbench_.say(outcome.trouble);
                    if (run != run_ || !outcome.trouble.isEmpty()) return;
                    if (outcome.isConflict) {
                      noteConflict_->open(QString::fromStdString(outcome.theirs), outcome.version);
                      return;
                    }
                    if (!outcome.isWaiting) noteVersion_ = outcome.version;
                    if (note_->toPlainText() == text) note_->document()->setModified(false);
                  });
}

std::string Inspector::joinedTags() const {
  std::string tags;
  for (const QString& tag : tags_->text().split(QLatin1Char(','), Qt::SkipEmptyParts)) {
    if (!tag.trimmed().isEmpty()) tags += (tags.empty() ? "" : "\n") + tag.trimmed().toStdString();
  }
  return tags;
}

void Inspector::saveTags() {
  if (run_ == 0 || tagsConflict_->isOpen() || !tags_->isModified()) return;
  const std::int64_t run = run_;
  const QString typed = tags_->text();
  workbench_.edit(run, RunField::Tags, joinedTags(), tagsVersion_, this,
                  [this, run, typed](const EditOutcome& outcome) {
                    if (!outcome.trouble.isEmpty()) workbench_.say(outcome.trouble);
                    if (run != run_ || !outcome.trouble.isEmpty()) return;
                    if (outcome.isConflict) {
                      QString theirs = QString::fromStdString(outcome.theirs);
                      tagsConflict_->open(theirs.replace(QLatin1Char('\n'), QStringLiteral(", ")),
                                          outcome.version);
                      return;
                    }
                    if (!outcome.isWaiting) tagsVersion_ = outcome.version;
                    if (tags_->text() == typed) tags_->setModified(false);
                  });
}

void Inspector::keepMine(RunField field) {
  if (field == RunField::Note) {
    noteVersion_ = noteConflict_->version();
    noteConflict_->hide();
    saveNote();
  } else {
    tagsVersion_ = tagsConflict_->version();
    tagsConflict_->hide();
    tags_->setModified(true);
    saveTags();
  }
}

void Inspector::takeTheirs(RunField field) {
  keepTyped(field);  // as it is now: more may have been typed since the conflict
  if (field == RunField::Note) {
    note_->document()->setModified(false);
    noteVersion_ = -1;
  } else {
    tags_->setModified(false);
    tagsVersion_ = -1;
  }
  try {
    showEdits();
  } catch (const Error& error) {
    workbench_.say(QString::fromUtf8(error.what()));
  }
}

/// Stores what was typed, or has it kept beside what somebody else wrote.
void Inspector::keepTyped(RunField field) {
  const bool isNote = field == RunField::Note;
  // Where somebody else was faster it is among the edits now; where the run is gone, so is the
  // note.
  const auto nobodyWaits = [](const EditOutcome&) {};
  if (isNote && note_->document()->isModified()) {
    workbench_.edit(run_, field, note_->toPlainText().toStdString(), noteVersion_, nullptr,
                    nobodyWaits);
  } else if (!isNote && tags_->isModified()) {
    workbench_.edit(run_, field, joinedTags(), tagsVersion_, nullptr, nobodyWaits);
  }
  (isNote ? noteConflict_ : tagsConflict_)->hide();
}

void Inspector::leaveEdits() {
  noteLater_.stop();
  if (run_ == 0) return;
  keepTyped(RunField::Note);
  keepTyped(RunField::Tags);
}

}  // namespace vitrine::ui
