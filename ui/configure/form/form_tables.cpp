// Tables with a name of their own, [aux.NAME] and [train.groups.NAME], and where problems of tables
// stand.
#include <QLabel>
#include <QLineEdit>
#include <QMenu>
#include <QPushButton>
#include <QTimer>
#include <QToolButton>

#include "core/config/train_schema.h"
#include "ui/configure/form/axis_list.h"
#include "ui/configure/form/experiment_form.h"
#include "ui/configure/form/form_lines.h"
#include "ui/configure/form/pipeline_editor.h"
#include "ui/configure/form/table_bar.h"
#include "ui/kit/small_widgets.h"
#include "ui/kit/theme.h"

namespace vitrine::ui {

namespace {

const char* const kGroups = "train.groups";

}  // namespace

void ExperimentForm::buildNamed(FormSection* section, const std::string& place, const QString& what,
                                const std::string& firstName) {
  const std::vector<std::string> names = document_.namesBelow(place);
  for (const std::string& name : names) {
    std::vector<std::string> others = names;
    std::erase(others, name);
    auto* bar = new TableBar(place, name, what, others, section);
    const std::string path = place + "." + name;
    section->addWidget(bar, what + QLatin1Char(' ') + QString::fromStdString(path));
    bars_[path] = bar;
    // The bar is replaced by its own edit: not while it emits a signal.
    connect(bar, &TableBar::renamed, this, [this, place, name](const std::string& to) {
      QTimer::singleShot(0, this,
                         [this, place, name, to] { Q_EMIT renameRequested(place, name, to); });
    });
    connect(bar, &TableBar::removed, this, [this, path, what, name] {
      document_.erase(path);
      tell(tr("removal of the %1 %2").arg(what, QString::fromStdString(name)), QString());
    });
    if (place == kGroups) {
      buildGroup(path);
    } else {
      buildAuxiliary(path);
    }
  }
  auto* holder = new QWidget(section);
  auto* column = lineOf(holder, 6);
  auto* line = new QHBoxLayout;
  const QString text = place == kGroups ? tr("Add a group") : tr("Add an auxiliary network");
  auto* add = withName(new QPushButton(text, holder), text);
  line->addWidget(add);
  line->addStretch();
  column->addLayout(line);
  section->addWidget(holder, what + QLatin1Char(' ') + QString::fromStdString(place));
  connect(add, &QPushButton::clicked, this, [this, place, what, names, firstName] {
    const std::string path = place + "." + TableBar::freeName(firstName, names);
    document_.set(path, Json::object());
    wantedFocus_ = path;
    tell(tr("new %1").arg(what), QString());
  });
}

void ExperimentForm::buildAux() {
  auto* about = new QWidget(aux_);
  lineOf(about, 2)->addWidget(
      wrappedLabel("small", about,
                   tr("Trained models that the run uses and does not train: a codec, a teacher, a "
                      "judge. The task asks for them by name.")));
  aux_->addWidget(about, tr("auxiliary networks teacher codec judge frozen"));
  buildNamed(aux_, "aux", tr("auxiliary network"), "network");
}

void ExperimentForm::buildAuxiliary(const std::string& path) {
  addFields(aux_, path, auxSchema().fields, 0);
  addSourceButtons(path);
  const std::string model = path + ".model";
  const QString doc =
      tr("architecture of a safetensors file; a checkpoint folder or a run names "
         "its own");
  Field field =
      choiceField("architecture", nullptr, catalog_->ids(ItemKind::Architecture), doc.toStdString())
          .titled(tr("Architecture of the file").toStdString())
          .orNone();
  addRow(aux_, model + ".architecture", titleOf(field), field, 0);
  const ItemCard* card =
      catalog_->find(ItemKind::Architecture, document_.text(model + ".architecture"));
  if (card == nullptr) return;
  addPreset(aux_, model, *card);
  const std::size_t first = aux_->rows().size();
  addFields(aux_, model, card->schema.fields, px(12));
  for (std::size_t i = first; i < aux_->rows().size(); ++i) aux_->rows()[i]->setCommon(false);
}

void ExperimentForm::addSourceButtons(const std::string& table) {
  const QString what = table == "init" ? tr("to start from") : QString::fromStdString(table);
  QToolButton* choose =
      row(table + ".run")
          ->addButton(tr("Choose\u2026"),
                      tr("Choose a run %1").arg(table == "init" ? what : tr("for %1").arg(what)));
  connect(choose, &QToolButton::clicked, this,
          [this, table, choose] { offerSources(table, choose); });
  QToolButton* browse =
      row(table + ".weights")
          ->addButton(
              tr("Browse\u2026"),
              tr("Choose a weights file %1").arg(table == "init" ? what : tr("for %1").arg(what)));
  connect(browse, &QToolButton::clicked, this, [this, table] { Q_EMIT weightsRequested(table); });
}

QStringList ExperimentForm::sources() const {
  QStringList words;
  for (const Document::Variant& variant : document_.variants)
    words << QStringLiteral("variant:") + QString::fromStdString(variant.name);
  const auto stages = document_.rest.find("stage");
  if (stages == document_.rest.end() || !stages->is_array()) return words;
  words << QStringLiteral("previous");
  for (const Json& stage : *stages) {
    if (stage.is_object() && stage.contains("name") && stage["name"].is_string())
      words << QStringLiteral("stage:") + QString::fromStdString(stage["name"].get<std::string>());
  }
  return words;
}

void ExperimentForm::offerSources(const std::string& table, QWidget* from) {
  const QStringList words = sources();
  if (words.isEmpty()) {
    Q_EMIT runRequested(table);
    return;
  }
  auto* menu = new QMenu(this);
  menu->setAttribute(Qt::WA_DeleteOnClose);
  connect(menu->addAction(tr("A run of this database\u2026")), &QAction::triggered, this,
          [this, table] { Q_EMIT runRequested(table); });
  menu->addSeparator();
  for (const QString& word : words) {
    connect(menu->addAction(word), &QAction::triggered, this, [this, table, word] {
      document_.erase(table + ".weights");  // one of both
      document_.erase(table + ".model");
      set(table + ".run", word.toStdString(),
          tr("source of %1").arg(QString::fromStdString(table)));
    });
  }
  menu->popup(from->mapToGlobal(QPoint(0, from->height())));
}

void ExperimentForm::buildGroups() {
  auto* about = new QWidget(training_);
  QVBoxLayout* column = lineOf(about, 10);
  auto* title = withRole(new QLabel(tr("Groups of parameters"), about), "muted");
  column->addWidget(title);
  column->addWidget(wrappedLabel("small", about,
                                 tr("Groups of parameters with an update rule of their own; the "
                                    "optimizer trains all others as set above. A name like head.* "
                                    "matches every name that begins with it.")));
  training_->addWidget(about, tr("groups of parameters freeze learning rate scale"));
  buildNamed(training_, kGroups, tr("group"), "head");
}

void ExperimentForm::buildGroup(const std::string& path) {
  addFields(training_, path, parameterGroupSchema().fields, 0);
  for (const Field& field : parameterGroupSchema().fields)
    row(path + "." + field.name)->setCommon(true);
  const std::string given = document_.text("train.optimizer.name");
  const std::string optimizer =
      given.empty() ? trainSchema().find("optimizer.name")->defaultValue.get<std::string>() : given;
  const ItemCard* card = catalog_->find(ItemKind::Optimizer, optimizer);
  if (card == nullptr) return;
  for (const Field& field : card->schema.fields) {
    const QString title = tr("Optimizer: %1").arg(titleOf(field).toLower());
    FormRow* added = addRow(training_, path + ".optimizer." + field.name, title, field, 0);
    added->setCommon(false);
  }
}

QString ExperimentForm::noteOf(const FormSection* section) const {
  if (section == select_) {
    if (document_.find("select") == nullptr) return tr("off: uses the values above");
    return runsWords_;
  }
  QStringList names;
  for (const std::string& name : document_.namesBelow("aux")) names << QString::fromStdString(name);
  return names.isEmpty() ? tr("none") : names.join(QStringLiteral(", "));
}

std::string ExperimentForm::placeOf(const std::string& key) const {
  if (rows_.count(key) > 0 || bars_.count(key) > 0) return key;
  for (const PipelineEditor* editor : pipelines_) {
    if (editor != nullptr && editor->shows(key)) return key;
  }
  if (rows_.count(key + ".architecture") > 0) return key + ".architecture";
  if (grid_ == nullptr) return {};
  const bool isOfGrid = key == "select.grid" || (key.starts_with("select.grid.") &&
                                                 grid_->keyLine(key.substr(12)) != nullptr);
  return isOfGrid ? key : std::string();
}

QWidget* ExperimentForm::place(const std::string& key) const {
  const std::string there = placeOf(key);
  if (FormRow* field = row(there); field != nullptr) return field->editor().input();
  if (const auto bar = bars_.find(there); bar != bars_.end()) return &bar->second->line();
  for (PipelineEditor* editor : pipelines_) {
    if (editor != nullptr && editor->shows(there)) return editor->place(there);
  }
  if (there.empty() || grid_ == nullptr) return nullptr;
  QLineEdit* line = there.size() > 12 ? grid_->keyLine(there.substr(12)) : nullptr;
  return line != nullptr ? static_cast<QWidget*>(line) : grid_;
}

void ExperimentForm::showTableProblems(const std::map<std::string, QString>& messages,
                                       const std::vector<Problem>& problems) {
  const auto messageAt = [&messages](const std::string& key) {
    const auto found = messages.find(key);
    return found == messages.end() ? QString() : found->second;
  };
  for (const auto& [path, bar] : bars_) bar->setMessage(messageAt(path));
  for (PipelineEditor* editor : pipelines_) {
    if (editor != nullptr) editor->showProblems(messages);
  }
  if (grid_ == nullptr) return;
  grid_->showProblems(problems);
  sayIn(*gridProblem_, messageAt("select.grid"));
}

}  // namespace vitrine::ui
