#include "ui/configure/configure_page.h"

#include <QComboBox>
#include <QDir>
#include <QFile>
#include <QLabel>
#include <QLineEdit>
#include <QPlainTextEdit>
#include <QPushButton>
#include <set>

#include "core/base/read_json.h"
#include "core/config/edit/document.h"
#include "tests/ui/configure/configure_fixture.h"
#include "tests/ui/support/fit.h"
#include "tests/ui/support/soon.h"
#include "ui/configure/form/experiment_form.h"
#include "ui/configure/form/sweep_editor.h"
#include "ui/configure/plan/changes_view.h"
#include "ui/configure/plan/side_panel.h"

namespace vitrine::ui {
namespace {

TEST_F(Configure, StartsSoundWithTheDefaults) {
  const auto shown = page();
  shown->planNow();
  EXPECT_TRUE(shown->plan().problems.empty()) << shown->plan().problems.front().sentence();
  EXPECT_EQ(shown->plan().runs.size(), 1U);
  EXPECT_TRUE(startButton(*shown)->isEnabled());
}

TEST_F(Configure, MakesEveryRowOfTheFirstFormOnce) {
  const ConfigurePage shown(workbench_);
  std::set<std::string> keys;  // rows that were made again wait for their end
  for (const FormRow* row : formOf(shown).findChildren<FormRow*>())
    EXPECT_TRUE(keys.insert(row->key()).second) << row->key();
  EXPECT_EQ(keys.count("train.epochs"), 1U);
}

TEST_F(Configure, TheTabKeyGoesThroughTheFormBeforeTheSidePanel) {
  const auto shown = page();
  const auto* side = shown->findChild<SidePanel*>();
  const auto* search = named<QLineEdit>(*shown, QStringLiteral("Find a field"));
  ASSERT_NE(side, nullptr);
  ASSERT_NE(search, nullptr);
  bool isSideMet = false;
  for (const QWidget* at = shown->nextInFocusChain(); at != search && at != shown.get();
       at = at->nextInFocusChain())
    isSideMet = isSideMet || side->isAncestorOf(at);
  EXPECT_FALSE(isSideMet);
}

TEST_F(Configure, ShowsThePlannersMessageBesideTheField) {
  const auto shown = page();
  type(*shown, "model.patch_size", QStringLiteral("5"));
  shown->planNow();
  ASSERT_EQ(shown->plan().problems.size(), 1U);
  EXPECT_EQ(formOf(*shown).row("model.patch_size")->message().toStdString(),
            shown->plan().problems[0].message);
  EXPECT_FALSE(startButton(*shown)->isEnabled());
  type(*shown, "model.patch_size", QStringLiteral("four"));
  shown->planNow();
  EXPECT_FALSE(formOf(*shown).row("model.patch_size")->message().isEmpty());
  type(*shown, "model.patch_size", QStringLiteral("4"));
  shown->planNow();
  EXPECT_TRUE(startButton(*shown)->isEnabled());
}

TEST_F(Configure, PlansByItselfAfterTheLastEdit) {
  const auto shown = page();
  type(*shown, "model.patch_size", QStringLiteral("5"));
  EXPECT_TRUE(soon([&] { return !shown->plan().problems.empty(); }));
}

TEST_F(Configure, GoesFromTextToFormToTextWithoutLoss) {
  const auto shown = page();
  const std::string text =
      "title = \"Round trip\"\n\n[model]\narchitecture = \"picture\"\nwidth = 128\nmask.kind = "
      "\"soft\"\n\n"
      "[task]\nname = \"sorting\"\n\n[data]\ndataset = \"squares\"\n\n[sweep]\n\"train.seed\" = "
      "[0, 1, 2]\n\n"
      "[[variant]]\nname = \"baseline\"\n\n[[variant]]\nname = \"+ wide\"\nset = { \"model.width\" "
      "= 256 }\n";
  shown->setText(text);
  shown->planNow();
  EXPECT_EQ(shown->plan().runs.size(), 6U);
  type(*shown, "model.heads", QStringLiteral("8"));
  type(*shown, "model.heads",
       QStringLiteral("4"));  // an edit and back: now the text comes from the form
  EXPECT_EQ(shown->text(), text);
}

TEST_F(Configure, LetsTheTextChangeTheForm) {
  const auto shown = page();
  shown->side().text().setPlainText(
      QStringLiteral("[model]\narchitecture = \"picture\"\nwidth = 48\n[task]\nname = "
                     "\"sorting\"\n[data]\ndataset = \"squares\"\n"));
  shown->planNow();
  EXPECT_EQ(qobject_cast<QLineEdit*>(formOf(*shown).row("model.width")->editor().input())
                ->text()
                .toStdString(),
            "48");
}

TEST_F(Configure, KeepsTheFormAndNamesTheLineWhenTheTextIsBroken) {
  const auto shown = page();
  type(*shown, "model.width", QStringLiteral("128"));
  shown->side().text().setPlainText(QStringLiteral("[model\nwidth = 1"));
  shown->planNow();
  EXPECT_EQ(qobject_cast<QLineEdit*>(formOf(*shown).row("model.width")->editor().input())
                ->text()
                .toStdString(),
            "128");
  EXPECT_TRUE(labels(shown->side()).contains(QStringLiteral("line 1")))
      << labels(shown->side()).toStdString();
  EXPECT_FALSE(startButton(*shown)->isEnabled());
}

TEST_F(Configure, NamesTheLineOfAnUnknownKeyInTheText) {
  const auto shown = page();
  shown->side().text().setPlainText(
      QStringLiteral("[model]\narchitecture = \"picture\"\nwidht = 48\n[task]\nname = "
                     "\"sorting\"\n[data]\ndataset = \"squares\"\n"));
  shown->planNow();
  const QString said = labels(shown->side());
  EXPECT_TRUE(said.contains(QStringLiteral("line 3"))) << said.toStdString();
  EXPECT_TRUE(said.contains(QStringLiteral("width"))) << said.toStdString();
}

TEST_F(Configure, CountsRunsAsVariantsTimesSeeds) {
  const auto shown = page();
  auto& sweep = shown->side().sweep();
  sweep.addVariant();
  QLineEdit* seeds = named<QLineEdit>(sweep, QStringLiteral("Seeds, comma separated"));
  ASSERT_NE(seeds, nullptr);
  seeds->setText(QStringLiteral("0, 1, 2"));
  Q_EMIT seeds->textEdited(seeds->text());
  sweep.findChildren<QPlainTextEdit*>().last()->setPlainText(QStringLiteral("model.width = 256"));
  shown->planNow();
  EXPECT_EQ(shown->plan().runs.size(), 6U);
  EXPECT_TRUE(labels(*shown).contains(QStringLiteral("This will start 6 runs")));
  EXPECT_TRUE(labels(*shown).contains(QStringLiteral("2 variants \u00d7 3 seeds")));
}

TEST_F(Configure, AWrongSeedIsNamedAtTheSeedsAndNotAtTheFieldTheyReplace) {
  const auto shown = page();
  auto* seeds = named<QLineEdit>(shown->side(), QStringLiteral("Seeds, comma separated"));
  ASSERT_NE(seeds, nullptr);
  const auto enter = [&](const QString& text) {
    seeds->setText(text);
    Q_EMIT seeds->textEdited(text);
    shown->planNow();
  };
  enter(QStringLiteral("0-2"));
  EXPECT_TRUE(seeds->property("invalid").toBool());
  EXPECT_TRUE(labels(shown->side().sweep()).contains(QStringLiteral("0-2")));
  EXPECT_FALSE(formOf(*shown).row("train.seed")->editor().input()->property("invalid").toBool());
  EXPECT_TRUE(labels(*shown).contains(QStringLiteral("sweep.train.seed")))
      << labels(*shown).toStdString();
  enter(QStringLiteral("0, 1, 1"));
  EXPECT_TRUE(seeds->property("invalid").toBool());
  enter(QStringLiteral("0, 1, 2"));
  EXPECT_FALSE(seeds->property("invalid").toBool());
  EXPECT_FALSE(labels(shown->side().sweep()).contains(QStringLiteral("0-2")));
}

TEST_F(Configure, SaysBesideTheVariantWhatTheVariantMakesWrong) {
  const auto shown = page();
  auto& sweep = shown->side().sweep();
  sweep.addVariant();
  auto* changes = sweep.findChildren<QPlainTextEdit*>().last();
  changes->setPlainText(QStringLiteral("model.patch_size = 5"));
  shown->planNow();
  ASSERT_EQ(shown->plan().problems.size(), 1U);
  const QString sentence = QStringLiteral("model.patch_size: ") +
                           QString::fromStdString(shown->plan().problems[0].message);
  EXPECT_TRUE(labels(sweep).contains(sentence)) << labels(sweep).toStdString();
  EXPECT_TRUE(formOf(*shown).row("model.patch_size")->message().isEmpty())
      << "the field has another value";
  EXPECT_TRUE(labels(*shown).contains(QStringLiteral("In the variant \u201c+ change\u201d: ")))
      << labels(*shown).toStdString();
  changes->setPlainText(QStringLiteral("model.patch_size = 4"));
  shown->planNow();
  EXPECT_FALSE(labels(sweep).contains(QStringLiteral("model.patch_size: ")));
  EXPECT_TRUE(startButton(*shown)->isEnabled());
}

TEST_F(Configure, ShowsWhatCheckSaysAboutCosts) {
  const auto shown = page();
  shown->waitUntilIdle();
  const QString said = labels(*shown);
  EXPECT_TRUE(said.contains(QStringLiteral("205,066 parameters"))) << said.toStdString();
  EXPECT_TRUE(said.contains(QStringLiteral("3.7\u2009MFLOP per sample"))) << said.toStdString();
  EXPECT_TRUE(said.contains(QStringLiteral("the files are not here")));
  EXPECT_EQ(fileText(program_ + QStringLiteral(".asked")).toStdString(), shown->text());
}

TEST_F(Configure, SaysWhyCostsAreUnknown) {
  qputenv("VITRINE_PROGRAM", "/bin/false");
  const auto shown = page();
  shown->waitUntilIdle();
  EXPECT_TRUE(labels(*shown).contains(QStringLiteral("The costs are unknown")));
  EXPECT_TRUE(startButton(*shown)->isEnabled());
}

TEST_F(Configure, PutsThePlanThatWasCheckedIntoTheQueue) {
  const auto shown = page();
  const std::int64_t run = workbench_.addRun("made by the program", Json::object());
  shown->planNow();
  shown->start();
  shown->planNow();
  EXPECT_FALSE(startButton(*shown)->isEnabled()) << "one at a time";
  ASSERT_TRUE(soon([&] { return !workbench_.pages.empty(); }))
      << (workbench_.said.empty() ? "" : workbench_.said.back().toStdString());
  const QStringList words =
      fileText(program_ + QStringLiteral(".enqueued")).trimmed().split(QLatin1Char(' '));
  ASSERT_EQ(words.size(), 6);
  EXPECT_EQ(words.mid(0, 2), (QStringList{QStringLiteral("enqueue"), QStringLiteral("--plan")}));
  EXPECT_TRUE(words[2].contains(QStringLiteral(".files/experiments/")));
  EXPECT_FALSE(QFile::exists(words[2])) << "the database has it now";
  EXPECT_EQ(words[5].toStdString(), workbench_.store().file().string());
  EXPECT_EQ(fileText(program_ + QStringLiteral(".asked")).toStdString(), shown->text());
  const Json plan = readJson(fileText(program_ + QStringLiteral(".plan")).toStdString());
  ASSERT_TRUE(plan.is_object());
  EXPECT_EQ(plan.at("totals").at("parameters"), 205066) << "it is what check said";
  EXPECT_EQ(workbench_.pages.back().toStdString(), "monitor");
  EXPECT_EQ(workbench_.selection().runs(), std::vector<std::int64_t>{run});
  EXPECT_TRUE(startButton(*shown)->isEnabled());
}

TEST_F(Configure, SaysWhyNothingWasPutIntoTheQueue) {
  const auto shown = page();
  shown->planNow();
  writeScript(program_,
              "if [ \"$1\" = check ]; then echo '{\"problems\":[]}'; exit 0; fi\n"
              "echo 'run 1 needs 90 GB' >&2\nexit 4");
  shown->start(jobs::QueueEnd::Front);
  shown->planNow();
  ASSERT_TRUE(soon([&] { return startButton(*shown)->isEnabled(); }));
  ASSERT_FALSE(workbench_.errors.empty()) << "a message would be gone after 8 seconds";
  EXPECT_TRUE(workbench_.errors.back().contains(QStringLiteral("needs 90 GB")))
      << workbench_.errors.back().toStdString();
  EXPECT_TRUE(workbench_.pages.empty());
}

TEST_F(Configure, SaysWhatOnlyTheCheckFoundAndStartsNothing) {
  const auto shown = page();
  writeScript(program_,
              "echo '{\"problems\":[{\"code\":\"item_refused\",\"sentence\":\"task: no "
              "labels\"}]}'\nexit 2");
  shown->start();
  ASSERT_TRUE(QTest::qWaitFor([&] { return !workbench_.said.empty(); }, 5000));
  EXPECT_TRUE(workbench_.said.back().contains(QStringLiteral("Nothing was started: task: no")))
      << workbench_.said.back().toStdString();
  EXPECT_TRUE(workbench_.pages.empty());
}

TEST_F(Configure, StartsNothingWhileThereIsAProblem) {
  const auto shown = page();
  type(*shown, "model.patch_size", QStringLiteral("5"));
  shown->start();
  shown->planNow();
  EXPECT_TRUE(workbench_.pages.empty());
  EXPECT_TRUE(workbench_.said.back().contains(QStringLiteral("Nothing was started. Not ready: ")));
  EXPECT_FALSE(QDir(QString::fromStdString(store::filesFolder(workbench_.store().file()).string()))
                   .exists(QStringLiteral("experiments")));
}

TEST_F(Configure, FillsTheFormFromARun) {
  const auto shown = page();
  shown->setText(
      "title = \"x\"\n[model]\narchitecture = \"picture\"\npreset = \"picture/demo\"\nheads = "
      "8\n[task]\nname = "
      "\"sorting\"\n[data]\ndataset = \"squares\"\n[observe]\ncalibration = { every_epochs = 1 "
      "}\n");
  shown->planNow();
  ASSERT_EQ(shown->plan().runs.size(), 1U) << shown->plan().problems.front().sentence();
  const Json config = shown->plan().runs[0].config;
  const std::int64_t run = workbench_.addRun("earlier", config);
  shown->setText(toText(freshDocument(workbench_.catalog())));
  shown->planNow();
  shown->startFrom(run);
  shown->planNow();
  ASSERT_EQ(shown->plan().runs.size(), 1U) << shown->plan().problems.front().sentence();
  Json again = shown->plan().runs[0].config;
  for (const Difference& change : difference(config, again)) {
    EXPECT_EQ(change.key, "model.preset")
        << change.key << " " << change.before << " " << change.after;
  }
  EXPECT_TRUE(formOf(*shown).row("model.heads")->isChanged());
  EXPECT_FALSE(formOf(*shown).row("train.batch_size")->isChanged());
}

TEST_F(Configure, FillsTheFormFromARunThatWasNamedBeforeTheSchemasCame) {
  const Json config = page()->plan().runs.at(0).config;
  FakeWorkbench later;
  ConfigurePage shown(later);
  Json wider = config;
  wider["model"]["width"] = 128;
  shown.startFrom(later.addRun("earlier", wider));
  later.become(testCatalog());
  shown.planNow();
  ASSERT_EQ(shown.plan().runs.size(), 1U);
  EXPECT_EQ(shown.plan().runs[0].config["model"]["width"], Json(128));
}

TEST_F(Configure, ComparesWithTheSelectedRun) {
  const auto shown = page();
  shown->planNow();
  const std::int64_t run = workbench_.addRun("earlier", shown->plan().runs.at(0).config);
  workbench_.selection().setRuns({run}, run);
  type(*shown, "model.width", QStringLiteral("128"));
  shown->planNow();
  QComboBox* against = shown->side().changes().choice();
  against->setCurrentIndex(
      against->findText(QStringLiteral("against run #%1").arg(run), Qt::MatchExactly));
  shown->planNow();
  EXPECT_EQ(shown->side().changes().run(), run);
  const QString said = labels(shown->side());
  EXPECT_TRUE(said.contains(QStringLiteral("96 \u2192 128"))) << said.toStdString();
  EXPECT_FALSE(said.contains(QStringLiteral("dataset")));
}

TEST_F(Configure, OpensADroppedFile) {
  const auto shown = page();
  dropFile(makeFile(workbench_.path(QStringLiteral("dropped.toml")),
                    "title = \"Dropped\"\n[model]\narchitecture = \"picture\"\n[task]\nname = "
                    "\"sorting\"\n[data]\ndataset = \"squares\"\n"),
           *shown);
  shown->planNow();
  EXPECT_EQ(shown->plan().title, "Dropped");
}

TEST_F(Configure, WaitsForSchemasAndThenShowsTheForm) {
  FakeWorkbench empty;
  ConfigurePage shown(empty);
  EXPECT_EQ(formOf(shown).catalog(), nullptr);
  Q_EMIT empty.catalogFailed(QStringLiteral("vitrine did not answer"));
  EXPECT_TRUE(labels(shown).contains(QStringLiteral("vitrine did not answer")));
  saying<QPushButton>(shown, "Retry")->click();
  EXPECT_EQ(empty.asked, 1);
  empty.become(testCatalog());
  ASSERT_NE(formOf(shown).catalog(), nullptr);
  shown.planNow();
  EXPECT_EQ(shown.plan().runs.size(), 1U);
}

TEST_F(Configure, ThatIsMadeAfterTheSchemasFailedSaysWhyAndWaitsForNothing) {
  FakeWorkbench empty;
  empty.problem = QStringLiteral("vitrine did not answer");
  ConfigurePage shown(empty);
  EXPECT_TRUE(labels(shown).contains(empty.problem));
  shown.waitUntilIdle();
  EXPECT_EQ(formOf(shown).catalog(), nullptr);
}

TEST_F(Configure, NamesEveryControlForAScreenReader) {
  const auto shown = page();
  shown->side().sweep().addAxis();
  shown->side().sweep().addVariant();
  for (QWidget* widget : shown->findChildren<QWidget*>()) {
    if (widget->objectName().startsWith(QLatin1String("qt_"))) continue;
    const auto* button = qobject_cast<QAbstractButton*>(widget);
    const bool isInput = qobject_cast<QLineEdit*>(widget) != nullptr ||
                         qobject_cast<QComboBox*>(widget) != nullptr ||
                         qobject_cast<QPlainTextEdit*>(widget) != nullptr || button != nullptr;
    if (!isInput) continue;
    const bool isNamed =
        !widget->accessibleName().isEmpty() || (button != nullptr && !button->text().isEmpty());
    EXPECT_TRUE(isNamed) << widget->metaObject()->className() << " in "
                         << widget->parentWidget()->metaObject()->className();
  }
}

TEST_F(Configure, DrawsItselfAtEverySizeAndInEveryTheme) {
  const auto shown = page();
  for (const ThemeKind theme : {ThemeKind::Light, ThemeKind::HighContrast, ThemeKind::Dark}) {
    applyTheme(theme);
    for (const QSize size : {QSize(520, 600), QSize(860, 800), QSize(1600, 1000)}) {
      const QImage image = shown->snapshot(size, 1);
      EXPECT_EQ(image.size(), size);
    }
  }
}

TEST_F(Configure, NothingLiesOnAnythingElseAtAnySizeAndZoom) {
  for (const double zoom : {1.0, 2.4}) {
    const PageAtZoom<ConfigurePage> shown(workbench_, zoom);
    shown.page->planNow();
    EXPECT_EQ(whatDoesNotFitAnywhere(*shown.page), "");
  }
}

}  // namespace
}  // namespace vitrine::ui
