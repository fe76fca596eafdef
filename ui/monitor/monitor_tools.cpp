// Tool bar, menus and files of the Monitor page.
#include <QClipboard>
#include <QFile>
#include <QFileDialog>
#include <QGuiApplication>
#include <QSaveFile>
#include <QTextStream>
#include <set>

#include "core/base/error.h"
#include "core/base/text.h"
#include "ui/monitor/monitor_page.h"
#include "ui/shell/icons.h"
#include "ui/shell/settings.h"
#include "ui/shell/theme.h"

namespace vitrine::ui {
namespace {

constexpr double kSmoothings[] = {0, 0.3, 0.6, 0.8, 0.9, 0.95, 0.99};

QString smoothingText(double value) {
  return value == 0 ? MonitorPage::tr("none") : number(value, value > 0.9 ? 2 : 1);
}

}  // namespace

void MonitorPage::makeTools() {
  const auto tool = [this](const QString& text, const QString& tip) {
    auto* action = new QAction(text, this);
    action->setToolTip(tip);
    return action;
  };

  xAction_ = tool(tr("x: step"), tr("What the horizontal axis counts"));
  auto* xMenu = new QMenu(tr("Horizontal axis"), this);
  auto* xGroup = new QActionGroup(this);
  static const char* const kAxes[] = {"step", "epoch", "time"};
  for (int i = 0; i < 3; ++i) {
    QAction* choice = xMenu->addAction(tr(kAxes[i]));
    choice->setCheckable(true);
    choice->setChecked(i == 0);
    xGroup->addAction(choice);
    connect(choice, &QAction::triggered, this, [this, i] {
      PlotSettings changed = settings_;
      changed.x = static_cast<XAxis>(i);
      setSettings(changed);
    });
  }
  xAction_->setMenu(xMenu);

  smoothAction_ =
      tool(QString(),
           tr("Exponential moving average, corrected for its start; the raw line stays behind it. "
              "Curves of fewer than 200 points are drawn as they are."));
  auto* smoothMenu = new QMenu(tr("Smoothing"), this);
  auto* smoothGroup = new QActionGroup(this);
  for (const double value : kSmoothings) {
    QAction* choice = smoothMenu->addAction(smoothingText(value));
    choice->setCheckable(true);
    choice->setChecked(value == settings_.smoothing);
    smoothGroup->addAction(choice);
    connect(choice, &QAction::triggered, this, [this, value] {
      PlotSettings changed = settings_;
      changed.smoothing = value;
      setSettings(changed);
      storeSetting(QStringLiteral("monitor/smoothing"), value);
    });
  }
  smoothAction_->setMenu(smoothMenu);

  logYAction_ = tool(tr("log y"), tr("Logarithmic vertical axes (Y on a plot, or L)"));
  logYAction_->setCheckable(true);
  logYAction_->setShortcut(Qt::Key_L);
  logXAction_ = tool(tr("log x"), tr("Logarithmic horizontal axes (X on a plot, or Shift+L)"));
  logXAction_->setCheckable(true);
  logXAction_->setShortcut(Qt::SHIFT | Qt::Key_L);
  for (QAction* action : {logYAction_, logXAction_}) {
    // A single letter acts only while the page has the focus, never in a text field.
    action->setShortcutContext(Qt::WidgetWithChildrenShortcut);
    connect(action, &QAction::toggled, this, [this] {
      PlotSettings changed = settings_;
      changed.isLogY = logYAction_->isChecked();
      changed.isLogX = logXAction_->isChecked();
      setSettings(changed);
    });
  }
  followAction_ = tool(tr("Follow"), tr("Keep the newest points in sight; ends when you zoom"));
  followAction_->setIcon(icon(Icon::Follow));
  followAction_->setCheckable(true);
  followAction_->setChecked(true);
  connect(followAction_, &QAction::toggled, this, &MonitorPage::setFollowing);
  fitAction_ = tool(tr("Fit"), tr("Show all points (double click on a plot)"));
  fitAction_->setIcon(icon(Icon::Fit));
  connect(fitAction_, &QAction::triggered, this, &MonitorPage::fitAndFollow);
  metricsAction_ = tool(tr("Plots"), tr("Choose the metrics that have a plot"));
  metricMenu_ = new QMenu(tr("Plots"), this);
  metricsAction_->setMenu(metricMenu_);
  connect(metricMenu_, &QMenu::aboutToShow, this, &MonitorPage::fillMetricMenu);

  auto* back = new QAction(tr("Cursor to the previous point"), this);
  back->setShortcut(Qt::CTRL | Qt::Key_Left);
  connect(back, &QAction::triggered, this, [this] { stepCursor(-1); });
  auto* forward = new QAction(tr("Cursor to the next point"), this);
  forward->setShortcut(Qt::CTRL | Qt::Key_Right);
  connect(forward, &QAction::triggered, this, [this] { stepCursor(1); });
  for (QAction* action : {back, forward})
    action->setShortcutContext(Qt::WidgetWithChildrenShortcut);
  addActions({logYAction_, logXAction_, back, forward});
  setSettings(settings_);
}

QList<QAction*> MonitorPage::tools() {
  return {xAction_,      smoothAction_, logYAction_,   logXAction_,
          followAction_, fitAction_,    metricsAction_};
}

void MonitorPage::setSettings(const PlotSettings& settings) {
  const bool isAxisChanged = settings.x != settings_.x || settings.isLogX != settings_.isLogX;
  settings_ = settings;
  static const char* const kTitles[] = {"x: step", "x: epoch", "x: time"};
  xAction_->setText(tr(kTitles[static_cast<int>(settings.x)]));
  smoothAction_->setText(tr("Smoothing %1").arg(smoothingText(settings.smoothing)));
  logYAction_->setChecked(settings.isLogY);
  logXAction_->setChecked(settings.isLogX);
  for (PlotCard* card : cards_) card->setSettings(settings_);
  if (isAxisChanged) return fitAll();
  for (PlotCard* card : cards_) card->plot().refresh();
}

void MonitorPage::fillMetricMenu() {
  metricMenu_->clear();
  std::set<std::string> names;
  try {
    for (const std::int64_t id : workbench_.selection().runs()) {
      for (const std::string& name : workbench_.store().metricNames(id)) names.insert(name);
    }
  } catch (const Error& error) {
    workbench_.say(QString::fromUtf8(error.what()));
  }
  // The heads of a layer stand under their mean.
  std::set<std::string> stems;
  for (const std::string& name : names) {
    const auto head = name.rfind("/head");
    stems.insert(head == std::string::npos ? name : name.substr(0, head));
  }
  const std::vector<std::string> shown = metrics();
  for (const std::string& name : shown) stems.insert(name);
  std::map<QString, QMenu*> families;
  const auto add = [this, &shown](QMenu* menu, const std::string& name, const QString& title) {
    QAction* action = menu->addAction(title);
    action->setCheckable(true);
    const bool isShown = std::find(shown.begin(), shown.end(), name) != shown.end();
    action->setChecked(isShown);
    connect(action, &QAction::triggered, this, [this, name, isShown] {
      std::vector<std::string> changed = metrics();
      if (isShown) {
        std::erase(changed, name);
      } else {
        changed.push_back(name);
      }
      setMetrics(changed);
      QStringList stored;
      for (const std::string& metric : changed) stored << QString::fromStdString(metric);
      storeSetting(QStringLiteral("monitor/metrics"), stored);
    });
  };
  for (const std::string& name : stems) {
    const QStringList parts = QString::fromStdString(name).split(QLatin1Char('/'));
    const QString family = parts.first() == QLatin1String("analysis") && parts.size() > 2
                               ? QString(parts[1]).replace(QLatin1Char('_'), QLatin1Char(' '))
                               : parts.first();
    QMenu*& menu = families[family];
    if (menu == nullptr) menu = metricMenu_->addMenu(family);
    const QString title = metricCard(name).title;
    add(menu, name,
        parts.first() == QLatin1String("analysis") && parts.size() > 2
            ? parts.mid(2).join(QLatin1Char('/'))
            : title);
  }
  metricMenu_->addSeparator();
  connect(metricMenu_->addAction(tr("Default plots")), &QAction::triggered, this, [this] {
    storeSetting(QStringLiteral("monitor/metrics"), QStringList());
    setMetrics({"train/loss", "test/top1", "optimizer/learning_rate",
                "analysis/attention_rank/rank80/layer1"});
  });
}

void MonitorPage::showCardMenu(PlotCard& card, const QPoint& place) {
  QMenu menu(this);
  QAction* fit = menu.addAction(icon(Icon::Fit), tr("&Fit"));
  menu.addAction(logYAction_);
  menu.addAction(logXAction_);
  menu.addSeparator();
  QAction* copy = menu.addAction(icon(Icon::Copy), tr("&Copy picture"));
  QAction* save = menu.addAction(tr("Save &picture\u2026"));
  QAction* values = menu.addAction(tr("Save &values\u2026"));
  menu.addSeparator();
  QAction* remove = menu.addAction(icon(Icon::Remove), tr("&Remove this plot"));
  QAction* chosen = menu.exec(place);
  if (chosen == fit) fitAndFollow();
  if (chosen == copy) QGuiApplication::clipboard()->setPixmap(card.grab());
  if (chosen == save) savePicture(card);
  if (chosen == values) saveValues(card);
  if (chosen == remove) {
    const std::string metric = card.metric();
    // The card is the sender: it goes when the event has been dealt with.
    QMetaObject::invokeMethod(
        this, [this, metric] { removeCard(metric); }, Qt::QueuedConnection);
  }
}

void MonitorPage::savePicture(PlotCard& card) {
  QString name = QString::fromStdString(card.metric()).replace(QLatin1Char('/'), QLatin1Char('-'));
  const QString file = QFileDialog::getSaveFileName(
      this, tr("Save picture"), name + QStringLiteral(".png"), tr("PNG picture (*.png)"));
  if (file.isEmpty()) return;
  card.setLegend(card.plot().curves(), true);
  card.layout()->activate();
  const bool isSaved = card.grab().save(file);
  card.setLegend(card.plot().curves(), !workbench_.isRunListVisible());
  workbench_.say(isSaved ? tr("Saved %1.").arg(file)
                         : tr("Cannot write %1: choose a folder you may write to.").arg(file));
}

void MonitorPage::saveValues(PlotCard& card) {
  QString name = QString::fromStdString(card.metric()).replace(QLatin1Char('/'), QLatin1Char('-'));
  const QString path = QFileDialog::getSaveFileName(
      this, tr("Save values"), name + QStringLiteral(".csv"), tr("Table (*.csv)"));
  if (path.isEmpty()) return;
  QSaveFile file(path);
  bool isSaved = file.open(QIODevice::WriteOnly | QIODevice::Text);
  if (isSaved) {
    QTextStream out(&file);
    out << "run,name,step,epoch,time,value\n";
    for (const PlottedCurve& curve : card.plot().curves()) {
      QString title = curve.name;
      title.replace(QLatin1Char('"'), QLatin1String("\"\""));
      const auto step = curve.series->x(XAxis::Step), epoch = curve.series->x(XAxis::Epoch),
                 time = curve.series->x(XAxis::Time), value = curve.series->y();
      for (std::size_t i = 0; i < value.size(); ++i) {
        out << curve.run << ",\"" << title << "\"," << QString::number(static_cast<qint64>(step[i]))
            << ',' << QString::fromStdString(formatReal(epoch[i])) << ','
            << QString::fromStdString(formatReal(time[i])) << ','
            << QString::fromStdString(formatReal(value[i])) << '\n';
      }
    }
    out.flush();
    isSaved = file.commit();
  }
  workbench_.say(isSaved ? tr("Saved %1.").arg(path)
                         : tr("Cannot write %1: choose a folder you may write to.").arg(path));
}

}  // namespace vitrine::ui
