// The form of [data.pipeline]: a list for each phase, or the short form.
#include "ui/configure/form/experiment_form.h"
#include "ui/configure/form/form_lines.h"
#include "ui/configure/form/pipeline_editor.h"
#include "ui/kit/small_widgets.h"

namespace vitrine::ui {

void ExperimentForm::buildPipeline() {
  auto* holder = new QWidget(data_);
  QVBoxLayout* column = lineOf(holder, 10);
  column->setContentsMargins(0, px(8), 0, px(4));
  auto* title = withRole(new QLabel(tr("Pipeline"), holder), "muted");
  title->setContentsMargins(px(16), 0, px(16), 0);
  column->addWidget(title);
  QLabel* about = wrappedLabel(
      "small", holder,
      tr("Transforms of samples before the model reads them. The short form is the fields "
         "Augmentation and Normalisation above; a list replaces it and is applied in order."));
  about->setContentsMargins(px(16), 0, px(16), 0);
  column->addWidget(about);
  QString words = tr("pipeline transforms train evaluate");
  for (const ItemCard& card : catalog_->items) {
    if (card.kind == ItemKind::Transform)
      words += QLatin1Char(' ') + QString::fromStdString(card.id + " " + card.title);
  }
  const QString titles[] = {tr("Training"), tr("Evaluation")};
  const std::string phases[] = {"train", "evaluate"};
  for (std::size_t i = 0; i < 2; ++i) {
    auto* editor = new PipelineEditor(phases[i], titles[i], *catalog_, folds_[i], holder);
    pipelines_[i] = editor;
    column->addWidget(editor);
    const std::string key = "data.pipeline." + phases[i];
    connect(editor, &PipelineEditor::edited, this,
            [this, key](const Json& list, const QString& label, const QString& mergeKey) {
              document_.set(key, list);
              tell(label, mergeKey);
            });
    connect(editor, &PipelineEditor::listRequested, this, [this, i, key, phase = phases[i]] {
      folds_[i].clear();
      const Json list = shortForm(phase);
      if (phase == "train") document_.erase("data.augment");  // the list says it now
      document_.set(key, list);
      tell(tr("list of transforms"), QString());
    });
    connect(editor, &PipelineEditor::dropped, this, [this, i, key] {
      folds_[i].clear();
      document_.erase(key);
      tell(tr("short form"), QString());
    });
  }
  data_->addWidget(holder, words);
}

Json ExperimentForm::shortForm(const std::string& phase) const {
  Json list = Json::array();
  const ItemCard* dataset = chosen(ItemKind::Dataset);
  if (dataset == nullptr || !offersEvery(dataset->offers, {"image"})) return list;
  const auto add = [&](Json one) {
    if (catalog_->find(ItemKind::Transform, one["name"].get<std::string>()) != nullptr)
      list.push_back(std::move(one));
  };
  const auto number = [this](const char* key) {
    const Json given = value(key);
    return given.is_number() ? given.get<double>() : 0.0;
  };
  const Json cut = row("data.image_size") == nullptr ? Json() : value("data.image_size");
  const Json wanted = row("model.image_size") == nullptr ? Json() : value("model.image_size");
  if (!cut.is_null()) {
    Json crop = {{"name", "center_crop"}, {"size", cut}, {"by", "proportions"}};
    if (const Json share = value("data.crop"); share.is_number()) crop["share"] = share;
    add(std::move(crop));
    add({{"name", "resize"}, {"size", cut}});
  }
  // Without a size it is the model's; images that have it already stay as they are.
  if (!wanted.is_null() && wanted != cut) add({{"name", "resize"}});
  if (phase == "train" && number("data.augment.crop_padding") > 0)
    add({{"name", "random_crop"}, {"padding", value("data.augment.crop_padding")}});
  if (phase == "train" && number("data.augment.flip") > 0)
    add({{"name", "flip"}, {"probability", value("data.augment.flip")}});
  const Json by = value("data.normalize");
  add(by == "dataset" ? Json{{"name", "normalize"}} : Json{{"name", "normalize"}, {"by", by}});
  return list;
}

void ExperimentForm::showPipeline(FieldEditor::Typing typing) {
  const ItemCard* dataset = chosen(ItemKind::Dataset);
  const std::vector<std::string> fields =
      dataset == nullptr ? std::vector<std::string>() : dataset->offers;
  const Json* lists[] = {document_.find("data.pipeline.train"),
                         document_.find("data.pipeline.evaluate")};
  const std::string phases[] = {"train", "evaluate"};
  for (std::size_t i = 0; i < 2; ++i) {
    if (pipelines_[i] != nullptr)
      pipelines_[i]->show(lists[i], shortForm(phases[i]), fields, typing);
  }
  const QString unused = tr("not used: the pipeline below is a list");
  for (const char* key : {"data.augment.crop_padding", "data.augment.flip"}) {
    if (FormRow* field = row(key); field != nullptr)
      field->setNote(lists[0] != nullptr ? unused : QString());
  }
  if (FormRow* field = row("data.normalize"); field != nullptr) {
    field->setNote(lists[0] != nullptr && lists[1] != nullptr ? unused
                   : lists[0] != nullptr ? tr("of evaluation; training has a list below")
                   : lists[1] != nullptr ? tr("of training; evaluation has a list below")
                                         : QString());
  }
  placeHelp();
}

}  // namespace vitrine::ui
