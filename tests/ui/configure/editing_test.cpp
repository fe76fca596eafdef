// Undo, sweep, variants and forecast, through the controls of the page.
#include <QCheckBox>
#include <QPlainTextEdit>
#include <QTest>
#include <QToolButton>
#include <random>

#include "core/config/edit/document.h"
#include "core/config/edit/toml_patch.h"
#include "core/config/edit/train_command.h"
#include "tests/ui/configure/editing_fixture.h"
#include "tests/ui/support/changed_rows.h"
#include "tests/ui/support/soon.h"
#include "ui/configure/form/run_picker.h"
#include "ui/configure/form/sweep_editor.h"
#include "ui/configure/plan/changes_view.h"
#include "ui/configure/plan/planned_runs.h"
#include "ui/configure/plan/side_panel.h"
#include "ui/workbench/run_facts.h"

namespace vitrine::ui {
namespace {

TEST_F(Editing, TakesBackWhatWasTypedInAFieldAsOneStep) {
  const auto shown = page();
  shown->show();
  const std::string before = shown->text();
  auto* line = qobject_cast<QLineEdit*>(formOf(*shown).row("model.width")->editor().input());
  line->setFocus();
  line->selectAll();
  QTest::keyClicks(line, QStringLiteral("128"));
  EXPECT_NE(shown->text().find("width = 128"), std::string::npos);
  QTest::keyClick(line, Qt::Key_Z, Qt::ControlModifier);
  EXPECT_EQ(shown->text(), before);
  EXPECT_EQ(lineText(*shown, "model.width").toStdString(), "96");
  QTest::keyClick(line, Qt::Key_Z, Qt::ControlModifier | Qt::ShiftModifier);
  EXPECT_EQ(lineText(*shown, "model.width").toStdString(), "128");
  QTest::keyClick(line, Qt::Key_Z, Qt::ControlModifier);
  QTest::keyClick(line, Qt::Key_Y, Qt::ControlModifier);
  EXPECT_NE(shown->text().find("width = 128"), std::string::npos);
}

TEST_F(Editing, UndoesFormSweepAndTextInTheOrderTheyWereMade) {
  const auto shown = page();
  const std::string start = shown->text();
  choose(*shown, "model.pool", QStringLiteral("mean"));
  const std::string first = shown->text();
  enter(shown->side(), QStringLiteral("Seeds, comma separated"), QStringLiteral("0, 1"));
  const std::string second = shown->text();
  shown->side().text().moveCursor(QTextCursor::End);
  shown->side().text().insertPlainText(QStringLiteral("\n[train]\nepochs = 7\n"));
  shown->planNow();
  EXPECT_EQ(lineText(*shown, "train.epochs").toStdString(), "7");
  shown->undo();
  EXPECT_EQ(shown->text(), second);
  shown->undo();
  EXPECT_EQ(shown->text(), first);
  EXPECT_EQ(named<QLineEdit>(shown->side(), QStringLiteral("Seeds, comma separated"))
                ->text()
                .toStdString(),
            "");
  shown->undo();
  EXPECT_EQ(shown->text(), start);
  EXPECT_FALSE(shown->history().canUndo());
  for (int i = 0; i < 3; ++i) shown->redo();
  EXPECT_EQ(lineText(*shown, "train.epochs").toStdString(), "7");
}

TEST_F(Editing, EndsWhereItBeganAfterAnyEditsAreTakenBack) {
  std::mt19937 random(11);
  const auto shown = page();
  const std::string start = shown->text();
  const auto pick = [&](std::size_t n) { return random() % n; };
  for (int i = 0; i < 60; ++i) {
    switch (pick(7)) {
      case 0:
        type(*shown, "model.width", QString::number(32 + 32 * pick(5)));
        break;
      case 1:
        choose(*shown, "model.pool",
               pick(2) != 0 ? QStringLiteral("mean") : QStringLiteral("last"));
        break;
      case 2:
        choose(*shown, "model.architecture",
               pick(2) != 0 ? QStringLiteral("blind") : QStringLiteral("picture"));
        break;
      case 3:
        enter(shown->side(), QStringLiteral("Seeds, comma separated"),
              pick(2) != 0 ? QStringLiteral("0, 1, 2") : QString());
        break;
      case 4:
        menu(*shown, "model.heads", QStringLiteral("New variant from this field"));
        break;
      case 5: {
        auto* box = formOf(*shown).findChild<QCheckBox*>(QStringLiteral("observe.calibration"));
        box->setChecked(!box->isChecked());
        break;
      }
      default:
        shown->side().text().moveCursor(QTextCursor::Start);
        shown->side().text().insertPlainText(QStringLiteral("# note %1\n").arg(i));
        shown->planNow();
        break;
    }
    QCoreApplication::processEvents();
    QCoreApplication::sendPostedEvents(nullptr, QEvent::DeferredDelete);
    Problem problem;
    const auto written = parseDocument(shown->text(), problem);
    ASSERT_TRUE(written) << problem.message;
    ASSERT_TRUE(meansTheSame(*written, shownBy(*shown))) << shown->text();
  }
  const std::string end = shown->text();
  while (shown->history().canUndo()) shown->undo();
  EXPECT_EQ(shown->text(), start);
  while (shown->history().canRedo()) shown->redo();
  EXPECT_EQ(shown->text(), end);
  Problem problem;
  EXPECT_TRUE(meansTheSame(*parseDocument(end, problem), shownBy(*shown)));
}

TEST_F(Editing, KeepsTheCommentsOfAnOpenedFile) {
  const auto shown = page();
  shown->setText(
      "# why\ntitle = \"x\"\n[model]\narchitecture = \"picture\" # this one\nwidth = 64 # wide\n"
      "[task]\nname = \"sorting\"\n[data]\ndataset = \"squares\"\n");
  shown->planNow();
  type(*shown, "model.width", QStringLiteral("128"));
  choose(*shown, "model.pool", QStringLiteral("mean"));
  for (const char* kept : {"# why", "# this one", "width = 128 # wide", "pool = \"mean\""})
    EXPECT_NE(shown->text().find(kept), std::string::npos) << kept << "\n" << shown->text();
}

TEST_F(Editing, KeepsCursorAndSelectionWhileTheFormEditsTheText) {
  const auto shown = page();
  QPlainTextEdit& text = shown->side().text();
  QTextCursor cursor = text.document()->find(QStringLiteral("dataset"));
  text.setTextCursor(cursor);
  type(*shown, "model.width", QStringLiteral("128"));
  EXPECT_EQ(text.textCursor().selectedText().toStdString(), "dataset");
}

TEST_F(Editing, GivesAChangedFieldAWayBack) {
  const auto shown = page();
  type(*shown, "model.width", QStringLiteral("128"));
  auto* back = named<QToolButton>(*formOf(*shown).row("model.width"),
                                  QStringLiteral("Back to the default: model width"));
  ASSERT_NE(back, nullptr);
  EXPECT_FALSE(back->isHidden());
  back->click();
  EXPECT_EQ(lineText(*shown, "model.width").toStdString(), "96");
  EXPECT_TRUE(back->isHidden());
  EXPECT_EQ(shown->text().find("width"), std::string::npos);
}

TEST_F(Editing, FindsFieldsByTitleKeyAndMeaning) {
  const auto shown = page();
  const auto visible = [&](const std::string& key) { return !formOf(*shown).row(key)->isHidden(); };
  enter(*shown, QStringLiteral("Find a field"), QStringLiteral("probability skipping"));
  EXPECT_TRUE(visible("model.drop_path"));
  EXPECT_FALSE(visible("model.width"));
  enter(*shown, QStringLiteral("Find a field"), QStringLiteral("beta1"));  // folded otherwise
  EXPECT_TRUE(visible("train.optimizer.beta1"));
  EXPECT_TRUE(labels(*formOf(*shown).row("train.optimizer.beta1"))
                  .contains(QStringLiteral("background-color")));
  enter(*shown, QStringLiteral("Find a field"), QStringLiteral("nothing like this"));
  EXPECT_TRUE(labels(*shown).contains(QStringLiteral("No field matches.")));
  enter(*shown, QStringLiteral("Find a field"), QString());
  EXPECT_TRUE(visible("model.width"));
  EXPECT_FALSE(visible("train.optimizer.beta1"));
}

TEST_F(Editing, SweepsAFieldFromItsMenu) {
  const auto shown = page();
  menu(*shown, "model.heads", QStringLiteral("Sweep this field"));
  menu(*shown, "train.seed", QStringLiteral("Sweep this field"));
  menu(*shown, "model.qkv_bias", QStringLiteral("Sweep this field"));
  shown->planNow();
  EXPECT_EQ(shown->plan().runs.size(), 2U * 3U * 2U);
  const Document document = shownBy(*shown);
  EXPECT_EQ(document.axis("model.heads")->values, (std::vector<Json>{4, 8}));
  EXPECT_EQ(document.axis("train.seed")->values, (std::vector<Json>{0, 1, 2}));
}

TEST_F(Editing, MovesAChangeIntoAVariant) {
  const auto shown = page();
  type(*shown, "model.width", QStringLiteral("128"));
  menu(*shown, "model.width", QStringLiteral("New variant from this field"));
  shown->planNow();
  ASSERT_EQ(shown->plan().runs.size(), 2U);
  EXPECT_EQ(shown->plan().runs[0].config["model"]["width"], Json(96));
  EXPECT_EQ(shown->plan().runs[1].config["model"]["width"], Json(128));
  EXPECT_EQ(shown->plan().runs[1].variant, "+ width 128");
  choose(*shown, "model.pool", QStringLiteral("mean"));
  menu(*shown, "model.pool", QStringLiteral("+ width 128"));
  shown->planNow();
  EXPECT_EQ(shown->plan().runs[0].config["model"]["pool"], Json("first"));
  EXPECT_EQ(shown->plan().runs[1].config["model"]["pool"], Json("mean"));
}

TEST_F(Editing, SaysBesideAnAxisWhatIsWrongWithIt) {
  const auto shown = page();
  shown->side().sweep().sweep("model.widht", {1, 2});
  shown->planNow();
  auto* key = named<QLineEdit>(shown->side(), QStringLiteral("Key of the sweep axis"));
  ASSERT_NE(key, nullptr);
  EXPECT_TRUE(key->property("invalid").toBool()) << labels(shown->side()).toStdString();
}

TEST_F(Editing, ListsTheRunsToComeWithWhatDiffers) {
  const auto shown = page();
  enter(shown->side(), QStringLiteral("Seeds, comma separated"), QStringLiteral("0, 1"));
  menu(*shown, "model.width", QStringLiteral("New variant from this field"));  // says the default
  shown->waitUntilIdle();
  const PlannedRuns& runs = shown->side().plannedRuns().runs();
  ASSERT_EQ(runs.rowCount(), 4);
  EXPECT_EQ(runs.index(1).data(PlannedRuns::DiffersRole).toString().toStdString(), "seed 1");
  EXPECT_EQ(runs.index(2).data(PlannedRuns::NoteRole).toString().toStdString(),
            "same as run 1 here");
}

TEST_F(Editing, MarksRunsThatWereMadeBeforeAndOffersAnotherSeed) {
  const auto shown = page();
  shown->planNow();
  const std::int64_t run = workbench_.addRun("earlier", shown->plan().runs.at(0).config);
  shown->waitUntilIdle();
  EXPECT_EQ(Probe::forecast(*shown).runs.at(0).existing, run);
  const QString said = labels(*shown);
  EXPECT_TRUE(said.contains(QStringLiteral("Already queued or run: #%1 (queued)").arg(run)))
      << said.toStdString();
  bool isFact = false;
  for (const QLabel* label : shown->findChildren<QLabel*>()) {
    if (label->text().startsWith(QStringLiteral("Already queued")))
      isFact = label->property("role").toString() != QStringLiteral("warn");
  }
  EXPECT_TRUE(isFact) << "not a warning";
  saying<QPushButton>(*shown, "Use seed 1")->click();
  shown->waitUntilIdle();
  EXPECT_EQ(shown->plan().runs.at(0).seed, 1U);
  for (const QPushButton* button : shown->findChildren<QPushButton*>()) {
    if (button->text() == QLatin1String("Use seed 1")) {
      EXPECT_TRUE(button->parentWidget()->isHidden());
    }
  }
}

TEST_F(Editing, ComparesWithTheNearestRunAndTheNewestOfEquals) {
  const auto shown = page();
  shown->planNow();
  const auto with = [&](const char* key, int value) {
    Json config = shown->plan().runs.at(0).config;
    config["model"][key] = value;
    config["model"]["heads"] = key == std::string("width") ? config["model"]["heads"] : Json(8);
    return workbench_.addRun("run", config);
  };
  with("width", 32);
  const std::int64_t nearest = with("width", 48);
  with("mlp_width", 64);  // two keys
  shown->side().changes().setAgainst(ChangesView::Against::Nearest);
  shown->waitUntilIdle();
  EXPECT_EQ(Probe::forecast(*shown).nearest, nearest);
  EXPECT_EQ(Probe::forecast(*shown).nearestKeys, 1);
  const QString said = labels(shown->side());
  EXPECT_TRUE(said.contains(QStringLiteral("48 \u2192 96"))) << said.toStdString();
  EXPECT_TRUE(said.contains(QStringLiteral("run #%1").arg(nearest)));
  EXPECT_FALSE(said.contains(QStringLiteral("dataset")));
  shown->side().changes().setShowsAll(true);
  EXPECT_TRUE(labels(shown->side()).contains(QStringLiteral("dataset")));
}

TEST_F(Editing, TakesTimeAndMemoryFromRunsLikeThese) {
  const auto shown = page();
  type(*shown, "train.steps", QStringLiteral("1000"));
  type(*shown, "train.epochs", QString());
  shown->planNow();
  Json config = shown->plan().runs.at(0).config;
  config["model"]["width"] = 32;
  const std::int64_t run = workbench_.addRun("like", config);
  store::RunRow& row = workbench_.row(run);
  row.state = store::RunState::Done;
  row.step = row.totalSteps = 400;
  row.startedAt = "2026-01-01T00:00:00.000Z";
  row.finishedAt = "2026-01-01T00:00:40.000Z";  // 0.1 s per step
  row.memoryBytes = 123'000'000;
  shown->waitUntilIdle();
  EXPECT_NEAR(Probe::forecast(*shown).seconds, 100, 1e-6);
  EXPECT_TRUE(Probe::forecast(*shown).timeSource.contains(QStringLiteral("(#%1)").arg(run)));
  EXPECT_NEAR(Probe::forecast(*shown).memoryBytes, 4e8, 1) << "another model: what check says";
  EXPECT_TRUE(labels(*shown).contains(QStringLiteral("about ") + duration(100)))
      << labels(*shown).toStdString();
  type(*shown, "model.width", QStringLiteral("32"));
  shown->waitUntilIdle();
  EXPECT_NEAR(Probe::forecast(*shown).memoryBytes, 123e6, 1);
}

TEST_F(Editing, LetsInitBeWrittenAndTakenAwayAgain) {
  const auto shown = page();
  type(*shown, "init.run", QStringLiteral("12345678-1234-1234-1234-123456789abc"));
  type(*shown, "init.checkpoint", QStringLiteral("best"));
  shown->planNow();
  ASSERT_TRUE(shown->plan().problems.empty()) << shown->plan().problems.front().sentence();
  ASSERT_TRUE(shown->plan().runs.at(0).init.has_value());
  EXPECT_EQ(shown->plan().runs.at(0).init->checkpoint, "best");
  type(*shown, "init.run", QString());
  type(*shown, "init.checkpoint", QString());  // the default again
  shown->planNow();
  EXPECT_FALSE(shown->plan().runs.at(0).init.has_value()) << shown->text();
  EXPECT_EQ(shown->text().find("[init]"), std::string::npos) << shown->text();
}

TEST_F(Editing, ClonesWhatARunSaidOverItsPreset) {
  const auto shown = page();
  choose(*shown, "model.mask.kind", QStringLiteral("none"));  // the default, over the preset's
  shown->planNow();
  const Json config = shown->plan().runs.at(0).config;
  const std::int64_t run = workbench_.addRun("earlier", config);
  shown->setText(toText(freshDocument(workbench_.catalog())));
  shown->planNow();
  shown->startFrom(run);
  shown->planNow();
  ASSERT_TRUE(shown->plan().problems.empty());
  EXPECT_TRUE(difference(config, shown->plan().runs.at(0).config).empty()) << shown->text();
  EXPECT_EQ(changedRows(formOf(*shown)), 1);
  shown->waitUntilIdle();
  EXPECT_EQ(Probe::forecast(*shown).runs.at(0).existing, run);
}

TEST_F(Editing, KeepsStagesWhileTheFormIsEdited) {
  const auto shown = page();
  shown->setText(shown->text() +
                 "\n[[stage]]\nname = \"pretrain\" # long\n[[stage]]\nname = \"finetune\"\nset = "
                 "{ \"model.image_size\" = 56 }\n");
  shown->planNow();
  EXPECT_EQ(shown->plan().runs.size(), 2U);
  EXPECT_TRUE(labels(shown->side()).contains(QStringLiteral("pretrain \u2192 finetune")));
  type(*shown, "model.width", QStringLiteral("128"));
  shown->planNow();
  EXPECT_EQ(shown->plan().runs.size(), 2U);
  EXPECT_NE(shown->text().find("# long"), std::string::npos);
}

TEST_F(Editing, GivesAndTakesTheStateOfItsView) {
  const auto shown = page();
  const Json before = shown->viewState();
  int told = 0;
  QObject::connect(shown.get(), &Page::viewChanged, shown.get(), [&] { ++told; });
  auto* model = named<QToolButton>(formOf(*shown), QStringLiteral("Model"));
  ASSERT_NE(model, nullptr);
  model->click();
  named<QToolButton>(shown->side(), QStringLiteral("TOML"))->click();
  EXPECT_EQ(told, 2);
  EXPECT_TRUE(formOf(*shown).row("model.width")->parentWidget()->isHidden());
  const Json after = shown->viewState();
  EXPECT_NE(before, after);
  shown->setViewState(before);
  EXPECT_EQ(shown->viewState(), before);
  EXPECT_FALSE(formOf(*shown).row("model.width")->parentWidget()->isHidden());
  shown->setViewState(after);
  EXPECT_EQ(shown->viewState(), after);
  shown->setViewState(Json{{"groups", 7}, {"side", {{"open", "x"}}}, {"other", nullptr}});
  EXPECT_FALSE(shown->howToRead().isEmpty());
}

TEST_F(Editing, PicksARunFromAListThatIsSearched) {
  for (int i = 0; i < 20; ++i) workbench_.addRun("run " + std::to_string(100 + i), Json::object());
  RunPicker picker(QStringLiteral("Choose"), workbench_.runs());
  EXPECT_EQ(picker.shown(), 20);
  picker.show();
  QTest::keyClicks(&picker.filter(), QStringLiteral("queued 117"));
  EXPECT_EQ(picker.shown(), 1);
  EXPECT_EQ(workbench_.runs().at(picker.picked()).name, "run 117");
  QTest::keyClick(&picker.filter(), Qt::Key_Return);
  EXPECT_EQ(picker.result(), QDialog::Accepted);
}

TEST_F(Editing, LeadsTheTabKeyFromFieldToField) {
  const auto shown = page();
  bringUp(*shown);
  auto* line = formOf(*shown).row("model.width")->editor().input();
  line->setFocus();
  QTest::keyClick(line, Qt::Key_Tab);
  EXPECT_EQ(QApplication::focusWidget(), formOf(*shown).row("model.heads")->editor().input());
}

}  // namespace
}  // namespace vitrine::ui
