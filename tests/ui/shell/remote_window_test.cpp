// The window over a database on another machine, with the link, without it, and when it is back.
#include <QAction>
#include <QLineEdit>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QSignalSpy>
#include <QTest>
#include <algorithm>
#include <csignal>
#include <utility>

#include "tests/support/child.h"
#include "tests/ui/support/find.h"
#include "tests/ui/support/qt_test.h"
#include "tests/ui/support/soon.h"
#include "tests/ui/support/test_files.h"
#include "ui/monitor/monitor_page.h"
#include "ui/shell/link_bar.h"
#include "ui/shell/main_window.h"
#include "ui/start/start_page.h"
#include "ui/workbench/headless.h"
#include "ui/workbench/model_service.h"
#include "ui/workbench/recent_databases.h"
#include "ui/workbench/remote_link.h"

namespace vitrine::ui {
namespace {

/// A database "there", and a program in the place of ssh.
struct Lab {
  Lab() : runs(makeSampleDatabase(path("lab.sqlite"), {0, 50})), store(path("lab.sqlite")) {
    qputenv("XDG_CACHE_HOME", folder.filePath(QStringLiteral("cache")).toLocal8Bit());
    qputenv("XDG_DATA_HOME", folder.filePath(QStringLiteral("data")).toLocal8Bit());
    qputenv("VITRINE_DEVICE_LOCKS", folder.path().toLocal8Bit());
    qputenv("VITRINE_SSH", folder.filePath(QStringLiteral("ssh")).toLocal8Bit());
    connect();
  }
  [[nodiscard]] std::string path(const char* name) const {
    return folder.filePath(QLatin1String(name)).toStdString();
  }
  void become(const QByteArray& script) const {
    const QString made = folder.filePath(QStringLiteral("ssh.new"));
    writeScript(made, script);
    QFile::remove(folder.filePath(QStringLiteral("ssh")));
    ASSERT_TRUE(QFile::rename(made, folder.filePath(QStringLiteral("ssh"))));
  }
  void connect() const {
    become("for last; do :; done\necho $$ > $(dirname $0)/pid\nexec sh -c \"$last\"");
  }
  /// The cable is cut, and stays cut.
  void cut() const {
    become("echo 'ssh: connect to host lab port 22: No route to host' >&2; exit 255");
    const int process = bytesOf(folder.filePath(QStringLiteral("pid"))).trimmed().toInt();
    ASSERT_GT(process, 0);
    signalProcess(process, SIGKILL);
  }
  [[nodiscard]] remote::RemotePlace place() const {
    return remote::remotePlace("ssh://lab" + path("lab.sqlite") + "?program=" VITRINE_PROGRAM);
  }

  QTemporaryDir folder;
  std::vector<std::int64_t> runs;
  store::RunStore store;
};

struct RemoteWindow {
  explicit RemoteWindow(const Lab& lab) : link(lab.place()), workbench(link) {
    workbench.start();
    window = std::make_unique<MainWindow>(workbench);
    window->resize(1440, 900);
    window->show();
  }
  [[nodiscard]] bool isLinked() {
    return soon([&] { return link.state().link == remote::RemoteState::Link::Linked; });
  }
  [[nodiscard]] bool isLost() {
    return soon([&] { return link.state().link == remote::RemoteState::Link::Lost; });
  }
  void choose(std::int64_t run) {
    ASSERT_TRUE(soon([&] { return workbench.runs().count(run) > 0; }));
    workbench.selection().setRuns({run}, run);
  }
  [[nodiscard]] QPlainTextEdit& note() const {
    return *named<QPlainTextEdit>(*window, "Note on the run");
  }
  void type(const QString& text) const {
    note().setPlainText(text);
    note().document()->setModified(true);
  }
  [[nodiscard]] LinkBar& bar() const { return *window->findChild<LinkBar*>(); }

  RemoteLink link;
  StudioWorkbench workbench;
  std::unique_ptr<MainWindow> window;
};

/// One that has its link.
class LinkedWindow : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(remote.isLinked()) << remote.link.sentence().toStdString(); }

  Lab lab;
  RemoteWindow remote{lab};
};

TEST_F(LinkedWindow, ShowsTheRunsThatAreThereAndWhatBecomesOfThem) {
  ASSERT_TRUE(soon([&] { return remote.workbench.runs().size() == lab.runs.size(); }));
  EXPECT_FALSE(remote.bar().isVisible());
  const std::int64_t gone = lab.runs.front();
  lab.store.deleteRun(gone);
  EXPECT_TRUE(soon([&] { return remote.workbench.run(gone) == nullptr; }));
}

// What waits lies in a file, and answers come from another machine: both may say anything.
TEST(RemoteWindow, TakesNoFieldOfAnotherTypeForAnEditThatWaits) {
  Lab lab;
  lab.become("exit 255");
  const std::string waiting = [&] {
    const RemoteLink link(lab.place());
    return link.file().string() + ".waiting.json";
  }();
  makeFile(QString::fromStdString(waiting),
           R"([{"run": "x", "field": 1, "text": [], "based_on": {}}, 7, {"run": 3},
               {"run": 3, "field": "note", "text": "kept", "based_on": "x"}])");
  const RemoteLink link(lab.place());
  ASSERT_NE(link.waiting(3, store::RunField::Note), nullptr);
  EXPECT_EQ(*link.waiting(3, store::RunField::Note), "kept");
}

TEST(RemoteWindow, SurvivesAnswersOfAnotherForm) {
  Lab lab;
  lab.become(
      "exec python3 -c '\n"
      "import struct, sys\n"
      "def showMessage(data): sys.stdout.buffer.write(struct.pack(\"<I\", len(data)) + data); "
      "sys.stdout.flush()\n"
      "showMessage("
      "b\"\\xa3\\x62id\\x01\\x65error\\xa2\\x64kind\\x01\\x67message\\x80\\x64more\\xf4\")\n"
      "sys.stdin.buffer.read()'");
  RemoteWindow remote(lab);
  ASSERT_TRUE(remote.isLost());
  EXPECT_TRUE(remote.link.sentence().contains(QLatin1String("no reason was given")))
      << remote.link.sentence().toStdString();
}

TEST(RemoteWindow, IsAmongTheDatabasesThatWereOpenedLately) {
  Lab lab;
  useSettings(lab.folder.filePath(QStringLiteral("settings.ini")));
  {
    RemoteWindow remote(lab);
    EXPECT_EQ(recentDatabases().value(0), remote.link.url());
  }
  forgetSettings();
}

TEST(RemoteWindow, CarriesStartStopAndDeleteThere) {
  Lab lab;
  jobs::JobQueue(lab.store).setMode(store::QueueMode::Paused);  // no worker takes it
  RemoteWindow remote(lab);
  ASSERT_TRUE(remote.isLinked()) << remote.link.sentence().toStdString();
  std::int64_t queued = 0, ended = 0;
  for (const store::RunRow& row : lab.store.runs()) {
    if (row.state == store::RunState::Queued) queued = row.id;
    if (row.state == store::RunState::Done) ended = row.id;
  }
  remote.choose(queued);
  remote.workbench.startRuns({queued}, jobs::QueueEnd::Front);
  EXPECT_TRUE(soon([&] { return jobs::JobQueue(lab.store).find(queued).has_value(); }));
  remote.workbench.stopRuns({ended});  // which has ended: nothing is asked
  remote.workbench.deleteRuns({ended});
  EXPECT_TRUE(soon([&] { return remote.workbench.run(ended) == nullptr; }));
  EXPECT_EQ(lab.store.runs().size(), lab.runs.size() - 1);
}

TEST_F(LinkedWindow, SaysWhyThereIsNoLinkAndTakesItUpAgain) {
  ASSERT_TRUE(soon([&] { return remote.workbench.runs().size() == lab.runs.size(); }));
  lab.cut();
  ASSERT_TRUE(remote.isLost());
  ASSERT_TRUE(soon([&] {
    return remote.link.sentence().contains(QStringLiteral("No route to host")) &&
           remote.bar().isVisible();
  }));
  EXPECT_EQ(remote.workbench.runs().size(), lab.runs.size()) << "what was read stays";
  QSignalSpy said(&remote.workbench, &StudioWorkbench::errorSent);
  remote.workbench.deleteRuns({lab.runs.front()});
  ASSERT_TRUE(soon([&] { return said.count() > 0; }));
  EXPECT_TRUE(said.last()[0].toString().contains(QStringLiteral("nothing was asked")));
  lab.connect();
  auto* again = remote.bar().findChild<QPushButton*>();
  ASSERT_NE(again, nullptr);
  QTest::mouseClick(again, Qt::LeftButton);
  EXPECT_TRUE(remote.isLinked());
  EXPECT_TRUE(soon([&] { return !remote.bar().isVisible(); }));
  EXPECT_EQ(lab.store.runs().size(), lab.runs.size());
}

TEST_F(LinkedWindow, ALostLinkIsTriedByACommandToo) {
  CommandPalette& palette = only<CommandPalette>(*remote.window);
  const QString tryNow = QStringLiteral("Try the link now");
  const auto said = [&] {
    remote.window->openPalette();
    palette.input().setText(tryNow);
    return palette.list().item(0)->data(Qt::AccessibleTextRole).toString();
  };
  EXPECT_EQ(said(), tryNow + QStringLiteral(", not now: there is a link"));
  lab.cut();
  ASSERT_TRUE(remote.isLost());
  EXPECT_FALSE(said().contains(QStringLiteral("not now")));
  lab.connect();
  QTest::keyClick(&palette.input(), Qt::Key_Return);
  EXPECT_FALSE(palette.isVisible());
  EXPECT_TRUE(remote.isLinked());
}

TEST(RemoteWindow, WhatIsTypedWithoutALinkArrivesLaterAlsoFromAnotherWindow) {
  Lab lab;
  const std::int64_t first = lab.runs[0], second = lab.runs[1];
  {
    RemoteWindow remote(lab);
    ASSERT_TRUE(remote.isLinked()) << remote.link.sentence().toStdString();
    remote.choose(first);
    remote.type(QStringLiteral("with a link"));
    EXPECT_TRUE(soon([&] { return lab.store.note(first) == "with a link"; }));
    lab.cut();
    ASSERT_TRUE(remote.isLost());
    remote.type(QStringLiteral("without one"));
    remote.choose(second);
    remote.type(QStringLiteral("nor for this"));
    remote.choose(first);
    EXPECT_EQ(remote.note().toPlainText(), QStringLiteral("without one"));
    EXPECT_EQ(remote.link.waitingEdits(), 2);
  }
  EXPECT_EQ(lab.store.note(first), "with a link");
  lab.connect();
  // Meanwhile another user wrote about the second run.
  lab.store.setNote(second, "written there");
  RemoteWindow remote(lab);
  QSignalSpy said(&remote.workbench, &StudioWorkbench::errorSent);
  EXPECT_TRUE(soon([&] { return lab.store.note(first) == "without one"; }));
  EXPECT_TRUE(soon([&] { return remote.link.waitingEdits() == 0; }));
  EXPECT_EQ(lab.store.note(second), "written there");
  EXPECT_EQ(lab.store.edits(second, store::RunField::Note).back().text, "nor for this");
  ASSERT_TRUE(soon([&] { return said.count() > 0; }));
  EXPECT_TRUE(said.last()[0].toString().contains(QStringLiteral("is kept next to it")));
}

TEST(RemoteWindow, NotesOnCurvesWithoutALinkAreShownAndArriveBesideThoseOfOthers) {
  Lab lab;
  const std::int64_t run = lab.runs[0];
  const auto words = [](const std::vector<CurveNote>& notes) {
    QStringList lines;
    for (const CurveNote& note : notes)
      lines << QString::number(note.step) + QLatin1Char(' ') + note.text;
    return lines;
  };
  const auto there = [&] {
    QStringList notes;
    for (const store::CurveNoteRow& note : lab.store.curveNotes(run))
      notes << QString::number(note.step) + QLatin1Char(' ') + QString::fromStdString(note.text);
    return notes;
  };
  lab.store.setCurveNotes(run, {{"train/loss", 1, "old"}});
  {
    RemoteWindow remote(lab);
    ASSERT_TRUE(remote.isLinked()) << remote.link.sentence().toStdString();
    remote.choose(run);
    MonitorPage page(remote.workbench);
    page.waitUntilIdle();
    page.addNote(run, "train/loss", 2, QStringLiteral("with a link"));
    const QStringList both{QStringLiteral("1 old"), QStringLiteral("2 with a link")};
    EXPECT_EQ(words(page.card("train/loss")->plot().notes()), both) << "while it is under way";
    EXPECT_TRUE(soon([&] { return there() == both; }));
    EXPECT_TRUE(soon([&] { return remote.link.waitingEdits() == 0; }));
    EXPECT_EQ(words(page.card("train/loss")->plot().notes()), both) << "and when it is there";
    lab.cut();
    ASSERT_TRUE(remote.isLost());
    page.addNote(run, "train/loss", 3, QStringLiteral("without one"));
    page.addNote(run, "train/loss", 4, QStringLiteral("nor this"));
    EXPECT_EQ(words(page.card("train/loss")->plot().notes()).size(), 4);
    EXPECT_EQ(there(), both);
  }
  // Meanwhile another user wrote one and removed another.
  lab.store.setCurveNotes(run, {{"train/loss", 2, "with a link"}, {"train/loss", 9, "theirs"}});
  lab.connect();
  const RemoteWindow remote(lab);
  const QStringList all{QStringLiteral("2 with a link"), QStringLiteral("3 without one"),
                        QStringLiteral("4 nor this"), QStringLiteral("9 theirs")};
  EXPECT_TRUE(soon([&] { return there() == all; }));
  EXPECT_TRUE(soon([&] { return remote.link.waitingEdits() == 0; }));
}

TEST_F(LinkedWindow, ShowsBothTextsWhenAUserThereWasFaster) {
  remote.choose(lab.runs[0]);
  remote.type(QStringLiteral("mine"));
  lab.store.setNote(lab.runs[0], "theirs");
  const auto mine = [&] {
    return firstWhere<QPushButton>(*remote.window, [](const QPushButton& each) {
      return each.isVisible() &&
             each.text().remove(QLatin1Char('&')).contains(QStringLiteral("ine"));
    });
  };
  ASSERT_TRUE(soon([&] { return mine() != nullptr; }));
  EXPECT_EQ(lab.store.note(lab.runs[0]), "theirs");
  EXPECT_EQ(remote.note().toPlainText(), QStringLiteral("mine"));
  QTest::mouseClick(mine(), Qt::LeftButton);
  EXPECT_TRUE(soon([&] { return lab.store.note(lab.runs[0]) == "mine"; }));
}

TEST(RemoteWindow, ImportsNothingIntoTheCopy) {
  Lab lab;
  RemoteWindow remote(lab);
  QSignalSpy said(&remote.workbench, &StudioWorkbench::errorSent);
  remote.workbench.openFile(makeFile(lab.folder.filePath(QStringLiteral("some.vitrine"))));
  ASSERT_GT(said.count(), 0);
  EXPECT_TRUE(said.last()[0].toString().contains(QStringLiteral("run `vitrine import` there")));
}

TEST_F(LinkedWindow, AnExperimentIsCheckedByTheMachineThatHasThePlugins) {
  qputenv("VITRINE_PROGRAM", "/bin/false");  // that of this machine
  CheckProcess check;
  check.setLink(&remote.link);
  std::vector<Json> reports;
  QObject::connect(&check, &CheckProcess::finished,
                   [&reports](const Json& report) { reports.push_back(report); });
  QSignalSpy failed(&check, &CheckProcess::failed);
  check.ask("title = 'older'\n");
  check.ask("title = ");
  EXPECT_TRUE(check.isRunning());
  EXPECT_TRUE(soon([&] { return !reports.empty() || failed.count() > 0; }));
  ASSERT_EQ(reports.size(), 1u) << "the older question has no answer";
  EXPECT_EQ(reports.front().at("problems").at(0).at("line"), 1);
  EXPECT_FALSE(check.isRunning());
  lab.cut();
  ASSERT_TRUE(remote.isLost());
  check.ask("title = 'x'");
  ASSERT_TRUE(soon([&] { return failed.count() == 1; }));
  EXPECT_EQ(failed[0][0].toString(),
            QStringLiteral("The costs are unknown: there is no link to lab, so nothing was asked; "
                           "try again when it is back"));
  qunsetenv("VITRINE_PROGRAM");
}

// All that pages compute goes this way. These runs have no weights: it is said where they would be.
TEST_F(LinkedWindow, ModelsAreLoadedOnTheMachineThatHasTheirWeights) {
  ModelService* models = remote.workbench.models();
  ASSERT_NE(models, nullptr);
  ModelChoice model{.run = lab.runs.front()};
  QString sentence;
  ModelService::Listener listener;
  listener.onError = [&sentence](const ModelError& error) { sentence = error.sentence; };
  QObject context;
  models->load(model, &context, std::move(listener));
  EXPECT_TRUE(soon([&] { return !sentence.isEmpty(); }));
  EXPECT_TRUE(sentence.contains(QString::fromStdString(lab.path("lab.files"))))
      << sentence.toStdString();
}

TEST_F(LinkedWindow, AnExperimentThatIsNoneIsRefusedByTheMachineThatHasTheQueue) {
  EnqueueProcess enqueue;
  enqueue.setLink(&remote.link);
  QSignalSpy failed(&enqueue, &EnqueueProcess::failed);
  enqueue.start("title = ", "x", remote.workbench.store().file(), jobs::QueueEnd::Back);
  EXPECT_TRUE(enqueue.isRunning());
  ASSERT_TRUE(soon([&] { return failed.count() == 1; }));
  EXPECT_FALSE(enqueue.isRunning());
  lab.cut();
  ASSERT_TRUE(remote.isLost());
  enqueue.start("title = 'x'", "x", remote.workbench.store().file(), jobs::QueueEnd::Back);
  ASSERT_TRUE(soon([&] { return failed.count() == 2; }));
  EXPECT_TRUE(failed[1][0].toString().contains(QStringLiteral("Check the queue")));
}

TEST_F(LinkedWindow, DemoAndTourAreAskedOfTheMachineThatHasTheQueue) {
  qputenv("VITRINE_PROGRAM", "/bin/false");  // that of this machine
  lab.cut();
  ASSERT_TRUE(remote.isLost());
  remote.window->showPage(QStringLiteral("start"));
  auto* start = qobject_cast<StartPage*>(remote.window->currentPage());
  ASSERT_NE(start, nullptr);
  const auto labels = start->findChildren<QLabel*>();
  EXPECT_TRUE(std::any_of(labels.begin(), labels.end(), [&](const QLabel* label) {
    return label->text().startsWith(remote.link.url());
  })) << "the database there, not its copy";
  const QString noLink = QStringLiteral("no link to lab");
  start->demo().click();
  EXPECT_TRUE(soon([&] {
    return named<QLabel>(*start, "State of the demo")->text().contains(noLink);
  })) << named<QLabel>(*start, "State of the demo")->text().toStdString();
  only<TourOffer>(*start).button().click();
  EXPECT_TRUE(soon([&] { return only<TourOffer>(*start).state().contains(noLink); }))
      << only<TourOffer>(*start).state().toStdString();
  qunsetenv("VITRINE_PROGRAM");
}

}  // namespace
}  // namespace vitrine::ui
