// The form of [select]: the grid, the score that decides, the final runs.
#include <QCheckBox>
#include <QLabel>
#include <QLineEdit>
#include <QToolButton>
#include <algorithm>

#include "core/config/selection.h"
#include "ui/configure/form/axis_list.h"
#include "ui/configure/form/experiment_form.h"
#include "ui/configure/form/form_lines.h"
#include "ui/configure/form/wording.h"
#include "ui/kit/small_widgets.h"

namespace vitrine::ui {

namespace {

const char* const kRate = "train.optimizer.learning_rate";

}  // namespace

std::vector<Document::Axis> gridOf(const Document& document) {
  std::vector<Document::Axis> axes;
  const Json* grid = document.find("select.grid");
  if (grid == nullptr || !grid->is_object()) return axes;
  for (const auto& [key, values] : flatten(*grid)) {
    if (values.is_array()) {
      axes.push_back({key, {values.begin(), values.end()}});
    } else {
      axes.push_back({key, {values}});
    }
  }
  return axes;
}

void ExperimentForm::buildSelect() {
  grid_ = nullptr;
  gridProblem_ = nullptr;
  const bool isOn = document_.find("select") != nullptr;
  auto* holder = new QWidget(select_);
  QVBoxLayout* column = lineOf(holder, 6);
  auto* box = new QCheckBox(tr("Choose values on a held-out part of the training set"), holder);
  box->setObjectName(QStringLiteral("select"));
  box->setChecked(isOn);
  QLabel* about =
      wrappedLabel("small", holder,
                   tr("Every combination of the values below is trained without that part and "
                      "scored on it. The best one is trained again on all of the training set, "
                      "once for each seed. Only these final runs see the test set."));
  about->setContentsMargins(px(22), 0, 0, 0);
  box->setAccessibleDescription(about->text());
  column->addWidget(box);
  column->addWidget(about);
  select_->addWidget(holder, box->text() + tr(" select grid holdout refit best"));
  connect(box, &QCheckBox::toggled, this, &ExperimentForm::toggleSelect);
  if (!isOn) return;

  auto* gridHolder = new QWidget(select_);
  QVBoxLayout* gridColumn = lineOf(gridHolder, 4);
  auto* line = new QHBoxLayout;
  auto* title = new QLabel(tr("Values to choose between"), gridHolder);
  auto* add = makeQuietButton(tr("+ key"), tr("Add a key to choose a value of"), gridHolder);
  line->addWidget(title);
  line->addStretch();
  line->addWidget(add);
  gridColumn->addLayout(line);
  grid_ = new AxisList(QStringLiteral("select.grid"), tr("grid axis"), gridHolder);
  grid_->setKeys(gridKeys_);
  gridColumn->addWidget(grid_);
  gridProblem_ = wrappedLabel("error", gridHolder);
  gridProblem_->hide();
  gridColumn->addWidget(gridProblem_);
  select_->addWidget(gridHolder, tr("select grid values to choose between"));
  connect(add, &QToolButton::clicked, grid_, &AxisList::addAxis);
  connect(grid_, &AxisList::edited, this, &ExperimentForm::takeGrid);

  for (const Field& field : selectSchema().fields) {
    const bool isMetric = field.name == "metric";
    addRow(select_, "select." + field.name, titleOf(field), isMetric ? metricField(field) : field,
           0)
        ->leaveMenuOut();
  }
}

Field ExperimentForm::metricField(const Field& plain) const {
  const ItemCard* task = chosen(ItemKind::Task);
  if (task == nullptr || task->metrics.headline.empty()) return plain;
  std::vector<std::string> names;
  const auto add = [&names](const std::string& name) {
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  };
  for (const std::string& quantity : task->metrics.headline) add("validation/" + quantity);
  for (const std::string& plot : task->metrics.plots) {
    if (const std::size_t slash = plot.find('/'); plot.starts_with("test/"))
      add("validation" + plot.substr(slash));
  }
  Field field = plain;
  field.type = FieldType::Choice;
  field.choices = names;
  return field;
}

void ExperimentForm::toggleSelect(bool isOn) {
  if (isOn) {
    const Json rate = value(kRate);
    const double now = rate.is_number() ? rate.get<double>() : 1e-3;
    document_.set("select", Json::object());
    document_.tables["select"]["grid"][kRate] = Json::array({now, now / 2});
  } else {
    document_.tables.erase("select");
  }
  tell(tr("choice on a held-out part"), QString());
}

void ExperimentForm::takeGrid(const QString& label, const QString& mergeKey) {
  const std::vector<Document::Axis> before = gridOf(document_), now = grid_->axes();
  const bool isSameKeys = std::equal(before.begin(), before.end(), now.begin(), now.end(),
                                     [](const auto& a, const auto& b) { return a.key == b.key; });
  Json& select = document_.tables["select"];
  if (!isSameKeys || !select.contains("grid")) select["grid"] = Json::object();
  for (const Document::Axis& axis : now) {
    // Where the file spells the key as nested tables, the value stays there.
    const Json* there = isSameKeys ? document_.find("select.grid." + axis.key) : nullptr;
    if (there != nullptr) {
      document_.set("select.grid." + axis.key, Json(axis.values));
    } else {
      select["grid"][axis.key] = Json(axis.values);
    }
  }
  tell(label, mergeKey);
}

void ExperimentForm::setGridKeys(const QStringList& keys) {
  gridKeys_ = keys;
  if (grid_ != nullptr) grid_->setKeys(keys);
}

QStringList ExperimentForm::unread() const {
  QStringList sentences;
  if (grid_ == nullptr) return sentences;
  for (const QString& message : grid_->unread()) sentences << tr("In the selection: ") + message;
  return sentences;
}

void ExperimentForm::showRuns(const Plan& plan) {
  std::size_t grid = 0, refits = 0;
  for (const PlannedRun& run : plan.runs) {
    grid += run.part == RunPart::Grid ? 1 : 0;
    refits += run.part == RunPart::Refit ? 1 : 0;
  }
  if (grid == 0 && refits == 0) {
    runsWords_.clear();
  } else if (plan.runs.size() == plan.total) {
    runsWords_ =
        tr("%1 of the grid, then %2").arg(plural(grid, tr("run")), plural(refits, tr("final run")));
  } else {
    runsWords_ = tr("%1 in all").arg(plural(plan.total, tr("run")));
  }
  showNotes();
}

}  // namespace vitrine::ui
