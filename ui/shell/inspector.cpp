#include "ui/shell/inspector.h"

#include <QClipboard>
#include <QGuiApplication>
#include <QMenu>
#include <QScrollArea>
#include <initializer_list>

#include "core/base/error.h"
#include "core/store/tables/run_marks.h"
#include "ui/kit/icons.h"
#include "ui/kit/small_widgets.h"
#include "ui/kit/theme.h"

namespace vitrine::ui {

Inspector::Section Inspector::section(QVBoxLayout& column, const QString& title, int stretch) {
  auto* box = new QWidget(column.parentWidget());
  column.addWidget(box, stretch);
  auto* layout = columnIn(box, {0, px(4), 0, 0}, px(4));
  auto* header = rowIn(nullptr, {px(12), 0, px(8), 0});
  auto* label = withRole(new QLabel(title, box), "title");
  header->addWidget(label);
  header->addStretch();
  QFrame* rule = makeRule(box);
  auto* inner = columnIn(nullptr, {px(8), 0, px(8), 0});
  auto* inside = new QWidget(box);
  auto* rows = columnIn(inside, {});
  inner->addWidget(inside);
  layout->addLayout(header);
  layout->addWidget(rule);
  layout->addLayout(inner);
  return {inside, header, rows};
}

Inspector::Inspector(StudioWorkbench& workbench, QWidget* parent)
    : QWidget(parent), workbench_(workbench) {
  paintAs(this, "panel");
  stack_ = new QStackedWidget(this);
  empty_ = withRole(
      new WordLabel(tr("Select a run to see its state, configuration and log."), stack_), "muted");
  empty_->setAlignment(Qt::AlignTop | Qt::AlignLeft);
  empty_->setContentsMargins(px(12), px(12), px(12), px(12));
  stack_->addWidget(empty_);
  auto* outer = columnIn(this, {});
  outer->addWidget(stack_);

  later_.setSingleShot(true);
  later_.setInterval(250);
  connect(&later_, &QTimer::timeout, this, &Inspector::showFacts);
  noteLater_.setSingleShot(true);
  noteLater_.setInterval(800);
  connect(&noteLater_, &QTimer::timeout, this, &Inspector::saveNote);
  connect(&workbench.selection(), &Selection::runsChanged, this, &Inspector::showRun);
  connect(&workbench, &StudioWorkbench::runsChanged, this,
          [this](const std::vector<store::RunRow>& rows) {
            for (const store::RunRow& row : rows) {
              if (row.id == run_ && !later_.isActive()) later_.start();
            }
          });
  connect(&workbench.watcher(), &store::RunWatcher::dataChanged, this, &Inspector::followBaseline);
  connect(&workbench, &Workbench::themeChanged, this, &Inspector::refresh);
  connect(&workbench, &Workbench::catalogReady, this, &Inspector::showFacts);
  showRun();
}

/// All but the sentence of an empty one, with the first run that is shown: a window that has none
/// starts sooner. From the outside to the inside, for a style sheet looks at whatever is put into
/// another widget once more.
void Inspector::makeContent() {
  content_ = new QScrollArea(stack_);
  content_->setWidgetResizable(true);
  content_->setFrameShape(QFrame::NoFrame);
  content_->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  content_->setFocusPolicy(Qt::NoFocus);
  auto* inside = withRole(new QWidget(content_), "panel");
  content_->setWidget(inside);
  stack_->addWidget(content_);
  auto* layout = columnIn(inside, {}, px(8));
  makeState(*inside, *layout);
  makeConfig(*layout);
  makeLog(*layout);
  makeNotes(*layout);
  makeEnvironment(*layout);
  layout->addSpacing(px(8));
}

void Inspector::makeState(QWidget& inside, QVBoxLayout& column) {
  auto* stateRow = rowIn(nullptr, {px(12), px(8), px(12), 0});
  auto* stateLabel = withRole(new QLabel(tr("State"), &inside), "muted");
  stateLabel->setFixedWidth(px(130));
  stateRow->addWidget(stateLabel);
  state_ = withName(new QLabel(&inside), tr("State"));
  auto* stateHolder = new QHBoxLayout;
  stateHolder->addWidget(state_);
  stateHolder->addStretch();
  stateRow->addLayout(stateHolder, 1);
  reason_ = new QLabel(&inside);
  reason_->setWordWrap(true);
  reason_->setContentsMargins(0, px(4), 0, px(4));
  reason_->setTextInteractionFlags(Qt::TextSelectableByMouse);
  auto* reasonHolder = columnIn(nullptr, {px(12), 0, px(12), 0});
  reasonHolder->addWidget(reason_);
  facts_ = new FactTable(tr("Facts of the run"), &inside);
  facts_->setLabelWidth(140);
  auto* factsHolder = columnIn(nullptr, {px(8), 0, px(8), 0});
  factsHolder->addWidget(facts_);
  auto* top = columnIn(nullptr, {}, px(2));
  top->addLayout(stateRow);
  top->addLayout(reasonHolder);
  top->addLayout(factsHolder);
  column.addLayout(top);
}

void Inspector::makeConfig(QVBoxLayout& column) {
  const Section config = section(column, tr("Configuration"));
  filterButton_ =
      makeQuietButton(tr("differs from baseline"), tr("Which configuration keys are shown"),
                      config.inside->parentWidget());
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
  config.header->addWidget(filterButton_);
  configHint_ = withRole(new QLabel(config.inside), "small");
  configHint_->setWordWrap(true);
  configTable_ = new FactTable(tr("Configuration of the run"), config.inside);
  auto* newFrom = makeQuietButton(tr("New from this run"), tr("New from this run"), config.inside);
  newFrom->setIcon(icon(Icon::Plus));
  newFrom->setToolButtonStyle(Qt::ToolButtonTextBesideIcon);
  newFrom->setToolTip(tr("Fill the form with this run's configuration"));
  connect(newFrom, &QToolButton::clicked, this, [this] {
    if (run_ != 0) workbench_.newFromRun(run_);
  });
  config.rows->addWidget(configHint_);
  config.rows->addWidget(configTable_);
  config.rows->addWidget(newFrom, 0, Qt::AlignLeft);
}

void Inspector::makeLog(QVBoxLayout& column) {
  const Section log = section(column, tr("Log"), 1);
  log.rows->setContentsMargins(px(4), px(4), px(4), px(8));
  auto* follow = makeQuietButton(tr("follow"), tr("Follow the log"), log.inside->parentWidget());
  follow->setCheckable(true);
  follow->setChecked(true);
  log.header->addWidget(follow);
  log_ = new LogTail(log.inside);
  log_->setMinimumHeight(px(120));
  log.rows->addWidget(log_);
  connect(follow, &QToolButton::toggled, log_, &LogTail::setFollowing);
}

void Inspector::makeNotes(QVBoxLayout& column) {
  const Section notes = section(column, tr("Notes and tags"));
  notes.rows->setContentsMargins(px(4), px(4), px(4), 0);
  notes.rows->setSpacing(px(8));
  stored_ = withRole(new QLabel(notes.inside->parentWidget()), "small");
  notes.header->addWidget(stored_);
  note_ = withName(new QPlainTextEdit(notes.inside), tr("Note on the run"));
  note_->setPlaceholderText(tr("Note"));
  note_->setTabChangesFocus(true);
  note_->setFixedHeight(px(56));
  noteConflict_ = new ConflictBar(tr("note"), notes.inside);
  tags_ = withName(new QLineEdit(notes.inside), tr("Tags of the run, separated by commas"));
  tags_->setPlaceholderText(tr("Tags, separated by commas"));
  tagsConflict_ = new ConflictBar(tr("tags"), notes.inside);
  connect(noteConflict_, &ConflictBar::mineChosen, this,
          [this] { keepMine(store::RunField::Note); });
  connect(noteConflict_, &ConflictBar::theirsChosen, this,
          [this] { takeTheirs(store::RunField::Note); });
  connect(tagsConflict_, &ConflictBar::mineChosen, this,
          [this] { keepMine(store::RunField::Tags); });
  connect(tagsConflict_, &ConflictBar::theirsChosen, this,
          [this] { takeTheirs(store::RunField::Tags); });
  connect(note_, &QPlainTextEdit::textChanged, this, [this] {
    stored_->clear();
    noteLater_.start();
  });
  connect(tags_, &QLineEdit::textEdited, stored_, &QLabel::clear);
  connect(tags_, &QLineEdit::editingFinished, this, &Inspector::saveTags);
  for (QWidget* row : std::initializer_list<QWidget*>{note_, noteConflict_, tags_, tagsConflict_})
    notes.rows->addWidget(row);
}

void Inspector::makeEnvironment(QVBoxLayout& column) {
  const Section environment = section(column, tr("Environment"));
  environmentTable_ = new FactTable(tr("Environment of the run"), environment.inside);
  environmentTable_->setLabelWidth(120);
  auto* repeat = makeQuietButton(tr("Copy command to repeat"), tr("Copy command to repeat"),
                                 environment.inside);
  repeat->setIcon(icon(Icon::Copy));
  repeat->setToolButtonStyle(Qt::ToolButtonTextBesideIcon);
  connect(repeat, &QToolButton::clicked, this, [this] {
    const store::RunRow* row = workbench_.run(run_);
    if (row == nullptr) return;
    QGuiApplication::clipboard()->setText(repeatCommand(*row, config_));
    workbench_.showMessage(
        tr("Command copied. Run it in a terminal to train run %1 again.").arg(run_));
  });
  environment.rows->addWidget(environmentTable_);
  environment.rows->addWidget(repeat, 0, Qt::AlignLeft);
}

Inspector::~Inspector() { leaveEdits(); }

/// A run that was deleted is known until the watcher has looked: what follows from that comes then.
void Inspector::attempt(const std::function<void()>& read) {
  workbench_.attempt([&read] {
    try {
      read();
    } catch (const NotFoundError&) {
    }
  });
}

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
  const store::RunRow* row = workbench_.run(id);
  if (row == nullptr) {
    stack_->setCurrentWidget(empty_);
    Q_EMIT titleChanged(tr("Inspector"), QString());
    return;
  }
  if (content_ == nullptr) makeContent();
  stored_->clear();
  stack_->setCurrentWidget(content_);
  attempt([&] {
    store::RunReader& store = workbench_.store();
    config_ = store.config(id);
    origins_ = store.origins(id);
    baselineRun_ = 0;
    readBaseline();
    noteVersion_ = tagsVersion_ = -1;
    note_->document()->setModified(false);
    tags_->setModified(false);
    showEdits();
  });
  showConfig();
  showFacts();
}

bool Inspector::readBaseline() {
  const store::RunRow* row = workbench_.run(run_);
  if (row == nullptr) return false;
  store::RunReader& store = workbench_.store();
  std::int64_t baseline = 0;
  for (const store::MarkedBaseline& marked :
       store::markedBaselines([&store](const std::string& sql) { return store.query(sql); }))
    if (marked.experiment == row->experimentId) baseline = marked.run;
  for (const auto& [other, its] : workbench_.runs()) {
    if (baseline == 0 && its.experimentId == row->experimentId) baseline = other;
  }
  if (baseline == baselineRun_) return false;
  baselineRun_ = baseline;
  baseline_ = baseline == run_ ? config_ : store.config(baseline);
  return true;
}

void Inspector::followBaseline() {
  if (run_ == 0 || content_ == nullptr) return;
  attempt([&] {
    if (readBaseline()) showConfig();
  });
}

void Inspector::showFacts() {
  const store::RunRow* row = workbench_.run(run_);
  if (row == nullptr) return showRun();
  // Selected before it was known.
  if (content_ == nullptr || stack_->currentWidget() != content_) return refresh();
  Q_EMIT titleChanged(QString::fromStdString(row->name), QStringLiteral("#%1").arg(run_));
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
  sayIn(*reason_, QString::fromStdString(row->reason));
  restyle(*reason_, "role",
          row->state == store::RunState::Failed        ? "error"
          : row->state == store::RunState::Interrupted ? "warn"
                                                       : "small");
  attempt([&] {
    store::RunReader& store = workbench_.store();
    showEdits();
    environment_ = store.environment(run_);
    const std::vector<store::MetricSummary> summaries = store.summaries(run_);
    std::vector<std::string> recorded;
    for (const store::MetricSummary& summary : summaries) recorded.push_back(summary.name);
    // Not kept: the first run of a task declares its metrics.
    const store::MetricKinds kinds = metricKinds(store);
    const store::RunCard card =
        store::runCard(store::cardOf(workbench_.cards(), store::taskOf(config_)), recorded, kinds);
    facts_->setFacts(runFacts(*row, summaries, environment_, card, kinds));
    environmentTable_->setFacts(environmentFacts(environment_));
    log_->setFile(QString::fromStdString(
        store::placeBelow(store::filesFolder(store.file()), row->logFile).string()));
  });
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

}  // namespace vitrine::ui
