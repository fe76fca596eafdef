#include "ui/runs/run_mark_actions.h"

#include <QActionGroup>
#include <QPainter>
#include <QPixmap>
#include <algorithm>
#include <map>
#include <string>

#include "core/store/tables/run_marks.h"
#include "ui/kit/icons.h"
#include "ui/kit/theme.h"
#include "ui/workbench/page_commands.h"

namespace vitrine::ui {
namespace {

QStringList colourNames() {
  const bool isLight = currentTheme() == ThemeKind::Light;
  return {RunMarkActions::tr("&Blue"),   RunMarkActions::tr("&Vermilion"),
          RunMarkActions::tr("&Green"),  RunMarkActions::tr("&Purple"),
          RunMarkActions::tr("&Orange"), RunMarkActions::tr("&Sky blue"),
          isLight ? RunMarkActions::tr("Blac&k") : RunMarkActions::tr("&White")};
}

}  // namespace

RunMarkActions::RunMarkActions(StudioWorkbench& workbench, RunEdits& edits, const RunsModel& model,
                               QWidget* parent)
    : QObject(parent), workbench_(workbench), edits_(edits), model_(model) {
  archive_ = new QAction(this);
  archive_->setObjectName(QStringLiteral("archive"));  // its text changes, the name of its keys not
  archive_->setToolTip(tr("Archived runs keep their data and leave the list"));
  archive_->setProperty(kWhyNot, tr("select a run"));
  connect(archive_, &QAction::triggered, this, &RunMarkActions::toggleArchive);
  baseline_ = new QAction(tr("Use as &baseline"), this);
  baseline_->setCheckable(true);
  baseline_->setToolTip(tr("Compare measures the other variants of the experiment against it"));
  baseline_->setProperty(kWhyNot, tr("select one run"));
  connect(baseline_, &QAction::triggered, this, &RunMarkActions::toggleBaseline);
  colours_ = new QMenu(tr("&Colour"), parent);
  auto* group = new QActionGroup(colours_);
  for (int colour = 0; colour <= store::kMarkColours; ++colour) {
    QAction* one = colours_->addAction(QString(), this, [this, colour] { setColour(colour); });
    one->setCheckable(true);
    one->setProperty(kWhyNot, tr("select a run"));
    group->addAction(one);
  }
  group->setExclusionPolicy(QActionGroup::ExclusionPolicy::ExclusiveOptional);
  connect(&workbench, &Workbench::themeChanged, this, &RunMarkActions::paintColours);
  connect(&workbench.selection(), &Selection::runsChanged, this, &RunMarkActions::refresh);
  paintColours();
  refresh();
}

void RunMarkActions::paintColours() {
  const QStringList names = colourNames();
  const QList<QAction*> all = colours_->actions();
  all[0]->setText(tr("&Automatic"));
  for (int colour = 1; colour <= store::kMarkColours; ++colour) {
    all[colour]->setText(names[colour - 1]);
    QPixmap picture(px(12), px(12));
    picture.fill(Qt::transparent);
    QPainter painter(&picture);
    drawRunMark(painter, QRectF(px(2), px(2), px(8), px(8)), colour, seriesColor(colour));
    painter.end();
    all[colour]->setIcon(picture);
  }
}

void RunMarkActions::refresh() {
  const std::vector<std::int64_t> runs = workbench_.selection().targets();
  const bool isArchived = !runs.empty() && std::all_of(runs.begin(), runs.end(), [this](auto run) {
    return model_.marksOf(run).isArchived;
  });
  archive_->setText(isArchived ? tr("Un&archive") : tr("&Archive"));
  archive_->setEnabled(!runs.empty());
  baseline_->setEnabled(runs.size() == 1);
  baseline_->setChecked(runs.size() == 1 && model_.marksOf(runs.front()).isBaseline);
  colours_->setEnabled(!runs.empty());
  const QList<QAction*> all = colours_->actions();
  for (int colour = 0; colour <= store::kMarkColours; ++colour) {
    const bool isTheirs =
        !runs.empty() && std::all_of(runs.begin(), runs.end(), [&](std::int64_t run) {
          return model_.marksOf(run).colour == colour;
        });
    all[colour]->setChecked(isTheirs);
    all[colour]->setEnabled(!runs.empty());
  }
}

void RunMarkActions::toggleArchive() {
  const std::vector<std::int64_t> runs = workbench_.selection().targets();
  const bool isBack = std::all_of(runs.begin(), runs.end(), [this](std::int64_t run) {
    return model_.marksOf(run).isArchived;
  });
  std::map<std::int64_t, std::string> values;
  for (const std::int64_t run : runs) values[run] = isBack ? "" : "yes";
  const QString names = workbench_.namesOf(runs);
  edits_.mark(store::RunField::Archived, values,
              isBack ? tr("Unarchived %1.").arg(names)
                     : tr("Archived %1.").arg(names));
}

void RunMarkActions::toggleBaseline() {
  const std::vector<std::int64_t> runs = workbench_.selection().targets();
  const store::RunRow* row = runs.size() == 1 ? workbench_.run(runs.front()) : nullptr;
  if (row == nullptr) return;
  const bool isOff = model_.marksOf(row->id).isBaseline;
  std::map<std::int64_t, std::string> values{{row->id, isOff ? "" : "yes"}};
  // The run that loses the mark is part of the change: Undo gives it back.
  for (const auto& [id, other] : workbench_.runs()) {
    if (!isOff && id != row->id && other.experimentId == row->experimentId &&
        model_.marksOf(id).isBaseline)
      values[id] = "";
  }
  const QString name = workbench_.namesOf(runs);
  edits_.mark(store::RunField::Baseline, values,
              isOff ? tr("The experiment of %1 has no marked baseline now.").arg(name)
                    : tr("The baseline of the experiment is now %1.").arg(name));
  refresh();
}

void RunMarkActions::setColour(int colour) {
  const std::vector<std::int64_t> runs = workbench_.selection().targets();
  std::map<std::int64_t, std::string> values;
  for (const std::int64_t run : runs) values[run] = colour == 0 ? "" : std::to_string(colour);
  edits_.mark(store::RunField::Colour, values,
              tr("Stored the colour of %1.").arg(workbench_.namesOf(runs)));
  refresh();
}

}  // namespace vitrine::ui
