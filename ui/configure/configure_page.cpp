// Form, text and plan: whichever of form and text was edited last makes the other, and the planner
// judges the text.
#include "ui/configure/configure_page.h"

#include <QCoreApplication>
#include <QDragEnterEvent>
#include <QElapsedTimer>
#include <QEventLoop>
#include <QLabel>
#include <QMimeData>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QShortcut>
#include <QSplitter>
#include <QStackedWidget>
#include <QToolButton>
#include <QVBoxLayout>
#include <utility>

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

}  // namespace

ConfigurePage::ConfigurePage(Workbench& workbench, QWidget* parent)
    : Page(parent), workbench_(workbench), stack_(new QStackedWidget(this)) {
  setAcceptDrops(true);
  setMinimumSize(420, 300);  // narrower than form and side panel together: the panel then hides
  auto* outer = new QVBoxLayout(this);
  outer->setContentsMargins(0, 0, 0, 0);
  outer->addWidget(stack_);
  stack_->addWidget(new Waiting(QStringLiteral("Reading what the plugins offer"), this));
  auto* broken = new Broken(
      QStringLiteral("The form needs the plugins' schemas, and they could not be read."), this);
  failure_ = broken->reason();
  connect(broken, &Broken::retry, this, [this] {
    stack_->setCurrentIndex(0);
    workbench_.askCatalogAgain();
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
    for (const QueueEnd end : {QueueEnd::Back, QueueEnd::Front}) {
      const QKeySequence keys =
          end == QueueEnd::Front ? Qt::CTRL | Qt::SHIFT | key : QKeySequence(Qt::CTRL | key);
      auto* shortcut = new QShortcut(keys, this);
      shortcut->setContext(Qt::WidgetWithChildrenShortcut);
      connect(shortcut, &QShortcut::activated, this, [this, end] { start(end); });
    }
  }
  onRunSelected();
  if (!workbench_.catalog().items.empty()) onCatalog();
}

ConfigurePage::~ConfigurePage() = default;

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
  if (fromRunLater_ != 0) startFrom(std::exchange(fromRunLater_, 0));
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

void ConfigurePage::onRunSelected() {
  const std::int64_t run = workbench_.selection().current();
  side_->setRun(run);
  fromRun_->setEnabled(run != 0);
  showChanges();
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
  for (int depth = 0; depth < 3; ++depth) {
    // Rows that changed their height are laid out now, not at the next turn of the event loop.
    QCoreApplication::sendPostedEvents(nullptr, QEvent::LayoutRequest);
  }
}

QImage ConfigurePage::snapshot(QSize size, double scale) {
  resize(size);
  placeSide();  // a hidden page hears of its size too late for the layout
  return Page::snapshot(size, scale);
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
