// Auxiliary networks, groups of parameters, selection and pipeline, through the page.
#include <QCheckBox>
#include <QComboBox>
#include <QTest>
#include <QToolButton>

#include "core/config/edit/document.h"
#include "tests/ui/configure/configure_fixture.h"
#include "tests/ui/support/item_card.h"
#include "ui/configure/form/form_row.h"
#include "ui/configure/form/pipeline_editor.h"
#include "ui/configure/form/table_bar.h"
#include "ui/configure/plan/side_panel.h"

namespace vitrine::ui {
namespace {

Catalog catalogWithTransforms() {
  Catalog catalog = testCatalog();
  for (ItemCard& item : catalog.items) {
    if (item.kind != ItemKind::Task) continue;
    item.metrics.headline = {"top1", "ece"};
    item.metrics.plots = {"train/loss", "test/loss"};
  }
  const auto add = [&](const char* id, std::vector<std::string> needs,
                       std::vector<std::string> offers, std::vector<Field> fields) {
    ItemCard card = cardWith(ItemKind::Transform, id, std::move(offers), std::move(needs));
    card.doc = "changes something";
    catalog.items.push_back(withFields(std::move(card), std::move(fields)));
  };
  add("resize", {"image"}, {}, {});
  add("random_crop", {"image"}, {}, {integerField("padding", 4, "border").range(0, 512)});
  add("flip", {"image"}, {}, {realField("probability", 0.5, "of mirroring").range(0, 1)});
  add("normalize", {"image"}, {}, {});
  add("mixup", {"image", "label"}, {"soft_label", "batch"},
      {realField("alpha", 0.8, "share").range(0, 100)});
  add("pad", {"tokens"}, {"batch"}, {});
  return catalog;
}

class Tables : public Configure {
 protected:
  Tables() { workbench_.become(catalogWithTransforms()); }

  /// With every section unfolded.
  std::unique_ptr<ConfigurePage> openPage() {
    std::unique_ptr<ConfigurePage> made = page();
    for (FormSection* section : formOf(*made).sections()) section->setOpen(true);
    return made;
  }
  /// Edits the form as a user would and lets the rows be made again.
  static void press(const QWidget& in, const QString& text) {
    auto* one = button<QAbstractButton>(in, text);
    ASSERT_NE(one, nullptr) << "there is no button " << text.toStdString();
    one->click();
    QCoreApplication::processEvents();
  }
  static PipelineEditor* pipeline(const ConfigurePage& page, int phase) {
    QList<PipelineEditor*> editors = formOf(page).findChildren<PipelineEditor*>();
    // Those of a form that was made again wait for their end.
    editors.removeIf([&](const PipelineEditor* one) { return !one->isVisibleTo(&formOf(page)); });
    return editors.value(phase);
  }
  static TableBar* bar(const ConfigurePage& page, const std::string& path) {
    for (TableBar* one : formOf(page).findChildren<TableBar*>()) {
      if (one->path() == path && one->isVisibleTo(&formOf(page))) return one;
    }
    return nullptr;
  }
  static bool has(const ConfigurePage& page, const std::string& part) {
    return page.text().find(part) != std::string::npos;
  }
};

TEST_F(Tables, WriteTheShortFormAsAListAndBack) {
  const auto shown = openPage();
  type(*shown, "data.augment.flip", QStringLiteral("0.5"));
  type(*shown, "data.augment.crop_padding", QStringLiteral("2"));
  const std::string before = shown->text();
  press(*pipeline(*shown, 0), QStringLiteral("Write a list"));
  EXPECT_TRUE(has(*shown,
                  "pipeline.train = [\n  { name = \"resize\" },\n  { name = "
                  "\"random_crop\", padding = 2 },\n  { name = \"flip\", probability = 0.5 "
                  "},\n  { name = \"normalize\" },\n]"))
      << shown->text();
  EXPECT_FALSE(has(*shown, "augment")) << "the list says it now";
  shown->planNow();
  EXPECT_TRUE(shown->plan().problems.empty());
  shown->undo();
  EXPECT_EQ(shown->text(), before);
  shown->redo();
  press(*pipeline(*shown, 0), QStringLiteral("Use the short form"));
  EXPECT_FALSE(has(*shown, "pipeline"));
}

TEST_F(Tables, EditTheFieldsOfATransform) {
  const auto shown = openPage();
  shown->setText(shown->text() +
                 "\n[data.pipeline]\nevaluate = [{ name = \"flip\" }]   # always\n");
  shown->planNow();
  PipelineEditor* editor = pipeline(*shown, 1);
  ASSERT_EQ(editor->rows().size(), 1U);
  EXPECT_EQ(editor->rows()[0]->key(), "data.pipeline.evaluate[0].probability");
  auto* line = qobject_cast<QLineEdit*>(editor->rows()[0]->editor().input());
  EXPECT_EQ(line->text().toStdString(), "0.5");
  line->setText(QStringLiteral("1"));
  Q_EMIT line->textEdited(line->text());
  QCoreApplication::processEvents();
  EXPECT_TRUE(has(*shown, "evaluate = [{ name = \"flip\", probability = 1.0 }]   # always"))
      << shown->text();
  EXPECT_TRUE(editor->rows()[0]->isChanged());
  shown->undo();
  EXPECT_TRUE(has(*shown, "evaluate = [{ name = \"flip\" }]   # always"));
}

TEST_F(Tables, MoveAndRemoveTransformsWithKeys) {
  const auto shown = openPage();
  shown->setText(shown->text() +
                 "\n[data.pipeline]\ntrain = [{ name = \"resize\" }, { name = \"flip\" }]\n");
  shown->planNow();
  PipelineEditor* editor = pipeline(*shown, 0);
  auto* second = named<QToolButton>(*editor, QStringLiteral("flip, transform 2 of training"));
  ASSERT_NE(second, nullptr);
  QTest::keyClick(second, Qt::Key_Up, Qt::AltModifier);
  QCoreApplication::processEvents();
  EXPECT_TRUE(has(*shown, "train = [{ name = \"flip\" }, { name = \"resize\" }]")) << shown->text();
  auto* first = named<QToolButton>(*editor, QStringLiteral("flip, transform 1 of training"));
  ASSERT_NE(first, nullptr);
  QTest::keyClick(first, Qt::Key_Delete);
  QCoreApplication::processEvents();
  EXPECT_TRUE(has(*shown, "train = [{ name = \"resize\" }]")) << shown->text();
}

TEST_F(Tables, OfferTransformsThatTheSamplesAllowAndKeepBatchesLast) {
  const auto shown = openPage();
  press(*pipeline(*shown, 0), QStringLiteral("Write a list"));
  PipelineEditor* editor = pipeline(*shown, 0);
  auto* offered =
      named<QComboBox>(*editor, QStringLiteral("Add a transform to the list of training"));
  ASSERT_NE(offered, nullptr);
  const auto isOffered = [&](const char* id) {
    const int at = offered->findData(QString::fromLatin1(id));
    return at >= 0 &&
           (offered->model()->flags(offered->model()->index(at, 0)) & Qt::ItemIsEnabled) != 0;
  };
  EXPECT_TRUE(isOffered("mixup"));
  EXPECT_FALSE(isOffered("pad")) << "there are no tokens";
  editor->add("mixup");
  QCoreApplication::processEvents();
  editor->add("flip");
  QCoreApplication::processEvents();
  EXPECT_LT(shown->text().find("\"flip\""), shown->text().find("\"mixup\"")) << shown->text();
  shown->planNow();
  EXPECT_TRUE(shown->plan().problems.empty());
}

TEST_F(Tables, SayAtTheTransformWhatIsWrong) {
  const auto shown = openPage();
  shown->setText(
      shown->text() +
      "\n[data.pipeline]\ntrain = [{ name = \"mixup\", alpha = -1 }, { name = \"flip\" }]\n");
  shown->planNow();
  PipelineEditor* editor = pipeline(*shown, 0);
  EXPECT_TRUE(labels(*editor).contains(QStringLiteral("must come before 'mixup'")))
      << labels(*editor).toStdString();
  EXPECT_TRUE(labels(*editor).contains(QStringLiteral("alpha: "))) << "its row is folded away";
  ASSERT_NE(formOf(*shown).place("data.pipeline.train[0].alpha"), nullptr);
  EXPECT_FALSE(editor->rows()[0]->message().isEmpty());
  EXPECT_FALSE(formOf(*shown).shows("data.pipeline.train[7]"));
}

TEST_F(Tables, AddNameAndRemoveAnAuxiliaryNetwork) {
  const auto shown = openPage();
  const std::string before = shown->text();
  press(formOf(*shown), QStringLiteral("Add an auxiliary network"));
  EXPECT_TRUE(has(*shown, "[aux.network]")) << shown->text();
  shown->planNow();
  ASSERT_NE(bar(*shown, "aux.network"), nullptr);
  EXPECT_TRUE(
      bar(*shown, "aux.network")->message().contains(QStringLiteral("needs a run or weights")));
  type(*shown, "aux.network.run", QStringLiteral("variant:big"));
  EXPECT_TRUE(has(*shown, "[aux.network]\nrun = \"variant:big\"")) << shown->text();

  QLineEdit& name = bar(*shown, "aux.network")->line();
  name.setText(QStringLiteral("Bad name"));
  Q_EMIT name.editingFinished();
  QCoreApplication::processEvents();
  EXPECT_TRUE(bar(*shown, "aux.network")->message().contains(QStringLiteral("is not a name")));
  name.setText(QStringLiteral("teacher"));
  Q_EMIT name.editingFinished();
  QCoreApplication::processEvents();
  EXPECT_TRUE(has(*shown, "[aux.teacher]\nrun = \"variant:big\"")) << shown->text();
  ASSERT_NE(bar(*shown, "aux.teacher"), nullptr);
  press(*bar(*shown, "aux.teacher"), QStringLiteral("Remove"));
  EXPECT_EQ(shown->text(), before);
}

TEST_F(Tables, ShowTheModelOfAnAuxiliaryWeightsFile) {
  const auto shown = openPage();
  shown->setText(shown->text() + "\n[aux.teacher]\nweights = \"big.safetensors\"   # ours\n");
  shown->planNow();
  FormRow* architecture = formOf(*shown).row("aux.teacher.model.architecture");
  ASSERT_NE(architecture, nullptr);
  EXPECT_TRUE(architecture->message().contains(QStringLiteral("must be given")));
  auto* list = qobject_cast<QComboBox*>(architecture->editor().input());
  list->setCurrentIndex(list->findData(QStringLiteral("picture")));
  QCoreApplication::processEvents();
  ASSERT_NE(formOf(*shown).row("aux.teacher.model.width"), nullptr);
  type(*shown, "aux.teacher.model.width", QStringLiteral("128"));
  EXPECT_TRUE(has(*shown, "model.width = 128")) << shown->text();
  EXPECT_TRUE(has(*shown, "# ours"));
  shown->planNow();
  EXPECT_TRUE(shown->plan().problems.empty()) << shown->plan().problems[0].sentence();
  EXPECT_EQ(shown->plan().runs[0].config["aux"]["teacher"]["model"]["width"], 128);
}

TEST_F(Tables, EditAGroupOfParametersAndItsOptimizer) {
  const auto shown = openPage();
  type(*shown, "train.optimizer.beta2", QStringLiteral("0.95"));
  press(formOf(*shown), QStringLiteral("Add a group"));
  shown->planNow();
  ASSERT_NE(formOf(*shown).row("train.groups.head.match"), nullptr);
  EXPECT_FALSE(formOf(*shown).row("train.groups.head.match")->message().isEmpty())
      << "it needs one";
  type(*shown, "train.groups.head.match", QStringLiteral("head.*, norm.weight"));
  type(*shown, "train.groups.head.learning_rate_scale", QStringLiteral("10"));
  FormRow* beta = formOf(*shown).row("train.groups.head.optimizer.beta2");
  ASSERT_NE(beta, nullptr);
  EXPECT_EQ(qobject_cast<QLineEdit*>(beta->editor().input())->text().toStdString(), "0.95")
      << "as the optimizer's own";
  type(*shown, "train.groups.head.optimizer.beta2", QStringLiteral("0.999"));
  EXPECT_TRUE(has(*shown, "[train.groups.head]\nmatch = [\"head.*\", \"norm.weight\"]"))
      << shown->text();
  shown->planNow();
  ASSERT_TRUE(shown->plan().problems.empty()) << shown->plan().problems[0].sentence();
  const Json group = shown->plan().runs[0].config["train"]["groups"]["head"];
  EXPECT_EQ(group["learning_rate_scale"], 10.0);
  EXPECT_EQ(group["optimizer"]["beta2"], 0.999);
}

TEST_F(Tables, RenameAGroupInItsSweepToo) {
  const auto shown = openPage();
  shown->setText(shown->text() +
                 "\n[train.groups.head]\nmatch = [\"head.*\"]\n\n[sweep]\n"
                 "\"train.groups.head.learning_rate_scale\" = [1.0, 10.0]\n");
  shown->planNow();
  QLineEdit& name = bar(*shown, "train.groups.head")->line();
  name.setText(QStringLiteral("top"));
  Q_EMIT name.editingFinished();
  QCoreApplication::processEvents();
  shown->planNow();
  EXPECT_TRUE(shown->plan().problems.empty());
  EXPECT_TRUE(has(*shown, "\"train.groups.top.learning_rate_scale\" = [1.0, 10.0]"))
      << shown->text();
  EXPECT_EQ(shown->plan().total, 2U);
}

TEST_F(Tables, ChooseValuesOnAHeldOutPart) {
  const auto shown = openPage();
  const std::string before = shown->text();
  auto* box = formOf(*shown).findChild<QCheckBox*>(QStringLiteral("select"));
  ASSERT_NE(box, nullptr);
  box->click();
  QCoreApplication::processEvents();
  EXPECT_TRUE(has(*shown, "[select]\ngrid.\"train.optimizer.learning_rate\" = [0.001, 5e-4]"))
      << shown->text();
  auto* metric = qobject_cast<QComboBox*>(formOf(*shown).row("select.metric")->editor().input());
  ASSERT_NE(metric, nullptr) << "the task names its scores";
  EXPECT_GE(metric->findData(QStringLiteral("validation/ece")), 0);
  EXPECT_GE(metric->findData(QStringLiteral("validation/loss")), 0);
  type(*shown, "select.refit_seeds", QStringLiteral("0, 1, 2"));
  shown->planNow();
  ASSERT_TRUE(shown->plan().problems.empty()) << shown->plan().problems[0].sentence();
  EXPECT_EQ(shown->plan().total, 5U);
  EXPECT_TRUE(
      labels(formOf(*shown)).contains(QStringLiteral("2 runs of the grid, then 3 final runs")))
      << labels(formOf(*shown)).toStdString();
  auto* values =
      named<QLineEdit>(formOf(*shown), QStringLiteral("Values of the grid axis, comma separated"));
  values->setText(QStringLiteral("1e-3, 1e-2, 1e-1"));
  Q_EMIT values->textEdited(values->text());
  QCoreApplication::processEvents();
  shown->planNow();
  EXPECT_EQ(shown->plan().total, 6U);
  formOf(*shown).findChild<QCheckBox*>(QStringLiteral("select"))->click();
  QCoreApplication::processEvents();
  EXPECT_EQ(shown->text(), before);
}

TEST_F(Tables, SayBesideTheGridWhatIsWrong) {
  const auto shown = openPage();
  shown->setText(shown->text() + "\n[select]\nmetric = \"test/top1\"\n");
  shown->planNow();
  EXPECT_TRUE(labels(formOf(*shown)).contains(QStringLiteral("must be given: grid")));
  EXPECT_TRUE(formOf(*shown).row("select.metric")->message().contains(QStringLiteral("held-out")));
  press(formOf(*shown), QStringLiteral("+ key"));
  auto* key = named<QLineEdit>(formOf(*shown), QStringLiteral("Key of the grid axis"));
  ASSERT_NE(key, nullptr);
  key->setText(QStringLiteral("model.width"));
  QCoreApplication::processEvents();
  EXPECT_EQ(formOf(*shown).unread().size(), 1);
  EXPECT_FALSE(startButton(*shown)->isEnabled());
}

}  // namespace
}  // namespace vitrine::ui
