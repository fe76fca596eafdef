// Form, text and plan: whichever of form and text was edited last makes the other, and the planner
// judges the text.
#include "ui/configure/configure_page.h"

#include <QClipboard>
#include <QDragEnterEvent>
#include <QElapsedTimer>
#include <QEventLoop>
#include <QFile>
#include <QFileDialog>
#include <QGuiApplication>
#include <QLabel>
#include <QMimeData>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QScrollArea>
#include <QShortcut>
#include <QSplitter>
#include <QStackedWidget>
#include <QToolButton>
#include <QVBoxLayout>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/jobs/launcher.h"
#include "ui/configure/document.h"
#include "ui/configure/experiment_form.h"
#include "ui/configure/side_panel.h"
#include "ui/configure/sweep_editor.h"
#include "ui/configure/waiting.h"
#include "ui/shell/theme.h"

namespace vitrine::ui {

namespace {

constexpr int kPlanMs = 150;
constexpr int kCheckMs = 300;
constexpr int kSettleMs = 20000;
constexpr int kNarrow = 720;  // pixels: below this the side panel waits behind its button
constexpr qint64 kLargestFile = 8 << 20;

QString plural(std::size_t n, const QString& word) {
  return QStringLiteral("%1 %2%3").arg(count(static_cast<std::int64_t>(n)), word,
                                       n == 1 ? QString() : QStringLiteral("s"));
}

/// "3.7 MFLOP", by the convention of `vitrine check`: a multiply-add counts as two.
QString flopText(double flops) {
  static const struct {
    double size;
    const char* unit;
  } kScales[] = {{1e12, "TFLOP"}, {1e9, "GFLOP"}, {1e6, "MFLOP"}, {1e3, "kFLOP"}};
  for (const auto& scale : kScales) {
    if (flops >= scale.size)
      return number(flops / scale.size, 1) + QChar(0x2009) + QString::fromLatin1(scale.unit);
  }
  return number(flops, 0) + QStringLiteral("\u2009FLOP");
}

}  // namespace

ConfigurePage::ConfigurePage(Workbench& workbench, QWidget* parent)
    : Page(parent), workbench_(workbench), stack_(new QStackedWidget(this)) {
  setAcceptDrops(true);
  auto* outer = new QVBoxLayout(this);
  outer->setContentsMargins(0, 0, 0, 0);
  outer->addWidget(stack_);
  stack_->addWidget(new Waiting(QStringLiteral("Reading what the plugins offer"), this));
  auto* broken = new Broken(
      QStringLiteral("The form needs the plugins' schemas, and they could not be read."), this);
  failure_ = broken->reason();
  connect(broken, &Broken::retry, this, [this] {
    stack_->setCurrentIndex(0);
    if (!workbench_.catalog().items.empty()) onCatalog();
  });
  stack_->addWidget(broken);
  stack_->addWidget(makeContent());

  for (QTimer* timer : {&planTimer_, &checkTimer_, &textTimer_}) timer->setSingleShot(true);
  planTimer_.setInterval(kPlanMs);
  checkTimer_.setInterval(kCheckMs);
  textTimer_.setInterval(kPlanMs);
  connect(&planTimer_, &QTimer::timeout, this, &ConfigurePage::planNow);
  connect(&textTimer_, &QTimer::timeout, this, &ConfigurePage::takeText);
  connect(&checkTimer_, &QTimer::timeout, this, [this] {
    if (!syntax_ && plan_.problems.empty()) check_.ask(text_);
  });
  connect(&check_, &CheckProcess::finished, this, [this](const Json& report) {
    report_ = report;
    costProblem_.clear();
    showCost();
  });
  connect(&check_, &CheckProcess::failed, this, [this](const QString& sentence) {
    report_.reset();
    costProblem_ = sentence;
    showCost();
  });
  connect(form_, &ExperimentForm::edited, this, &ConfigurePage::onFormEdited);
  connect(&side_->sweep(), &SweepEditor::edited, this, &ConfigurePage::onFormEdited);
  connect(side_, &SidePanel::textEdited, this, &ConfigurePage::onTextEdited);
  connect(side_, &SidePanel::againstChanged, this, &ConfigurePage::showChanges);
  connect(&workbench_, &Workbench::catalogReady, this, &ConfigurePage::onCatalog);
  connect(&workbench_, &Workbench::catalogFailed, this, [this](const QString& sentence) {
    if (form_->catalog() != nullptr) return;
    failure_->setText(sentence);
    stack_->setCurrentIndex(1);
  });
  connect(&workbench_, &Workbench::themeChanged, this, [this] {
    showPlan();
    update();
  });
  connect(&workbench_.selection(), &Selection::runsChanged, this, &ConfigurePage::onRunSelected);
  for (const auto key : {Qt::Key_Return, Qt::Key_Enter}) {
    auto* shortcut = new QShortcut(QKeySequence(Qt::CTRL | key), this);
    shortcut->setContext(Qt::WidgetWithChildrenShortcut);
    connect(shortcut, &QShortcut::activated, this, &ConfigurePage::start);
  }
  onRunSelected();
  if (!workbench_.catalog().items.empty()) onCatalog();
}

ConfigurePage::~ConfigurePage() = default;

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
  start_->setToolTip(QStringLiteral("Start these runs (Ctrl+Return)"));
  auto* saveButton = new QPushButton(QStringLiteral("Save as TOML\u2026"), card);
  auto* copy = new QPushButton(QStringLiteral("Copy as command"), card);
  copy->setToolTip(QStringLiteral("The command that starts the same runs in a terminal"));
  for (QPushButton* one : {start_, saveButton, copy}) line->addWidget(one);
  line->addStretch();
  column->addLayout(line);
  connect(start_, &QPushButton::clicked, this, &ConfigurePage::start);
  connect(saveButton, &QPushButton::clicked, this, &ConfigurePage::save);
  connect(copy, &QPushButton::clicked, this, &ConfigurePage::copyAsCommand);
  return holder;
}

void ConfigurePage::onCatalog() {
  const Catalog& catalog = workbench_.catalog();
  if (catalog.items.empty()) {
    failure_->setText(QStringLiteral(
        "No plugin was loaded. \"vitrine plugins\" says which were refused and why."));
    stack_->setCurrentIndex(1);
    return;
  }
  form_->setCatalog(catalog);
  stack_->setCurrentIndex(2);
  placeSide();
  if (text_.empty()) {
    setText(toText(ExperimentForm::freshDocument(catalog)));
  } else {
    takeText();
  }
}

void ConfigurePage::setText(const std::string& text, const QString& origin) {
  text_ = text;
  origin_ = origin;
  side_->setText(QString::fromStdString(text));
  if (form_->catalog() != nullptr) takeText();
}

void ConfigurePage::onFormEdited() {
  Document document = form_->document();
  side_->sweep().applyTo(document);
  form_->setDocument(document);
  syntax_.reset();
  text_ = toText(document);
  side_->setText(QString::fromStdString(text_));
  textChanged();
}

void ConfigurePage::onTextEdited() {
  text_ = side_->text().toPlainText().toStdString();
  textTimer_.start();
  textChanged();
}

void ConfigurePage::takeText() {
  Problem problem;
  const std::optional<Document> document = parseDocument(text_, problem);
  if (document) {
    syntax_.reset();
    form_->setDocument(*document);
    side_->sweep().setDocument(*document);
  } else {
    syntax_ = problem;
  }
  textChanged();
  planNow();
}

void ConfigurePage::textChanged() {
  report_.reset();
  costProblem_.clear();
  check_.cancel();
  checkTimer_.start();
  planTimer_.start();
}

void ConfigurePage::planNow() {
  planTimer_.stop();
  if (textTimer_.isActive()) {
    textTimer_.stop();
    takeText();
    return;
  }
  if (form_->catalog() == nullptr) return;
  plan_ = planExperiment(text_, "", *form_->catalog());
  showPlan();
}

void ConfigurePage::showPlan() {
  if (form_->catalog() == nullptr) return;
  std::vector<Problem> problems = plan_.problems;
  if (syntax_ && problems.empty()) problems.push_back(*syntax_);
  form_->showProblems(problems);
  side_->showProblems(problems);
  QStringList keys;
  for (const auto& entry : flatten(form_->merged())) keys << QString::fromStdString(entry.first);
  side_->sweep().setKeys(keys);
  showChanges();
  showCost();
}

void ConfigurePage::showChanges() {
  if (form_->catalog() == nullptr) return;
  const Json now = plan_.runs.empty() ? form_->merged() : plan_.runs.front().config;
  Json before = form_->defaults();
  if (side_->against() == SidePanel::Against::Run) {
    try {
      before = workbench_.store().config(workbench_.selection().current());
    } catch (const Error& error) {
      workbench_.say(QString::fromUtf8(error.what()));
      return;
    }
  }
  side_->showChanges(difference(before, now));
}

void ConfigurePage::showCost() {
  const bool isSound = !syntax_ && plan_.problems.empty() && !plan_.runs.empty();
  start_->setEnabled(isSound);
  QStringList details;
  QStringList warnings;
  if (!isSound) {
    const std::size_t problems = plan_.problems.empty() ? 1 : plan_.problems.size();
    headline_->setText(
        QStringLiteral("Not ready: %1").arg(plural(problems, QStringLiteral("problem"))));
    QStringList sentences;
    for (const Problem& problem : plan_.problems) {
      if (form_->row(problem.key) == nullptr) {
        sentences << (problem.key.empty()
                          ? QString()
                          : QString::fromStdString(problem.key) + QStringLiteral(": ")) +
                         QString::fromStdString(problem.message);
      }
    }
    if (syntax_ && sentences.isEmpty()) {
      sentences << QStringLiteral("line %1: %2")
                       .arg(syntax_->line)
                       .arg(QString::fromStdString(syntax_->message));
    }
    details_->setText(sentences.isEmpty() ? QStringLiteral("The fields in red say what to change.")
                                          : sentences.join(QLatin1Char('\n')));
    warning_->hide();
    return;
  }
  headline_->setText(
      QStringLiteral("This will start %1").arg(plural(plan_.runs.size(), QStringLiteral("run"))));
  const QStringList factors = SweepEditor::factors(form_->document());
  if (!factors.isEmpty()) details << factors.join(QStringLiteral(" \u00d7 "));
  if (report_ && report_->contains("totals") && (*report_)["totals"].is_object()) {
    const Json& totals = (*report_)["totals"];
    details << QString::fromStdString(formatBytes(totals.value("memory_bytes", 0.0))) +
                   QStringLiteral(" memory");
    details << count(totals.value("parameters", std::int64_t{0})) + QStringLiteral(" parameters");
    details << flopText(totals.value("flops", 0.0)) + QStringLiteral(" per image");
    if (plan_.runs.size() > 1) details.last() += QStringLiteral(" (first run)");
  } else if (!costProblem_.isEmpty()) {
    warnings << costProblem_;
  } else {
    details << QStringLiteral("counting parameters \u2026");
  }
  if (report_) {
    for (const char* key : {"problems", "warnings"}) {
      if (!report_->contains(key)) continue;
      for (const Json& entry : (*report_)[key]) {
        warnings << QString::fromStdString(
            entry.is_string() ? entry.get<std::string>() : entry.value("message", std::string()));
      }
    }
  }
  details_->setText(details.join(QStringLiteral(" \u00b7 ")));
  warning_->setText(warnings.join(QLatin1Char('\n')));
  warning_->setVisible(!warnings.isEmpty());
}

void ConfigurePage::onRunSelected() {
  const std::int64_t run = workbench_.selection().current();
  side_->setRun(run);
  fromRun_->setEnabled(run != 0);
  showChanges();
}

void ConfigurePage::startFrom(std::int64_t run) {
  if (run == 0) {
    workbench_.say(
        QStringLiteral("Select a run in the list first: its configuration fills the form."));
    return;
  }
  if (form_->catalog() == nullptr) return;
  try {
    const RunRow row = workbench_.store().run(run);
    Problem problem;
    std::optional<Document> document =
        parseDocument(toToml(workbench_.store().config(run)), problem);
    if (!document)
      throw Error("the configuration of run " + std::to_string(run) +
                  " is no TOML: " + problem.message);
    document->title = row.experiment;
    document->wholeTables.clear();
    // Only what differs from the defaults is said, so that the bars in the form mean something.
    form_->setDocument(*document);
    const Json standard = form_->defaults();
    for (const auto& [key, value] : flatten(document->tables)) {
      const FormRow* field = form_->row(key);
      if (field == nullptr || key == "model.architecture" || key == "task.name" ||
          key == "data.dataset")
        continue;
      const Json* plain = &standard;
      for (const std::string& part : split(key, '.')) {
        plain = plain != nullptr && plain->is_object() && plain->contains(part) ? &(*plain)[part]
                                                                                : nullptr;
      }
      const Field& schema = field->editor().field();
      if (plain != nullptr && normalized(schema, *plain) == normalized(schema, value))
        document->erase(key);
    }
    setText(toText(*document));
    workbench_.say(QStringLiteral("The form shows the configuration of run #%1.").arg(run));
  } catch (const Error& error) {
    workbench_.say(QString::fromUtf8(error.what()));
  }
}

void ConfigurePage::start() {
  planNow();
  if (!start_->isEnabled()) {
    workbench_.say(QStringLiteral("Nothing was started: %1.").arg(headline_->text().toLower()));
    return;
  }
  try {
    const Launched launched = launchExperiment(text_, plan_.title, workbench_.store().file());
    workbench_.say(QStringLiteral("Started %1 of \"%2\"; they go on when the window is closed.")
                       .arg(plural(plan_.runs.size(), QStringLiteral("run")),
                            QString::fromStdString(plan_.title)));
    watch(launched);
    workbench_.showPage(QStringLiteral("monitor"));
  } catch (const Error& error) {
    workbench_.say(QString::fromUtf8(error.what()));
  }
}

void ConfigurePage::watch(const Launched& launched) {
  // A process that ends within seconds did not train: its log says why.
  for (const int after : {1500, 5000}) {
    QTimer::singleShot(after, this, [this, launched, isFirst = after == 1500] {
      if (isAlive(launched)) return;
      const QString line = lastLogLine(launched);
      if (!isFirst || line.isEmpty()) return;
      workbench_.say(QStringLiteral("The training process has ended: %1 (log: %2)")
                         .arg(line, QString::fromStdString(launched.log.string())));
    });
  }
}

void ConfigurePage::save() {
  const QString offered = origin_.isEmpty() ? QStringLiteral("experiment.toml") : origin_;
  const QString file = QFileDialog::getSaveFileName(
      this, QStringLiteral("Save experiment"), offered, QStringLiteral("Experiments (*.toml)"));
  if (file.isEmpty()) return;
  QFile target(file);
  const QByteArray bytes = QByteArray::fromStdString(text_);
  if (!target.open(QIODevice::WriteOnly) || target.write(bytes) != bytes.size() ||
      !target.flush()) {
    workbench_.say(QStringLiteral("Cannot write %1: %2.").arg(file, target.errorString()));
    return;
  }
  origin_ = file;
  workbench_.say(QStringLiteral("Saved %1.").arg(file));
}

void ConfigurePage::open() {
  const QString file = QFileDialog::getOpenFileName(
      this, QStringLiteral("Open experiment"), origin_, QStringLiteral("Experiments (*.toml)"));
  if (!file.isEmpty()) openFile(file);
}

void ConfigurePage::openFile(const QString& file) {
  QFile source(file);
  if (!source.open(QIODevice::ReadOnly)) {
    workbench_.say(QStringLiteral("Cannot open %1: %2.").arg(file, source.errorString()));
    return;
  }
  if (source.size() > kLargestFile) {
    workbench_.say(QStringLiteral("%1 is larger than 8 MiB: it is no experiment file.").arg(file));
    return;
  }
  setText(source.readAll().toStdString(), file);
  workbench_.say(QStringLiteral("Opened %1.").arg(file));
}

void ConfigurePage::copyAsCommand() {
  const QString database = QString::fromStdString(workbench_.store().file().string());
  QString quotedDatabase = database;
  quotedDatabase.replace(QLatin1Char('\''), QStringLiteral("'\\''"));
  const QString command =
      QStringLiteral("vitrine train - --db '%1' <<'TOML'\n%2%3TOML\n")
          .arg(quotedDatabase, QString::fromStdString(text_),
               text_.empty() || text_.back() != '\n' ? QStringLiteral("\n") : QString());
  QGuiApplication::clipboard()->setText(command);
  workbench_.say(QStringLiteral("The command is on the clipboard."));
}

void ConfigurePage::settle() {
  QElapsedTimer clock;
  clock.start();
  const auto waitWhile = [&](const auto& isPending) {
    while (isPending() && clock.elapsed() < kSettleMs) {
      QCoreApplication::processEvents(QEventLoop::AllEvents | QEventLoop::WaitForMoreEvents, 50);
    }
  };
  QTimer tick;  // wakes the loop
  tick.start(20);
  waitWhile([this] { return stack_->currentIndex() == 0; });
  if (form_->catalog() == nullptr) return;
  planNow();
  if (!report_ && costProblem_.isEmpty() && start_->isEnabled()) {
    checkTimer_.stop();
    if (!check_.isRunning()) check_.ask(text_);
    waitWhile([this] { return check_.isRunning(); });
  }
  placeSide();
}

void ConfigurePage::placeSide() {
  const bool isShown = isSideChosen_ ? isSideWanted_ : width() >= kNarrow;
  side_->setVisible(isShown);
  sideButton_->setChecked(isShown);
}

void ConfigurePage::resizeEvent(QResizeEvent* event) {
  Page::resizeEvent(event);
  placeSide();
}

void ConfigurePage::showEvent(QShowEvent* event) {
  Page::showEvent(event);
  if (form_->catalog() == nullptr && !workbench_.catalog().items.empty()) onCatalog();
}

void ConfigurePage::dragEnterEvent(QDragEnterEvent* event) {
  const QList<QUrl> urls = event->mimeData()->urls();
  if (urls.size() == 1 && urls.front().isLocalFile() &&
      urls.front().fileName().endsWith(QLatin1String(".toml"), Qt::CaseInsensitive)) {
    event->acceptProposedAction();
  }
}

void ConfigurePage::dropEvent(QDropEvent* event) {
  const QList<QUrl> urls = event->mimeData()->urls();
  if (urls.isEmpty()) return;
  event->acceptProposedAction();
  openFile(urls.front().toLocalFile());
}

PageFactory configurePage() {
  return {
      QStringLiteral("configure"), QStringLiteral("Configure"),
      [](Workbench& workbench, QWidget* parent) { return new ConfigurePage(workbench, parent); }};
}

}  // namespace vitrine::ui
