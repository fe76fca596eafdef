// What starts an experiment from the page: the queue, the keys, the command to copy.
#include <QClipboard>
#include <QDir>
#include <QGuiApplication>
#include <QProcess>
#include <QTest>

#include "core/config/edit/document.h"
#include "core/config/edit/toml_patch.h"
#include "core/config/edit/train_command.h"
#include "tests/ui/configure/editing_fixture.h"
#include "tests/ui/support/soon.h"
#include "ui/configure/form/run_picker.h"
#include "ui/configure/form/sweep_editor.h"
#include "ui/configure/plan/changes_view.h"
#include "ui/configure/plan/planned_runs.h"
#include "ui/configure/plan/side_panel.h"
#include "ui/workbench/run_facts.h"

namespace vitrine::ui {
namespace {

class Starting : public Editing {};

TEST_F(Starting, StartsAlsoWhereTheDatabaseIsNamedByARelativePath) {
  const QString before = QDir::currentPath();
  ASSERT_TRUE(QDir::setCurrent(workbench_.path(QStringLiteral("."))));
  EnqueueProcess process;
  bool isDone = false;
  QObject::connect(&process, &EnqueueProcess::finished, &process, [&] { isDone = true; });
  process.start("title = \"x\"\n", "x", "experiments.sqlite", jobs::QueueEnd::Back);
  EXPECT_TRUE(soon([&] { return isDone; }));
  QDir::setCurrent(before);
  const QString file =
      fileText(program_ + QStringLiteral(".enqueued")).section(QLatin1Char(' '), 1, 1);
  EXPECT_TRUE(QDir::isAbsolutePath(file)) << file.toStdString();
  EXPECT_TRUE(QFile::exists(file)) << file.toStdString();
}

TEST_F(Starting, QueuesAndStays) {
  const auto shown = page();
  workbench_.addRun("made by the program", Json::object());
  shown->queueUp();
  ASSERT_TRUE(soon([&] { return startButton(*shown)->isEnabled(); }));
  EXPECT_TRUE(workbench_.pages.empty());
  EXPECT_TRUE(workbench_.said.back().contains(QStringLiteral("Queued run #")));
  EXPECT_TRUE(workbench_.said.back().endsWith(
      QStringLiteral(". It keeps running if you close the window.")))
      << workbench_.said.back().toStdString();
}

TEST_F(Starting, ShowsTheRunsOfAnotherMachineOnceTheyAreHere) {
  const auto shown = page();
  shown->show();
  shown->planNow();
  shown->start();
  ASSERT_TRUE(soon([&] {
    return !workbench_.said.empty() &&
           workbench_.said.back().contains(QStringLiteral("Queued run #"));
  }));
  EXPECT_TRUE(workbench_.pages.empty());
  EXPECT_TRUE(workbench_.selection().runs().empty());
  const std::int64_t run = workbench_.addRun("made by the program", Json::object());
  Q_EMIT workbench_.watcher().runsChanged(std::vector<store::RunRow>{});
  EXPECT_EQ(workbench_.pages, std::vector<QString>{QStringLiteral("monitor")});
  EXPECT_EQ(workbench_.selection().runs(), std::vector<std::int64_t>{run});
}

TEST_F(Starting, TheFocusComesBackToTheButtonThatWasPressed) {
  const auto shown = page();
  workbench_.addRun("made by the program", Json::object());
  bringUp(*shown);
  auto* queue = saying<QPushButton>(*shown, "Queue");
  ASSERT_TRUE(soon([&] { return queue->isEnabled(); }));
  queue->setFocus();
  queue->click();
  ASSERT_TRUE(soon([&] {
    return !workbench_.said.empty() &&
           workbench_.said.back().contains(QStringLiteral("Queued run #"));
  }));
  EXPECT_TRUE(queue->hasFocus());
}

TEST_F(Starting, StartsWithKeysWhereverTheFocusIs) {
  const auto shown = page();
  workbench_.addRun("made by the program", Json::object());
  shown->show();
  shown->planNow();
  auto* line = qobject_cast<QLineEdit*>(formOf(*shown).row("model.width")->editor().input());
  line->setFocus();
  QTest::keyClick(line, Qt::Key_Return, Qt::ControlModifier | Qt::ShiftModifier);
  ASSERT_TRUE(soon([&] { return !workbench_.pages.empty(); }));
  EXPECT_TRUE(fileText(program_ + QStringLiteral(".enqueued")).contains(QStringLiteral("--front")));
}

/// What a shell makes of the command: its words after `vitrine train`.
std::vector<std::string> wordsOf(const std::string& command, const QString& folder) {
  const QString script = folder + QStringLiteral("/vitrine");
  writeScript(script,
              "for w in \"$@\"; do printf '%s\\0' \"$w\"; done\n"
              "if [ \"$2\" = - ]; then printf 'stdin\\0'; cat; fi");
  QProcess shell;
  QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
  environment.insert(QStringLiteral("PATH"),
                     folder + QLatin1Char(':') + environment.value(QStringLiteral("PATH")));
  shell.setProcessEnvironment(environment);
  shell.start(QStringLiteral("/bin/sh"), {QStringLiteral("-c"), QString::fromStdString(command)});
  EXPECT_TRUE(shell.waitForFinished(5000));
  std::vector<std::string> words;
  for (const QByteArray& word : shell.readAllStandardOutput().split('\0'))
    words.push_back(word.toStdString());
  return words;
}

TEST_F(Starting, CopiesACommandThatPlansTheSameRuns) {
  const auto shown = page();
  type(*shown, "model.width", QStringLiteral("128"));
  type(*shown, "model.note", QStringLiteral("it's \"quoted\" $HOME"));
  choose(*shown, "model.mask.kind", QStringLiteral("soft"));
  shown->planNow();
  shown->copyAsCommand();
  shown->planNow();
  const std::string command = QGuiApplication::clipboard()->text().toStdString();
  QTemporaryDir folder;
  const std::vector<std::string> words = wordsOf(command, folder.path());
  ASSERT_GT(words.size(), 4U) << command;
  EXPECT_EQ(words[0], "train");
  EXPECT_EQ(words[1], "/dev/null");
  std::vector<Override> overrides;
  for (std::size_t i = 2; i < words.size() && words[i] != "--db"; ++i)
    overrides.push_back(parseOverride(words[i]));
  const Plan plan = planExperimentFile(words[1], *formOf(*shown).catalog(), overrides);
  ASSERT_TRUE(plan.problems.empty()) << plan.problems.front().sentence() << command;
  ASSERT_EQ(plan.runs.size(), 1U);
  EXPECT_TRUE(difference(plan.runs[0].config, shown->plan().runs[0].config).empty());
  EXPECT_EQ(plan.title, shown->plan().title);
}

TEST_F(Starting, CopiesOnlyWhatDiffersFromTheFile) {
  const auto shown = page();
  const QString name = workbench_.path(QStringLiteral("an experiment.toml"));
  menu(*shown, "model.width", QStringLiteral("New variant from this field"));
  shown->openFile(makeFile(name, QByteArray::fromStdString(shown->text())));
  shown->planNow();
  type(*shown, "model.heads", QStringLiteral("8"));
  shown->copyAsCommand();
  shown->planNow();
  QTemporaryDir folder;
  const auto words = wordsOf(QGuiApplication::clipboard()->text().toStdString(), folder.path());
  ASSERT_GT(words.size(), 3U);
  EXPECT_EQ(words[1], name.toStdString());
  EXPECT_EQ(words[2], "model.heads=8");
  EXPECT_EQ(words[3], "--db");
}

TEST_F(Starting, CopiesTheWholeTextWhereWordsCannotSayIt) {
  const auto shown = page();
  menu(*shown, "model.heads", QStringLiteral("Sweep this field"));
  shown->copyAsCommand();
  shown->planNow();
  QTemporaryDir folder;
  const auto words = wordsOf(QGuiApplication::clipboard()->text().toStdString(), folder.path());
  ASSERT_GT(words.size(), 2U);
  EXPECT_EQ(words[1], "-");
  EXPECT_EQ(words.back(), shown->text());
}

}  // namespace
}  // namespace vitrine::ui
