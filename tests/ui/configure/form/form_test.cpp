#include <QCheckBox>
#include <QComboBox>
#include <QLineEdit>
#include <QStandardItemModel>
#include <QTest>
#include <QToolButton>

#include "tests/support/has_texts.h"
#include "tests/ui/support/catalog.h"
#include "tests/ui/support/changed_rows.h"
#include "tests/ui/support/qt_environment.h"
#include "ui/configure/form/experiment_form.h"

namespace vitrine::ui {
namespace {

class Form : public ::testing::Test {
 protected:
  Form() : catalog_(catalogFromJson(toJson(testCatalog()))) {
    form_.resize(800, 900);
    form_.setCatalog(catalog_);
    form_.setDocument(freshDocument(catalog_));
  }
  FormRow& row(const std::string& key) {
    FormRow* found = form_.row(key);
    if (found == nullptr) throw std::runtime_error("the form has no row " + key);
    return *found;
  }
  template <class Widget>
  Widget& input(const std::string& key) {
    auto* widget = qobject_cast<Widget*>(row(key).editor().input());
    if (widget == nullptr) throw std::runtime_error(key + " has another editor");
    return *widget;
  }
  void type(const std::string& key, const QString& text) {
    auto& line = input<QLineEdit>(key);
    line.setText(text);
    Q_EMIT line.textEdited(text);
    QCoreApplication::processEvents();
  }
  void choose(const std::string& key, const QString& text) {
    auto& list = input<QComboBox>(key);
    list.setCurrentIndex(list.findData(text));
    QCoreApplication::processEvents();
  }
  std::string text() { return toText(form_.document()); }

  Catalog catalog_;
  ExperimentForm form_;
};

TEST_F(Form, MakesAnEditorForEveryTypeOfField) {
  EXPECT_NO_THROW(input<QLineEdit>("model.image_size"));
  EXPECT_NO_THROW(input<QLineEdit>("model.width"));
  EXPECT_NO_THROW(input<QLineEdit>("model.drop_path"));
  EXPECT_NO_THROW(input<QLineEdit>("model.note"));
  EXPECT_NO_THROW(input<QLineEdit>("model.rates"));
  EXPECT_NO_THROW(input<QCheckBox>("model.qkv_bias"));
  EXPECT_NO_THROW(input<QComboBox>("model.pool"));
  EXPECT_NO_THROW(input<QComboBox>("model.mask.kind"));
  EXPECT_NO_THROW(input<QLineEdit>("task.label_smoothing"));
  EXPECT_NO_THROW(input<QLineEdit>("data.folder"));
  EXPECT_NO_THROW(input<QComboBox>("train.precision"));
}

TEST_F(Form, ShowsEveryFieldOfTheTrainSchema) {
  for (const std::string& key : trainSchema().keys())
    EXPECT_NE(form_.row("train." + key), nullptr) << key;
}

TEST_F(Form, ShowsTheFieldsOfTheChosenOptimizerAndSchedule) {
  EXPECT_NE(form_.row("train.optimizer.beta1"), nullptr);
  EXPECT_EQ(form_.row("train.optimizer.momentum"), nullptr);
  type("train.optimizer.beta1", QStringLiteral("0.8"));
  type("train.optimizer.weight_decay", QStringLiteral("0.1"));
  choose("train.optimizer.name", QStringLiteral("sgd"));
  EXPECT_EQ(form_.row("train.optimizer.beta1"), nullptr);
  EXPECT_NE(form_.row("train.optimizer.momentum"), nullptr);
  EXPECT_EQ(text().find("beta1"), std::string::npos) << "SGD has no such key";
  EXPECT_NE(text().find("weight_decay = 0.1"), std::string::npos) << text();
  type("train.optimizer.momentum", QStringLiteral("0.5"));
  form_.reset("train.optimizer.name");
  EXPECT_NE(form_.row("train.optimizer.beta1"), nullptr);
  EXPECT_EQ(text().find("momentum"), std::string::npos) << text();

  EXPECT_EQ(form_.row("train.schedule.milestones"), nullptr);
  choose("train.schedule.name", QStringLiteral("step"));
  EXPECT_NE(form_.row("train.schedule.milestones"), nullptr);
  EXPECT_EQ(form_.row("train.schedule.minimum"), nullptr);
}

TEST_F(Form, StartsWithTheDemoPresetAndItsValues) {
  EXPECT_EQ(form_.document().text("model.preset"), "picture/demo");
  EXPECT_EQ(input<QLineEdit>("model.width").text().toStdString(), "96");
  EXPECT_EQ(input<QComboBox>("model.mask.kind").currentText().toStdString(), "causal");
  EXPECT_EQ(changedRows(form_), 0);
}

TEST_F(Form, ShowsThePresetBelowATableInBraces) {
  Problem problem;
  const auto document = parseDocument(
      "[model]\narchitecture = \"picture\"\npreset = \"picture/demo\"\nmask = { epochs = 3 }\n"
      "[task]\nname = \"sorting\"\n[data]\ndataset = \"squares\"\n",
      problem);
  ASSERT_TRUE(document) << problem.message;
  form_.setDocument(*document);
  EXPECT_EQ(input<QComboBox>("model.mask.kind").currentText().toStdString(), "causal")
      << "the planner merges the file's table over the preset's";
  EXPECT_EQ(input<QLineEdit>("model.mask.epochs").text().toStdString(), "3");
}

TEST_F(Form, WritesAnEditAsToml) {
  type("model.width", QStringLiteral("128"));
  type("model.image_size", QStringLiteral("28 x 56"));
  type("model.rates", QStringLiteral("0.25, 0.5"));
  type("model.mlp_width", QStringLiteral("256"));
  input<QCheckBox>("model.qkv_bias").setChecked(false);
  choose("model.pool", QStringLiteral("mean"));
  EXPECT_THAT(text(), test::HasTexts("width = 128", "image_size = [28, 56]", "rates = [0.25, 0.5]",
                                     "mlp_width = 256", "qkv_bias = false", "pool = \"mean\""));
}

TEST_F(Form, SaysNothingAboutAFieldThatIsBackAtItsDefault) {
  type("model.width", QStringLiteral("128"));
  EXPECT_TRUE(row("model.width").isChanged());
  type("model.width", QStringLiteral("96"));  // the preset's
  EXPECT_FALSE(row("model.width").isChanged());
  EXPECT_EQ(form_.document().find("model.width"), nullptr);
}

TEST_F(Form, MarksRowsThatDifferFromThePreset) {
  type("model.heads", QStringLiteral("8"));
  EXPECT_TRUE(row("model.heads").isChanged());
  EXPECT_EQ(changedRows(form_), 1);
  choose("model.preset", QStringLiteral("picture/tiny"));
  EXPECT_EQ(input<QLineEdit>("model.width").text().toStdString(), "32");
  EXPECT_EQ(input<QLineEdit>("model.heads").text().toStdString(), "8");
  EXPECT_EQ(changedRows(form_), 1);
}

TEST_F(Form, LetsANullableFieldBeNone) {
  type("train.epochs", QString());
  EXPECT_NE(text().find("epochs = \"none\""), std::string::npos) << text();
  EXPECT_TRUE(row("train.epochs").isChanged());
  choose("model.preset", QStringLiteral("none"));
  EXPECT_EQ(form_.document().find("model.preset"), nullptr);
  EXPECT_EQ(input<QLineEdit>("model.width").text().toStdString(), "64");
}

TEST_F(Form, AnEmptyFieldSaysWhatItMeans) {
  EXPECT_EQ(input<QLineEdit>("data.train_samples").placeholderText().toStdString(), "all");
  EXPECT_EQ(input<QLineEdit>("model.mlp_width").placeholderText().toStdString(), "none");
}

TEST_F(Form, StepsAWholeNumberWithTheArrowKeys) {
  QTest::keyClick(&input<QLineEdit>("model.heads"), Qt::Key_Up);
  QCoreApplication::processEvents();
  EXPECT_EQ(*form_.document().find("model.heads"), 5);
  for (int i = 0; i < 8; ++i) QTest::keyClick(&input<QLineEdit>("model.heads"), Qt::Key_Down);
  EXPECT_EQ(input<QLineEdit>("model.heads").text().toStdString(), "1");  // the least it may be
}

TEST_F(Form, ExplainsEachChoiceInATip) {
  const auto& list = input<QComboBox>("model.pool");
  EXPECT_EQ(list.itemData(1, Qt::ToolTipRole).toString().toStdString(),
            "class token after the patches");
}

TEST_F(Form, GreysOutAnAnalysisThatTheArchitectureCannotServe) {
  auto* rank = form_.findChild<QCheckBox*>(QStringLiteral("observe.attention_rank"));
  ASSERT_NE(rank, nullptr);
  EXPECT_TRUE(rank->isEnabled());
  choose("model.architecture", QStringLiteral("blind"));
  QCoreApplication::sendPostedEvents(nullptr, QEvent::DeferredDelete);
  rank = form_.findChild<QCheckBox*>(QStringLiteral("observe.attention_rank"));
  ASSERT_NE(rank, nullptr);
  EXPECT_FALSE(rank->isEnabled());
  EXPECT_EQ(rank->accessibleDescription().toStdString(), "blind offers no attention source");
  EXPECT_TRUE(form_.findChild<QCheckBox*>(QStringLiteral("observe.calibration"))->isEnabled());
}

TEST_F(Form, GreysOutAttentionOnAnImageForAModelThatReadsNone) {
  catalog_.items.front().offers = {"guided_denoiser", "attention_source"};
  form_.setCatalog(catalog_);
  form_.setDocument(freshDocument(catalog_, "picture"));
  QCoreApplication::sendPostedEvents(nullptr, QEvent::DeferredDelete);
  const auto* rank = form_.findChild<QCheckBox*>(QStringLiteral("observe.attention_rank"));
  ASSERT_NE(rank, nullptr);
  EXPECT_FALSE(rank->isEnabled());
  EXPECT_EQ(rank->accessibleDescription().toStdString(), "picture does not read images");
}

TEST_F(Form, AddsTheFieldsOfAnAnalysisThatIsTicked) {
  form_.findChild<QCheckBox*>(QStringLiteral("observe.attention_rank"))->setChecked(true);
  QCoreApplication::processEvents();
  EXPECT_NE(text().find("attention_rank = {}"), std::string::npos);
  type("observe.attention_rank.every_steps", QStringLiteral("200"));
  EXPECT_NE(text().find("attention_rank.every_steps = 200"), std::string::npos) << text();
  EXPECT_NE(form_.row("observe.attention_rank.images"), nullptr);
}

TEST_F(Form, KeepsWhatBothArchitecturesHave) {
  type("model.width", QStringLiteral("128"));
  choose("model.architecture", QStringLiteral("blind"));
  EXPECT_EQ(*form_.document().find("model.width"), 128);
  EXPECT_EQ(form_.document().find("model.preset"), nullptr);
}

TEST_F(Form, PutsAProblemBesideItsFieldAndReturnsTheOthers) {
  Problem beside{.key = "model.patch_size", .message = "5 does not divide 28"};
  Problem other{.key = "model.widht"};
  const auto left = form_.showProblems({beside, other});
  EXPECT_EQ(row("model.patch_size").message().toStdString(), "5 does not divide 28");
  EXPECT_TRUE(input<QLineEdit>("model.patch_size").property("invalid").toBool());
  EXPECT_EQ(input<QLineEdit>("model.patch_size").accessibleDescription().toStdString(),
            "5 does not divide 28");
  ASSERT_EQ(left.size(), 1U);
  EXPECT_EQ(left[0].key, "model.widht");
  form_.showProblems({});
  EXPECT_FALSE(input<QLineEdit>("model.patch_size").property("invalid").toBool());
}

TEST_F(Form, UnfoldsARareFieldThatIsWrongOrChanged) {
  FormRow& rare = row("train.optimizer.beta1");
  EXPECT_TRUE(rare.isHidden());
  Problem problem{.key = rare.key(), .message = "too large"};
  form_.showProblems({problem});
  EXPECT_FALSE(rare.isHidden());
  form_.showProblems({});
  EXPECT_TRUE(rare.isHidden());
  type(rare.key(), QStringLiteral("0.95"));
  EXPECT_FALSE(rare.isHidden());
}

TEST_F(Form, TheTabKeyGoesThroughTheFieldsOfASectionBeforeTheNextOne) {
  const auto placeOf = [this](const QWidget* wanted) {
    int place = 0;
    for (const QWidget* at = form_.nextInFocusChain(); at != wanted && at != &form_;
         at = at->nextInFocusChain())
      ++place;
    return place;
  };
  const QWidget* training = form_.sections()[4]->findChild<QToolButton*>();
  const QWidget* observe = form_.sections()[5]->findChild<QToolButton*>();
  ASSERT_EQ(training->accessibleName().toStdString(), "Training");
  ASSERT_EQ(observe->accessibleName().toStdString(), "Observe");
  EXPECT_LT(placeOf(&input<QComboBox>("model.pool")), placeOf(training));
  EXPECT_LT(placeOf(training), placeOf(&input<QComboBox>("train.precision")));
  EXPECT_LT(placeOf(&input<QComboBox>("train.precision")), placeOf(observe));
  // Rows that were made again stand in their section, too.
  choose("train.optimizer.name", QStringLiteral("sgd"));
  EXPECT_LT(placeOf(training), placeOf(&input<QLineEdit>("train.optimizer.momentum")));
  EXPECT_LT(placeOf(&input<QLineEdit>("train.optimizer.momentum")), placeOf(observe));
}

TEST_F(Form, DoesNotChangeAChoiceWhenThePageIsScrolled) {
  auto& list = input<QComboBox>("model.pool");
  const int before = list.currentIndex();
  QWheelEvent wheel(QPointF(5, 5), QPointF(5, 5), QPoint(), QPoint(0, -120), Qt::NoButton,
                    Qt::NoModifier, Qt::NoScrollPhase, false);
  QCoreApplication::sendEvent(&list, &wheel);
  EXPECT_EQ(list.currentIndex(), before);
}

}  // namespace
}  // namespace vitrine::ui
