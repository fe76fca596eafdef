// Builds rows from schemas and keeps rows and document the same.
#include "ui/configure/form/experiment_form.h"

#include <QCheckBox>
#include <QComboBox>
#include <QLabel>
#include <QLineEdit>
#include <QResizeEvent>
#include <QStandardItemModel>
#include <QTimer>
#include <QToolButton>
#include <algorithm>

#include "core/base/text.h"
#include "core/config/reads_images.h"
#include "core/config/selection.h"
#include "core/config/train_schema.h"
#include "ui/configure/form/axis_list.h"
#include "ui/configure/form/pipeline_editor.h"
#include "ui/configure/form/wording.h"
#include "ui/kit/small_widgets.h"
#include "ui/kit/theme.h"
#include "ui/kit/value_text.h"

namespace vitrine::ui {

namespace {

constexpr int kNarrow = 600;  // pixels: below this the help stands under the editor

}  // namespace

ExperimentForm::ExperimentForm(QWidget* parent)
    : QWidget(parent),
      experiment_(new FormSection(QStringLiteral("experiment"), tr("Experiment"), this)),
      model_(new FormSection(QStringLiteral("model"), tr("Model"), this)),
      task_(new FormSection(QStringLiteral("task"), tr("Task"), this)),
      data_(new FormSection(QStringLiteral("data"), tr("Data"), this)),
      training_(new FormSection(QStringLiteral("train"), tr("Training"), this)),
      observe_(new FormSection(QStringLiteral("observe"), tr("Observe"), this)),
      init_(new FormSection(QStringLiteral("init"), tr("Start from"), this)),
      aux_(new FormSection(QStringLiteral("aux"), tr("Auxiliary networks"), this)),
      select_(new FormSection(QStringLiteral("select"), tr("Selection"), this)),
      sections_{experiment_, model_, task_, data_, training_, observe_, init_, aux_, select_},
      title_(new QLineEdit(this)) {
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(px(12), px(8), px(2), px(12));  // the rest is the scroll bar
  column->setSpacing(px(12));
  for (FormSection* section : sections_) {
    column->addWidget(section);
    connect(section, &FormSection::viewChanged, this, &ExperimentForm::viewChanged);
  }
  for (FormSection* rare : {init_, aux_, select_}) rare->setOpen(false);
  column->addStretch();
  title_->setAccessibleName(tr("Title of the experiment"));
  title_->setPlaceholderText(tr("Name of this experiment in the list"));
  auto* line = new QWidget(this);
  auto* box = columnIn(line, {px(16), px(3), px(16), px(3)});
  box->addWidget(title_);
  experiment_->addWidget(line, tr("title name of the experiment"));
  connect(title_, &QLineEdit::textEdited, this, [this](const QString& text) {
    document_.title = text.toStdString();
    Q_EMIT edited(tr("title"), QStringLiteral("title"));
  });
}

void ExperimentForm::setCatalog(const Catalog& catalog) {
  catalog_ = &catalog;
  built_.clear();
}

void ExperimentForm::rebuild() {
  built_.clear();
  setDocument(Document(document_), FieldEditor::Typing::Replace);
}

void ExperimentForm::setDocument(const Document& document, FieldEditor::Typing typing) {
  document_ = document;
  if (catalog_ == nullptr) return;
  std::string choices = document_.text("model.architecture") + "|" + document_.text("task.name") +
                        "|" + document_.text("data.dataset") + "|" +
                        document_.text("train.optimizer.name") + "|" +
                        document_.text("train.schedule.name") + "|";
  if (const Json* observed = document_.find("observe");
      observed != nullptr && observed->is_object()) {
    for (const auto& entry : observed->items()) choices += entry.key() + ",";
  }
  for (const std::string& name : document_.namesBelow("aux"))
    choices += "|" + name + " " + document_.text("aux." + name + ".model.architecture");
  for (const std::string& name : document_.namesBelow("train.groups")) choices += "|" + name;
  choices += document_.find("select") != nullptr ? "|select" : "|";
  if (choices != built_) {
    built_ = choices;
    build();
  }
  refresh(typing);
}

const ItemCard* ExperimentForm::chosen(ItemKind kind) const {
  const char* key = kind == ItemKind::Architecture ? "model.architecture"
                    : kind == ItemKind::Task       ? "task.name"
                                                   : "data.dataset";
  return catalog_->find(kind, document_.text(key));
}

Schema ExperimentForm::trainingSchema() const {
  const auto named = [this](const std::string& key) {
    const std::string given = document_.text(key);
    return given.empty() ? trainSchema().find(key.substr(6))->defaultValue.get<std::string>()
                         : given;
  };
  return trainSchemaWith(*catalog_, named("train.optimizer.name"), named("train.schedule.name"));
}

QString ExperimentForm::lack(const ItemCard& item) const {
  const ItemCard* architecture = chosen(ItemKind::Architecture);
  const ItemCard* dataset = chosen(ItemKind::Dataset);
  const ItemCard* task = item.kind == ItemKind::Task ? nullptr : chosen(ItemKind::Task);
  if (architecture == nullptr) return {};
  // A transform of the pipeline may fill a field that the data set has not.
  const auto isMade = [this](const std::string& need) {
    return std::any_of(catalog_->items.begin(), catalog_->items.end(), [&](const ItemCard& card) {
      return card.kind == ItemKind::Transform && offersEvery(card.offers, {need});
    });
  };
  QStringList missing;
  for (const std::string& need : item.needs) {
    const auto has = [&](const ItemCard* card) {
      return card != nullptr && offersEvery(card->offers, {need});
    };
    if (!has(architecture) && !has(dataset) && !has(task) && !isMade(need))
      missing << asWords(need);
  }
  if (missing.isEmpty()) {
    return lacksImages(item, *architecture, task)
               ? tr("%1 does not read images").arg(QString::fromStdString(architecture->id))
               : QString();
  }
  return tr("%1 offers no %2")
      .arg(QString::fromStdString(architecture->id), missing.join(QStringLiteral(", ")));
}

Json ExperimentForm::value(const std::string& key) const {
  const FormRow* field = row(key);
  const Json* given = document_.find(key);
  const Json plain = given != nullptr ? *given : base(key);
  return field == nullptr ? plain : normalized(field->editor().field(), plain);
}

void ExperimentForm::refresh(FieldEditor::Typing typing) {
  base_ = withPreset();
  if (!base_.contains("init")) base_["init"] = initSchema().defaults();
  base_["select"] = selectSchema().defaults();
  // What a group does not say is as the optimizer's own table has it.
  Json optimizer = base_["train"]["optimizer"];
  if (const Json* given = document_.find("train.optimizer"); given != nullptr)
    mergeInto(optimizer, *given);
  for (const std::string& name : document_.namesBelow("train.groups"))
    base_["train"]["groups"][name]["optimizer"] = optimizer;
  const QString title = QString::fromStdString(document_.title);
  if (title_->text() != title) title_->setText(title);
  for (const auto& [key, row] : rows_) {
    const Field& field = row->editor().field();
    const Json standard = normalized(field, base(key));
    const Json* given = document_.find(key);
    const Json value = given == nullptr ? standard : normalized(field, *given);
    row->editor().setValue(value, typing);
    const bool isChooser =
        key.ends_with(".architecture") || key == "task.name" || key == "data.dataset";
    row->setChanged(
        given != nullptr && !isChooser && !key.ends_with(".preset") && value != standard,
        fieldText(field, standard));
  }
  if (grid_ != nullptr) grid_->setAxes(gridOf(document_));
  showPipeline(typing);
  showNotes();
}

void ExperimentForm::showNotes() {
  for (FormSection* section : sections_) {
    int changed = 0;
    for (const FormRow* row : section->rows()) changed += row->isChanged() ? 1 : 0;
    QStringList note;
    if (section == model_ && !document_.text("model.preset").empty())
      note << tr("preset ") + QString::fromStdString(document_.text("model.preset"));
    if (section == aux_ || section == select_) {
      note << noteOf(section);
    } else if (section == init_) {
      const bool isRun = !document_.text("init.run").empty();
      const bool isFile = !document_.text("init.weights").empty();
      note << (isRun ? tr("a run") : isFile ? tr("a weights file") : tr("nothing: new weights"));
    } else if (changed > 0) {
      note << tr("%1 %2 changed").arg(changed).arg(changed == 1 ? tr("field") : tr("fields"));
    }
    section->setNote(note.join(QStringLiteral(" \u00b7 ")));
    section->arrange();
  }
}

void ExperimentForm::onEdited(FormRow* row) {
  const std::string& key = row->key();
  const Field& field = row->editor().field();
  std::optional<Json> value = row->editor().value();
  const QString label = row->title().toLower();
  // Each choice in a list is one step; typing in a line is one step as a whole.
  const QString mergeKey =
      row->editor().isTyped() ? QStringLiteral("field:") + QString::fromStdString(key) : QString();
  if (key.ends_with(".architecture")) {
    chooseArchitecture(key.substr(0, key.rfind('.')),
                       value && value->is_string() ? value->get<std::string>() : std::string());
  } else {
    const bool isChooser = key == "task.name" || key == "data.dataset";
    if (key == "train.optimizer.name" || key == "train.schedule.name")
      keepCommonKeys(key, value ? value->get<std::string>() : std::string());
    if (!value || (!isChooser && normalized(field, *value) == normalized(field, base(key)))) {
      document_.erase(key);
    } else {
      document_.set(key, *value);
    }
  }
  tell(label, mergeKey);
}

void ExperimentForm::tell(const QString& label, const QString& mergeKey) {
  // Rows may go with another choice: not while one of them emits a signal.
  QTimer::singleShot(0, this, [this] { setDocument(Document(document_)); });
  Q_EMIT edited(label, mergeKey);
}

void ExperimentForm::set(const std::string& key, const Json& value, const QString& label) {
  document_.set(key, value);
  setDocument(Document(document_), FieldEditor::Typing::Replace);
  Q_EMIT edited(label, QString());
}

void ExperimentForm::reset(const std::string& key) {
  const FormRow* field = row(key);
  const QString label = field == nullptr ? QString::fromStdString(key) : field->title().toLower();
  if (key == "train.optimizer.name" || key == "train.schedule.name")
    keepCommonKeys(key, trainSchema().find(key.substr(6))->defaultValue.get<std::string>());
  document_.erase(key);
  setDocument(Document(document_), FieldEditor::Typing::Replace);
  Q_EMIT edited(label, QString());
}

int ExperimentForm::search(const QString& text) {
  const QStringList words = text.split(QLatin1Char(' '), Qt::SkipEmptyParts);
  int found = 0;
  for (FormSection* section : sections_) {
    section->setSearch(words);
    found += section->found();
  }
  return found;
}

FormRow* ExperimentForm::firstFound() const {
  for (const FormSection* section : sections_) {
    if (section->found() == 0) continue;
    for (FormRow* row : section->rows()) {
      if (!row->isHidden()) return row;
    }
  }
  return nullptr;
}

void ExperimentForm::reveal(QWidget* part) {
  FormRow* field = nullptr;
  for (; part != nullptr && part != this; part = part->parentWidget()) {
    if (field == nullptr) field = qobject_cast<FormRow*>(part);
    auto* section = qobject_cast<FormSection*>(part);
    if (section == nullptr) continue;
    if (!section->isOpen()) section->setOpen(true);
    if (field != nullptr && field->isHidden()) section->setUnfolded(true);
  }
}

void ExperimentForm::chooseArchitecture(const std::string& table, const std::string& id) {
  if (id.empty()) {
    document_.erase(table);
    return;
  }
  const ItemCard* card = catalog_->find(ItemKind::Architecture, id);
  Json kept = Json::object({{"architecture", id}});
  if (table == "model" && card != nullptr && card->schema.preset(id + "/demo") != nullptr)
    kept["preset"] = id + "/demo";
  // What was said about fields that both have stays said.
  if (const Json* model = document_.find(table);
      model != nullptr && model->is_object() && card != nullptr) {
    for (const auto& [key, value] : model->items()) {
      if (key != "architecture" && key != "preset" && !value.is_object() &&
          card->schema.find(key) != nullptr) {
        kept[key] = value;
      }
    }
  }
  document_.set(table, kept);
}

void ExperimentForm::keepCommonKeys(const std::string& key, const std::string& id) {
  const std::string table = key.substr(0, key.rfind('.'));
  const bool isOptimizer = table == "train.optimizer";
  const ItemKind kind = isOptimizer ? ItemKind::Optimizer : ItemKind::Schedule;
  if (catalog_->find(kind, id) == nullptr) return;
  const Schema next = trainSchemaWith(*catalog_, isOptimizer ? id : "", isOptimizer ? "" : id);
  std::vector<std::string> tables{table};
  if (isOptimizer) {  // a group's keys are those of the optimizer, too
    for (const std::string& name : document_.namesBelow("train.groups"))
      tables.push_back("train.groups." + name + ".optimizer");
  }
  std::vector<std::string> gone;
  for (const std::string& each : tables) {
    const Json* given = document_.find(each);
    if (given == nullptr || !given->is_object()) continue;
    for (const auto& entry : given->items()) {
      if (next.find(table.substr(6) + "." + entry.key()) == nullptr)
        gone.push_back(each + "." + entry.key());
    }
  }
  for (const std::string& each : gone) document_.erase(each);
}

void ExperimentForm::toggleAnalysis(const std::string& id, bool isOn, const QString& title) {
  if (isOn) {
    document_.set("observe." + id, Json::object());
  } else {
    document_.erase("observe." + id);
  }
  tell(title.toLower(), QString());
}

std::vector<Problem> ExperimentForm::showProblems(const std::vector<Problem>& problems) {
  std::map<std::string, QString> messages;
  std::vector<Problem> others;
  for (const Problem& problem : problems) {
    const QString text = messageOf(problem);
    const std::string there = placeOf(problem.key);
    if (there.empty()) {
      others.push_back(problem);
    } else if (messages[there].isEmpty()) {
      messages[there] = text;
    } else {
      messages[there] += QStringLiteral("; ") + text;
    }
  }
  for (const auto& [key, row] : rows_)
    row->setMessage(messages.count(key) > 0 ? messages[key] : QString());
  showTableProblems(messages, problems);
  for (FormSection* section : sections_) section->arrange();
  return others;
}

std::vector<std::string> ExperimentForm::sourceTables() const {
  std::vector<std::string> tables{"init"};
  for (const std::string& name : document_.namesBelow("aux")) tables.push_back("aux." + name);
  return tables;
}

FormRow* ExperimentForm::row(const std::string& key) const {
  const auto found = rows_.find(key);
  return found == rows_.end() ? nullptr : found->second;
}

void ExperimentForm::placeHelp() {
  const bool isNarrow = width() < px(kNarrow);
  for (const auto& [key, row] : rows_) row->setHelpBelow(isNarrow);
  for (const PipelineEditor* editor : pipelines_) {
    if (editor == nullptr) continue;
    for (FormRow* row : editor->rows()) row->setHelpBelow(isNarrow);
  }
}

void ExperimentForm::resizeEvent(QResizeEvent* event) {
  QWidget::resizeEvent(event);
  placeHelp();
}

}  // namespace vitrine::ui
