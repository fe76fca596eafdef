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
#include <QVBoxLayout>
#include <algorithm>
#include <set>
#include <string_view>

#include "core/base/text.h"
#include "core/config/train_schema.h"
#include "ui/configure/form/wording.h"
#include "ui/kit/theme.h"

namespace vitrine::ui {

namespace {

constexpr int kNarrow = 600;  // pixels: below this the help stands under the editor

const Json* valueAt(const Json& root, const std::string& dottedKey) {
  const Json* node = &root;
  for (const std::string& part : split(dottedKey, '.')) {
    if (!node->is_object() || !node->contains(part)) return nullptr;
    node = &(*node)[part];
  }
  return node;
}

Json defaultsOf(const std::vector<Field>& fields) {
  Schema schema;
  schema.fields = fields;
  return schema.defaults();
}

}  // namespace

ExperimentForm::ExperimentForm(QWidget* parent)
    : QWidget(parent),
      experiment_(
          new FormSection(QStringLiteral("experiment"), QStringLiteral("Experiment"), this)),
      model_(new FormSection(QStringLiteral("model"), QStringLiteral("Model"), this)),
      task_(new FormSection(QStringLiteral("task"), QStringLiteral("Task"), this)),
      data_(new FormSection(QStringLiteral("data"), QStringLiteral("Data"), this)),
      training_(new FormSection(QStringLiteral("train"), QStringLiteral("Training"), this)),
      observe_(new FormSection(QStringLiteral("observe"), QStringLiteral("Observe"), this)),
      init_(new FormSection(QStringLiteral("init"), QStringLiteral("Start from"), this)),
      sections_{experiment_, model_, task_, data_, training_, observe_, init_},
      title_(new QLineEdit(this)) {
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(px(12), px(8), px(2), px(12));  // the rest is the scroll bar
  column->setSpacing(px(12));
  for (FormSection* section : sections_) {
    column->addWidget(section);
    connect(section, &FormSection::viewChanged, this, &ExperimentForm::viewChanged);
  }
  init_->setOpen(false);
  column->addStretch();
  title_->setAccessibleName(QStringLiteral("Title of the experiment"));
  title_->setPlaceholderText(QStringLiteral("What this experiment is called in the list"));
  auto* line = new QWidget(this);
  auto* box = new QVBoxLayout(line);
  box->setContentsMargins(px(16), px(3), px(16), px(3));
  box->addWidget(title_);
  experiment_->addWidget(line, QStringLiteral("title name of the experiment"));
  connect(title_, &QLineEdit::textEdited, this, [this](const QString& text) {
    document_.title = text.toStdString();
    Q_EMIT edited(QStringLiteral("title"), QStringLiteral("title"));
  });
}

void ExperimentForm::setCatalog(const Catalog& catalog) {
  catalog_ = &catalog;
  rebuild();
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
    const std::string said = document_.text(key);
    return said.empty() ? trainSchema().find(key.substr(6))->defaultValue.get<std::string>() : said;
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
      return card.kind == ItemKind::Transform &&
             std::find(card.offers.begin(), card.offers.end(), need) != card.offers.end();
    });
  };
  QStringList missing;
  for (const std::string& need : item.needs) {
    const auto has = [&](const ItemCard* card) {
      return card != nullptr &&
             std::find(card->offers.begin(), card->offers.end(), need) != card->offers.end();
    };
    if (!has(architecture) && !has(dataset) && !has(task) && !isMade(need)) {
      missing << QString::fromStdString(need).replace(QLatin1Char('_'), QLatin1Char(' '));
    }
  }
  if (missing.isEmpty()) return {};
  return QStringLiteral("%1 offers no %2")
      .arg(QString::fromStdString(architecture->id), missing.join(QStringLiteral(", ")));
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
  values["train"] = trainingSchema().defaults();
  if (document_.find("init") != nullptr) values["init"] = initSchema().defaults();
  values["observe"] = Json::object();
  if (const Json* observed = document_.find("observe");
      observed != nullptr && observed->is_object()) {
    for (const auto& entry : observed->items()) {
      if (const ItemCard* card = catalog_->find(ItemKind::Analysis, entry.key()); card != nullptr) {
        values["observe"][entry.key()] = defaultsOf(fieldsOfAnalysis(*card));
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

Json ExperimentForm::value(const std::string& key) const {
  const FormRow* field = row(key);
  const Json* said = document_.find(key);
  const Json plain = said != nullptr ? *said : base(key);
  return field == nullptr ? plain : normalized(field->editor().field(), plain);
}

void ExperimentForm::refresh(FieldEditor::Typing typing) {
  base_ = withPreset();
  if (!base_.contains("init")) base_["init"] = initSchema().defaults();
  const QString title = QString::fromStdString(document_.title);
  if (title_->text() != title) title_->setText(title);
  for (const auto& [key, row] : rows_) {
    const Field& field = row->editor().field();
    const Json standard = normalized(field, base(key));
    const Json* said = document_.find(key);
    const Json value = said == nullptr ? standard : normalized(field, *said);
    row->editor().setValue(value, typing);
    const bool isChooser =
        key == "model.architecture" || key == "task.name" || key == "data.dataset";
    row->setChanged(said != nullptr && !isChooser && key != "model.preset" && value != standard,
                    standard.is_null() ? QStringLiteral("none") : fieldText(field, standard));
  }
  showNotes();
}

void ExperimentForm::showNotes() {
  for (FormSection* section : sections_) {
    int changed = 0;
    for (const FormRow* row : section->rows()) changed += row->isChanged() ? 1 : 0;
    QStringList note;
    if (section == model_ && !document_.text("model.preset").empty()) {
      note << QStringLiteral("preset ") + QString::fromStdString(document_.text("model.preset"));
    }
    if (section == init_) {
      const bool isRun = !document_.text("init.run").empty();
      const bool isFile = !document_.text("init.weights").empty();
      note << (isRun    ? QStringLiteral("a run")
               : isFile ? QStringLiteral("a weights file")
                        : QStringLiteral("nothing: new weights"));
    } else if (changed > 0) {
      note << QStringLiteral("%1 %2 changed")
                  .arg(changed)
                  .arg(changed == 1 ? QStringLiteral("field") : QStringLiteral("fields"));
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
  // A list of choices is one step each, what is typed in a line is one step as a whole.
  const QString mergeKey =
      row->editor().isTyped() ? QStringLiteral("field:") + QString::fromStdString(key) : QString();
  if (key == "model.architecture") {
    chooseArchitecture(value ? value->get<std::string>() : std::string());
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
  // Rows may go with another choice: not while one of them is telling.
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

void ExperimentForm::reveal(FormRow* row) {
  for (FormSection* section : sections_) {
    const auto& rows = section->rows();
    if (std::find(rows.begin(), rows.end(), row) == rows.end()) continue;
    if (!section->isOpen()) section->setOpen(true);
    if (row->isHidden()) section->setUnfolded(true);
  }
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

void ExperimentForm::keepCommonKeys(const std::string& key, const std::string& id) {
  const std::string table = key.substr(0, key.rfind('.'));
  const bool isOptimizer = table == "train.optimizer";
  const ItemKind kind = isOptimizer ? ItemKind::Optimizer : ItemKind::Schedule;
  if (catalog_->find(kind, id) == nullptr) return;
  const Schema next = trainSchemaWith(*catalog_, isOptimizer ? id : "", isOptimizer ? "" : id);
  const Json* said = document_.find(table);
  if (said == nullptr || !said->is_object()) return;
  std::vector<std::string> gone;
  for (const auto& entry : said->items()) {
    if (next.find(table.substr(6) + "." + entry.key()) == nullptr) gone.push_back(entry.key());
  }
  for (const std::string& each : gone) document_.erase(table + "." + each);
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
  for (FormSection* section : sections_) section->arrange();
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
  const bool isNarrow = width() < px(kNarrow);
  for (const auto& [key, row] : rows_) row->setHelpBelow(isNarrow);
}

void ExperimentForm::resizeEvent(QResizeEvent* event) {
  QWidget::resizeEvent(event);
  placeHelp();
}

}  // namespace vitrine::ui
