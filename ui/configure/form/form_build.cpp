// Rows of the form, made from schemas.
#include <QCheckBox>
#include <QComboBox>
#include <QLabel>
#include <QLineEdit>
#include <QStandardItemModel>
#include <QToolButton>
#include <set>
#include <string_view>
#include <utility>

#include "ui/configure/form/experiment_form.h"
#include "ui/configure/form/table_bar.h"
#include "ui/kit/small_widgets.h"
#include "ui/kit/theme.h"

namespace vitrine::ui {

namespace {

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

/// The fields of an item, then the common ones of other names.
std::vector<Field> withCommon(Schema own, const Schema& common) {
  for (const Field& field : common.fields)
    if (own.find(field.name) == nullptr) own.fields.push_back(field);
  return std::move(own.fields);
}

}  // namespace

std::vector<Field> fieldsOfAnalysis(const ItemCard& analysis) {
  return withCommon(analysis.schema, observeSchema());
}

void ExperimentForm::build() {
  std::string focused;  // made again, a row keeps the focus it had
  for (const auto& [key, row] : rows_) {
    if (row->editor().input()->hasFocus()) focused = key;
  }
  rows_.clear();
  bars_.clear();
  pipelines_ = {};
  for (FormSection* section : {model_, task_, data_, training_, observe_, init_, aux_, select_})
    section->clear();
  buildModel();
  buildTask();
  buildData();
  buildTraining();
  buildObserve();
  buildInit();
  buildAux();
  buildSelect();
  placeHelp();
  tabThrough(*this);
  if (FormRow* again = row(focused); again != nullptr)
    again->editor().input()->setFocus(Qt::OtherFocusReason);
  if (const auto added = bars_.find(std::exchange(wantedFocus_, {})); added != bars_.end()) {
    reveal(added->second);
    added->second->line().setFocus(Qt::OtherFocusReason);
    added->second->line().selectAll();
  }
}

FormRow* ExperimentForm::addRow(FormSection* section, const std::string& key, const QString& title,
                                const Field& field, int indent) {
  auto* row = new FormRow(key, title, field, indent, section);
  connect(&row->editor(), &FieldEditor::edited, this, [this, row] { onEdited(row); });
  connect(row, &FormRow::resetRequested, this, [this, key] { reset(key); });
  connect(row, &FormRow::menuRequested, this,
          [this, row](const QPoint& place) { Q_EMIT menuRequested(row, place); });
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
    FormRow* row = addRow(section, prefix + "." + field.name, titleOf(field), field, indent);
    row->setCommon(!folds || isCommonKey(row->key()) || field.required ||
                   prefix.rfind("observe.", 0) == 0);
  }
  for (const Field& field : fields) {
    if (field.type != FieldType::Table) continue;
    section->addHeading(titleOf(field), QString::fromStdString(field.doc));
    const std::size_t first = section->rows().size();
    addFields(section, prefix + "." + field.name, field.fields, px(12));
    for (std::size_t i = first; i < section->rows().size(); ++i) {
      section->rows()[i]->setGroup(titleOf(field) + QLatin1Char(' ') +
                                   QString::fromStdString(field.doc));
    }
  }
}

FormRow* ExperimentForm::addChooser(FormSection* section, const std::string& key,
                                    const QString& title, ItemKind kind) {
  Field field =
      choiceField(key.substr(key.find('.') + 1), document_.text(key), catalog_->ids(kind), "");
  field.required = true;
  if (const ItemCard* card = catalog_->find(kind, document_.text(key)); card != nullptr)
    field.doc = card->title + (card->paper.empty() ? "" : " (" + card->paper + ")");
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
  addChooser(model_, "model.architecture", tr("Architecture"), ItemKind::Architecture);
  const ItemCard* card = chosen(ItemKind::Architecture);
  if (card == nullptr) return;
  addPreset(model_, "model", *card);
  addFields(model_, "model", card->schema.fields, 0);
}

void ExperimentForm::addPreset(FormSection* section, const std::string& table,
                               const ItemCard& card) {
  if (card.schema.presets.empty()) return;
  Field field = choiceField("preset", nullptr, {},
                            tr("named sizes; the fields below change single values").toStdString());
  field.nullable = true;
  for (const Preset& preset : card.schema.presets) {
    field.choices.push_back(preset.name);
    field.choiceDocs.push_back(preset.doc);
  }
  addRow(section, table + ".preset", tr("Preset"), field, 0);
}

void ExperimentForm::buildTask() {
  addChooser(task_, "task.name", tr("Task"), ItemKind::Task);
  if (const ItemCard* card = chosen(ItemKind::Task); card != nullptr)
    addFields(task_, "task", card->schema.fields, 0);
}

void ExperimentForm::buildData() {
  addChooser(data_, "data.dataset", tr("Dataset"), ItemKind::Dataset);
  const ItemCard* card = chosen(ItemKind::Dataset);
  addFields(data_, "data", withCommon(card == nullptr ? Schema() : card->schema, dataSchema()), 0);
  buildPipeline();
}

void ExperimentForm::buildTraining() {
  addFields(training_, "train", trainingSchema().fields, 0);
  buildGroups();
}

void ExperimentForm::buildObserve() {
  for (const std::string& id : catalog_->ids(ItemKind::Analysis)) {
    const ItemCard* card = catalog_->find(ItemKind::Analysis, id);
    const bool isOn = document_.find("observe." + id) != nullptr;
    const QString reason = lack(*card);
    auto* line = new QWidget(observe_);
    auto* column = columnIn(line, {px(16), px(6), px(16), px(2)}, px(2));
    auto* box = new QCheckBox(QString::fromStdString(card->title.empty() ? id : card->title), line);
    box->setAccessibleName(tr("Observe ") + box->text());
    box->setObjectName(QStringLiteral("observe.") + QString::fromStdString(id));
    box->setChecked(isOn);
    box->setEnabled(reason.isEmpty() || isOn);
    QString about = QString::fromStdString(card->doc);
    if (!card->paper.empty())
      about += QStringLiteral(" (%1)").arg(QString::fromStdString(card->paper));
    auto* doc =
        reason.isEmpty() ? wrappedLabel("small", line, about) : wrappedLabel("warn", line, reason);
    doc->setContentsMargins(px(22), 0, 0, 0);
    box->setAccessibleDescription(doc->text());
    column->addWidget(box);
    column->addWidget(doc);
    observe_->addWidget(line, box->text() + QLatin1Char(' ') + QString::fromStdString(id) +
                                  QLatin1Char(' ') + QString::fromStdString(card->doc) +
                                  QLatin1Char(' ') + QString::fromStdString(card->paper));
    connect(box, &QCheckBox::toggled, this, [this, id, title = box->text()](bool isChecked) {
      toggleAnalysis(id, isChecked, title);
    });
    if (isOn) addFields(observe_, "observe." + id, fieldsOfAnalysis(*card), px(22));
  }
}

void ExperimentForm::buildInit() {
  addFields(init_, "init", initSchema().fields, 0);
  for (FormRow* row : init_->rows()) {
    row->setCommon(row->key() == "init.weights" || row->key() == "init.run" ||
                   row->key() == "init.checkpoint" || row->key() == "init.use");
  }
  addSourceButtons("init");
}

}  // namespace vitrine::ui
