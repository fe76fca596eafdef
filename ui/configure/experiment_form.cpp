// Builds rows from schemas and keeps rows and document the same.
#include "ui/configure/experiment_form.h"

#include <QCheckBox>
#include <QComboBox>
#include <QLabel>
#include <QLineEdit>
#include <QResizeEvent>
#include <QStandardItemModel>
#include <QTimer>
#include <QVBoxLayout>
#include <algorithm>
#include <set>
#include <string_view>

#include "core/base/text.h"

namespace vitrine::ui {

namespace {

constexpr int kNarrow = 560;      // pixels: below this the help stands under the editor
constexpr std::size_t kFew = 12;  // a section of so many fields needs no fold

/// The words of the common vocabulary that are shown first; everything else folds while it has its
/// default.
bool isCommonKey(const std::string& key) {
  static const std::set<std::string_view> kCommon{"model.image_size",
                                                  "model.patch_size",
                                                  "model.in_channels",
                                                  "model.num_classes",
                                                  "model.width",
                                                  "model.depth",
                                                  "model.heads",
                                                  "model.mlp_width",
                                                  "model.class_token",
                                                  "model.pool",
                                                  "model.pos_embed",
                                                  "model.drop_path",
                                                  "model.mask.kind",
                                                  "model.mask.mode",
                                                  "model.mask.schedule",
                                                  "model.mask.epochs",
                                                  "train.epochs",
                                                  "train.batch_size",
                                                  "train.optimizer.name",
                                                  "train.optimizer.learning_rate",
                                                  "train.precision",
                                                  "train.device",
                                                  "train.seed",
                                                  "train.optimizer.weight_decay",
                                                  "train.schedule.name",
                                                  "train.schedule.warmup_steps",
                                                  "data.train_samples",
                                                  "data.augment.flip",
                                                  "data.augment.crop_padding",
                                                  "data.normalize"};
  return kCommon.count(key) > 0;
}

std::size_t leafCount(const std::vector<Field>& fields) {
  std::size_t leaves = 0;
  for (const Field& field : fields)
    leaves += field.type == FieldType::Table ? leafCount(field.fields) : 1;
  return leaves;
}

const Json* valueAt(const Json& root, const std::string& dottedKey) {
  const Json* node = &root;
  for (const std::string& part : split(dottedKey, '.')) {
    if (!node->is_object() || !node->contains(part)) return nullptr;
    node = &(*node)[part];
  }
  return node;
}

/// An analysis's fields, then when it is due; its own field of a name wins.
std::vector<Field> analysisFields(const ItemCard& analysis) {
  std::vector<Field> fields = analysis.schema.fields;
  for (const Field& field : observeSchema().fields) {
    const bool isOwn = std::any_of(fields.begin(), fields.end(),
                                   [&](const Field& one) { return one.name == field.name; });
    if (!isOwn) fields.push_back(field);
  }
  return fields;
}

Json defaultsOf(const std::vector<Field>& fields) {
  Schema schema;
  schema.fields = fields;
  return schema.defaults();
}

}  // namespace

ExperimentForm::ExperimentForm(QWidget* parent)
    : QWidget(parent),
      experiment_(new FormSection(QStringLiteral("Experiment"), this)),
      model_(new FormSection(QStringLiteral("Model"), this)),
      task_(new FormSection(QStringLiteral("Task"), this)),
      data_(new FormSection(QStringLiteral("Data"), this)),
      training_(new FormSection(QStringLiteral("Training"), this)),
      observe_(new FormSection(QStringLiteral("Observe"), this)),
      title_(new QLineEdit(this)) {
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(12, 12, 2, 12);  // the scroll bar is the rest of the margin
  column->setSpacing(12);
  for (FormSection* section : {experiment_, model_, task_, data_, training_, observe_})
    column->addWidget(section);
  column->addStretch();
  title_->setAccessibleName(QStringLiteral("Title of the experiment"));
  title_->setPlaceholderText(QStringLiteral("What this experiment is called in the list"));
  auto* line = new QWidget(this);
  auto* box = new QVBoxLayout(line);
  box->setContentsMargins(16, 3, 16, 3);
  box->addWidget(title_);
  experiment_->addWidget(line);
  connect(title_, &QLineEdit::textEdited, this, [this](const QString& text) {
    document_.title = text.toStdString();
    Q_EMIT edited();
  });
}

void ExperimentForm::setCatalog(const Catalog& catalog) {
  catalog_ = &catalog;
  built_.clear();
  setDocument(document_);
}

Document ExperimentForm::freshDocument(const Catalog& catalog) {
  Document document;
  document.title = "New experiment";
  const auto first = [&](ItemKind kind) {
    const std::vector<std::string> ids = catalog.ids(kind);
    return ids.empty() ? std::string() : ids.front();
  };
  const std::string architecture = first(ItemKind::Architecture);
  document.set("model.architecture", architecture);
  if (const ItemCard* card = catalog.find(ItemKind::Architecture, architecture); card != nullptr) {
    if (card->schema.preset(architecture + "/demo") != nullptr)
      document.set("model.preset", architecture + "/demo");
  }
  document.set("task.name", first(ItemKind::Task));
  document.set("data.dataset", first(ItemKind::Dataset));
  return document;
}

void ExperimentForm::setDocument(const Document& document) {
  document_ = document;
  if (catalog_ == nullptr) return;
  std::string choices = document_.text("model.architecture") + "|" + document_.text("task.name") +
                        "|" + document_.text("data.dataset") + "|";
  if (const Json* observed = document_.find("observe");
      observed != nullptr && observed->is_object()) {
    for (const auto& entry : observed->items()) choices += entry.key() + ",";
  }
  if (choices != built_) {
    built_ = choices;
    build();
  }
  refresh();
}

const ItemCard* ExperimentForm::chosen(ItemKind kind) const {
  const char* key = kind == ItemKind::Architecture ? "model.architecture"
                    : kind == ItemKind::Task       ? "task.name"
                                                   : "data.dataset";
  return catalog_->find(kind, document_.text(key));
}

QString ExperimentForm::lack(const ItemCard& item) const {
  const ItemCard* architecture = chosen(ItemKind::Architecture);
  const ItemCard* dataset = chosen(ItemKind::Dataset);
  if (architecture == nullptr) return {};
  QStringList missing;
  for (const std::string& need : item.needs) {
    const auto has = [&](const ItemCard* card) {
      return card != nullptr &&
             std::find(card->offers.begin(), card->offers.end(), need) != card->offers.end();
    };
    if (!has(architecture) && !has(dataset)) {
      missing << QString::fromStdString(need).replace(QLatin1Char('_'), QLatin1Char(' '));
    }
  }
  if (missing.isEmpty()) return {};
  return QStringLiteral("%1 offers no %2")
      .arg(QString::fromStdString(architecture->id), missing.join(QStringLiteral(", ")));
}

void ExperimentForm::build() {
  rows_.clear();
  for (FormSection* section : {model_, task_, data_, training_, observe_}) section->clear();
  buildModel();
  buildTask();
  buildData();
  buildTraining();
  buildObserve();
  placeHelp();
}

FormRow* ExperimentForm::addRow(FormSection* section, const std::string& key, const QString& title,
                                const Field& field, int indent) {
  auto* row = new FormRow(key, title, field, indent, section);
  connect(&row->editor(), &FieldEditor::edited, this, [this, row] { onEdited(row); });
  section->addRow(row);
  rows_[key] = row;
  return row;
}

void ExperimentForm::addFields(FormSection* section, const std::string& prefix,
                               const std::vector<Field>& fields, int indent) {
  const bool folds = leafCount(fields) > kFew || indent > 0;
  // Leaves first: a table's rows stand together under its name.
  for (const Field& field : fields) {
    if (field.type == FieldType::Table) continue;
    FormRow* row = addRow(section, prefix + "." + field.name, titleOf(field.name), field, indent);
    row->setCommon(!folds || isCommonKey(row->key()) || field.required ||
                   prefix.rfind("observe.", 0) == 0);
  }
  for (const Field& field : fields) {
    if (field.type != FieldType::Table) continue;
    section->addHeading(titleOf(field.name), QString::fromStdString(field.doc));
    addFields(section, prefix + "." + field.name, field.fields, 12);
  }
}

FormRow* ExperimentForm::addChooser(FormSection* section, const std::string& key,
                                    const QString& title, ItemKind kind, const std::string& doc) {
  Field field =
      choiceField(key.substr(key.find('.') + 1), document_.text(key), catalog_->ids(kind), doc);
  field.required = true;
  if (const ItemCard* card = catalog_->find(kind, document_.text(key)); card != nullptr) {
    field.doc = card->title + (card->paper.empty() ? "" : " (" + card->paper + ")");
  }
  FormRow* row = addRow(section, key, title, field, 0);
  auto* list = qobject_cast<QComboBox*>(row->editor().input());
  auto* model = qobject_cast<QStandardItemModel*>(list->model());
  for (int i = 0; i < list->count(); ++i) {
    const ItemCard* card = catalog_->find(kind, list->itemData(i).toString().toStdString());
    if (card == nullptr) continue;
    const QString reason = kind == ItemKind::Task ? lack(*card) : QString();
    list->setItemData(i, reason.isEmpty() ? QString::fromStdString(card->title) : reason,
                      Qt::ToolTipRole);
    if (!reason.isEmpty() && model != nullptr) model->item(i)->setEnabled(false);
  }
  return row;
}

void ExperimentForm::buildModel() {
  addChooser(model_, "model.architecture", QStringLiteral("Architecture"), ItemKind::Architecture,
             "what is trained");
  const ItemCard* card = chosen(ItemKind::Architecture);
  if (card == nullptr) return;
  if (!card->schema.presets.empty()) {
    Field field =
        choiceField("preset", nullptr, {}, "named sizes; the fields below change single values");
    field.nullable = true;
    for (const Preset& preset : card->schema.presets) {
      field.choices.push_back(preset.name);
      field.choiceDocs.push_back(preset.doc);
    }
    addRow(model_, "model.preset", QStringLiteral("Preset"), field, 0);
  }
  addFields(model_, "model", card->schema.fields, 0);
}

void ExperimentForm::buildTask() {
  addChooser(task_, "task.name", QStringLiteral("Task"), ItemKind::Task, "what it is trained for");
  if (const ItemCard* card = chosen(ItemKind::Task); card != nullptr)
    addFields(task_, "task", card->schema.fields, 0);
}

void ExperimentForm::buildData() {
  addChooser(data_, "data.dataset", QStringLiteral("Dataset"), ItemKind::Dataset,
             "what it is trained on");
  std::vector<Field> fields;
  if (const ItemCard* card = chosen(ItemKind::Dataset); card != nullptr)
    fields = card->schema.fields;
  for (const Field& field : dataSchema().fields) {
    const bool isOwn = std::any_of(fields.begin(), fields.end(),
                                   [&](const Field& one) { return one.name == field.name; });
    if (!isOwn) fields.push_back(field);
  }
  addFields(data_, "data", fields, 0);
}

void ExperimentForm::buildTraining() { addFields(training_, "train", trainSchema().fields, 0); }

void ExperimentForm::buildObserve() {
  for (const std::string& id : catalog_->ids(ItemKind::Analysis)) {
    const ItemCard* card = catalog_->find(ItemKind::Analysis, id);
    const bool isOn = document_.find("observe." + id) != nullptr;
    const QString reason = lack(*card);
    auto* line = new QWidget(observe_);
    auto* column = new QVBoxLayout(line);
    column->setContentsMargins(16, 6, 16, 2);
    column->setSpacing(2);
    auto* box = new QCheckBox(QString::fromStdString(card->title.empty() ? id : card->title), line);
    box->setObjectName(QStringLiteral("observe.") + QString::fromStdString(id));
    box->setAccessibleName(QStringLiteral("Observe ") + box->text());
    box->setChecked(isOn);
    box->setEnabled(reason.isEmpty() || isOn);
    auto* doc = new QLabel(reason.isEmpty() ? QString::fromStdString(card->doc) : reason, line);
    doc->setProperty("role", reason.isEmpty() ? QStringLiteral("small") : QStringLiteral("warn"));
    doc->setWordWrap(true);
    doc->setContentsMargins(22, 0, 0, 0);
    box->setAccessibleDescription(doc->text());
    column->addWidget(box);
    column->addWidget(doc);
    observe_->addWidget(line);
    connect(box, &QCheckBox::toggled, this,
            [this, id](bool isChecked) { toggleAnalysis(id, isChecked); });
    if (isOn) addFields(observe_, "observe." + id, analysisFields(*card), 22);
  }
}

Json ExperimentForm::defaults() const {
  Json values = Json::object();
  if (catalog_ == nullptr) return values;
  const auto named = [&](const char* table, const char* key, ItemKind kind) {
    const ItemCard* card = chosen(kind);
    values[table] = Json::object({{key, document_.text(std::string(table) + "." + key)}});
    if (card != nullptr) mergeInto(values[table], card->schema.defaults());
  };
  named("model", "architecture", ItemKind::Architecture);
  named("task", "name", ItemKind::Task);
  named("data", "dataset", ItemKind::Dataset);
  Json common = dataSchema().defaults();
  mergeInto(common, values["data"]);
  values["data"] = common;
  values["train"] = trainSchema().defaults();
  values["observe"] = Json::object();
  if (const Json* observed = document_.find("observe");
      observed != nullptr && observed->is_object()) {
    for (const auto& entry : observed->items()) {
      if (const ItemCard* card = catalog_->find(ItemKind::Analysis, entry.key()); card != nullptr) {
        values["observe"][entry.key()] = defaultsOf(analysisFields(*card));
      }
    }
  }
  return values;
}

Json ExperimentForm::withPreset() const {
  Json values = defaults();
  const ItemCard* card = catalog_ == nullptr ? nullptr : chosen(ItemKind::Architecture);
  const Preset* preset =
      card == nullptr ? nullptr : card->schema.preset(document_.text("model.preset"));
  if (preset != nullptr) mergeInto(values["model"], preset->values);
  for (const std::string& path :
       document_.wholeTables) {  // written whole: the preset has no say below it
    const Json plain = defaults();
    if (const Json* value = valueAt(plain, path); value != nullptr) {
      Json* node = &values;
      for (const std::string& part : split(path, '.')) node = &(*node)[part];
      *node = *value;
    }
  }
  return values;
}

Json ExperimentForm::merged() const {
  Json values = withPreset();
  mergeInto(values, document_.tables);
  return values;
}

Json ExperimentForm::base(const std::string& key) const {
  const Json* value = valueAt(base_, key);
  return value == nullptr ? Json() : *value;
}

void ExperimentForm::refresh() {
  base_ = withPreset();
  const QString title = QString::fromStdString(document_.title);
  if (title_->text() != title) title_->setText(title);
  for (const auto& [key, row] : rows_) {
    const Field& field = row->editor().field();
    const Json standard = normalized(field, base(key));
    const Json* said = document_.find(key);
    const Json value = said == nullptr ? standard : normalized(field, *said);
    row->editor().setValue(value);
    const bool isChooser =
        key == "model.architecture" || key == "task.name" || key == "data.dataset";
    row->setChanged(said != nullptr && !isChooser && key != "model.preset" && value != standard);
  }
  for (FormSection* section : {model_, task_, data_, training_, observe_}) {
    int changed = 0;
    for (const FormRow* row : section->rows()) changed += row->isChanged() ? 1 : 0;
    QStringList note;
    if (section == model_ && !document_.text("model.preset").empty()) {
      note << QStringLiteral("preset ") + QString::fromStdString(document_.text("model.preset"));
    }
    if (changed > 0)
      note << QStringLiteral("%1 %2 changed")
                  .arg(changed)
                  .arg(changed == 1 ? QStringLiteral("field") : QStringLiteral("fields"));
    section->setNote(note.join(QStringLiteral(" \u00b7 ")));
    section->arrange();
  }
}

void ExperimentForm::onEdited(FormRow* row) {
  const std::string& key = row->key();
  const Field& field = row->editor().field();
  const std::optional<Json> value = row->editor().value();
  if (key == "model.architecture") {
    chooseArchitecture(value ? value->get<std::string>() : std::string());
  } else {
    const bool isChooser = key == "task.name" || key == "data.dataset";
    if (!value || (!isChooser && normalized(field, *value) == normalized(field, base(key)))) {
      document_.erase(key);
    } else {
      document_.set(key, *value);
    }
  }
  // Rows may go with another choice: not while one of them is telling.
  QTimer::singleShot(0, this, [this] { setDocument(Document(document_)); });
  Q_EMIT edited();
}

void ExperimentForm::chooseArchitecture(const std::string& id) {
  const ItemCard* card = catalog_->find(ItemKind::Architecture, id);
  Json kept = Json::object({{"architecture", id}});
  if (card != nullptr && card->schema.preset(id + "/demo") != nullptr)
    kept["preset"] = id + "/demo";
  // What was said about fields that both have stays said.
  if (const Json* model = document_.find("model"); model != nullptr && card != nullptr) {
    for (const auto& [key, value] : model->items()) {
      if (key != "architecture" && key != "preset" && !value.is_object() &&
          card->schema.find(key) != nullptr) {
        kept[key] = value;
      }
    }
  }
  document_.tables["model"] = kept;
}

void ExperimentForm::toggleAnalysis(const std::string& id, bool isOn) {
  if (isOn) {
    document_.set("observe." + id, Json::object());
  } else {
    document_.erase("observe." + id);
  }
  QTimer::singleShot(0, this, [this] { setDocument(Document(document_)); });
  Q_EMIT edited();
}

std::vector<Problem> ExperimentForm::showProblems(const std::vector<Problem>& problems) {
  std::map<std::string, QString> messages;
  std::vector<Problem> others;
  for (const Problem& problem : problems) {
    QString text = QString::fromStdString(problem.message);
    if (!problem.nearest.empty())
      text += QStringLiteral(" (did you mean %1?)").arg(QString::fromStdString(problem.nearest));
    if (rows_.count(problem.key) == 0) {
      others.push_back(problem);
    } else if (messages[problem.key].isEmpty()) {
      messages[problem.key] = text;
    } else {
      messages[problem.key] += QStringLiteral("; ") + text;
    }
  }
  for (const auto& [key, row] : rows_)
    row->setMessage(messages.count(key) > 0 ? messages[key] : QString());
  for (FormSection* section : {model_, task_, data_, training_, observe_}) section->arrange();
  return others;
}

FormRow* ExperimentForm::row(const std::string& key) const {
  const auto found = rows_.find(key);
  return found == rows_.end() ? nullptr : found->second;
}

int ExperimentForm::changedCount() const {
  return static_cast<int>(std::count_if(
      rows_.begin(), rows_.end(), [](const auto& entry) { return entry.second->isChanged(); }));
}

void ExperimentForm::placeHelp() {
  const bool isNarrow = width() < kNarrow;
  for (const auto& [key, row] : rows_) row->setHelpBelow(isNarrow);
}

void ExperimentForm::resizeEvent(QResizeEvent* event) {
  QWidget::resizeEvent(event);
  placeHelp();
}

}  // namespace vitrine::ui
