// The built program, as its users and its packagers see it.
#include <gtest/gtest.h>

#include <QDir>
#include <QFile>
#include <QImage>
#include <QProcess>
#include <QTemporaryDir>
#include <vector>

#include "tests/ui/support/sample_database.h"
#include "tests/ui/support/test_files.h"

namespace vitrine::ui {
namespace {

const char* const kStudio = VITRINE_BINARY_DIR "/bin/vitrine-studio";

struct Outcome {
  int code = -1;
  QString out, error;
};

Outcome run(const QString& program, const QStringList& arguments) {
  QProcess process;
  process.start(program, arguments);
  Outcome outcome;
  if (!process.waitForFinished(60'000)) return outcome;
  outcome.code = process.exitCode();
  outcome.out = QString::fromUtf8(process.readAllStandardOutput());
  outcome.error = QString::fromUtf8(process.readAllStandardError());
  return outcome;
}

TEST(Studio, LinksNeitherLibTorchNorQtFive) {
  const Outcome libraries = run(QStringLiteral("ldd"), {QString::fromLatin1(kStudio)});
  ASSERT_EQ(libraries.code, 0) << libraries.error.toStdString();
  ASSERT_TRUE(libraries.out.contains(QLatin1String("libQt6Widgets")));
  for (const char* unwanted :
       {"libtorch", "libc10", "Qt5", "libcuda", "libopencv", "libvitrine_engine"}) {
    EXPECT_FALSE(libraries.out.contains(QLatin1String(unwanted))) << unwanted;
  }
}

TEST(Studio, DrawsAPageAtSizeAndScale) {
  QTemporaryDir folder;
  const QString database = folder.filePath(QStringLiteral("experiments.sqlite"));
  {
    store::RunStore store(database.toStdString());
    fillSampleDatabase(store, {0, 200});
  }
  const QString picture = folder.filePath(QStringLiteral("monitor.png"));
  const Outcome drawn = run(QString::fromLatin1(kStudio),
                            {"--db", database, "--page", "monitor", "--run", "7,8", "--screenshot",
                             picture, "--size", "800x600", "--scale", "2", "--theme", "light"});
  ASSERT_EQ(drawn.code, 0) << drawn.error.toStdString();
  EXPECT_EQ(drawn.error.toStdString(), "");
  EXPECT_EQ(QImage(picture).size(), QSize(1600, 1200));
}

TEST(Studio, DrawsTheWholeWindowOfAnEmptyDatabase) {
  QTemporaryDir folder;
  const QString picture = folder.filePath(QStringLiteral("window.png"));
  const Outcome drawn =
      run(QString::fromLatin1(kStudio), {"--db", folder.filePath(QStringLiteral("new.sqlite")),
                                         "--screenshot", picture, "--size", "1366x768"});
  ASSERT_EQ(drawn.code, 0) << drawn.error.toStdString();
  EXPECT_EQ(QImage(picture).size(), QSize(1366, 768));
}

TEST(Studio, ShowsTheArtifactThatIsAskedForInTheWholeWindowToo) {
  QTemporaryDir folder;
  const QString database = folder.filePath(QStringLiteral("experiments.sqlite"));
  {
    store::RunStore store(database.toStdString());
    fillSampleDatabase(store, {.points = 200, .hasArtifacts = true});
  }
  const QString picture = folder.filePath(QStringLiteral("window.png"));
  const auto middleWith = [&](const char* artifact) {
    const Outcome drawn =
        run(QString::fromLatin1(kStudio),
            {"--db", database, "--page", "artifacts", "--artifact", artifact, "--run", "7",
             "--screenshot", picture, "--window", "--size", "1400x900"});
    EXPECT_EQ(drawn.code, 0) << drawn.error.toStdString();
    return QImage(picture).copy(500, 250, 400, 400);  // of the page alone
  };
  const QImage spectrum = middleWith("attention_rank/spectrum");
  ASSERT_EQ(spectrum.size(), QSize(400, 400));
  EXPECT_NE(spectrum, middleWith("attention_map/image 0 pixels"));
}

TEST(Studio, DrawsAPictureAtTheStoredZoom) {
  QTemporaryDir folder;
  QDir(folder.path()).mkpath(QStringLiteral("config/vitrine"));
  const QByteArray before = qgetenv("XDG_CONFIG_HOME");
  qputenv("XDG_CONFIG_HOME", folder.filePath(QStringLiteral("config")).toLocal8Bit());
  std::vector<QImage> pictures;
  for (const char* zoom : {"1", "1.8", "1.8"}) {
    makeFile(folder.filePath(QStringLiteral("config/vitrine/studio.ini")),
             QByteArray("[window]\nzoom=") + zoom + "\n");
    const QString picture = folder.filePath(QStringLiteral("queue.png"));
    const Outcome drawn = run(QString::fromLatin1(kStudio),
                              {"--db", folder.filePath(QStringLiteral("new.sqlite")), "--page",
                               "artifacts", "--screenshot", picture, "--size", "500x400"});
    ASSERT_EQ(drawn.code, 0) << drawn.error.toStdString();
    pictures.emplace_back(picture);
  }
  qputenv("XDG_CONFIG_HOME", before);
  EXPECT_NE(pictures[0], pictures[1]);
  EXPECT_EQ(pictures[1], pictures[2]);
}

TEST(Studio, SaysInOneSentenceWhatIsWrong) {
  QTemporaryDir folder;
  const QString database = folder.filePath(QStringLiteral("new.sqlite"));
  const QString picture = folder.filePath(QStringLiteral("x.png"));
  const Outcome noRun = run(QString::fromLatin1(kStudio), {"--db", database, "--page", "monitor",
                                                           "--run", "99", "--screenshot", picture});
  EXPECT_EQ(noRun.code, 3);
  EXPECT_TRUE(noRun.error.contains(QLatin1String("no run 99"))) << noRun.error.toStdString();
  EXPECT_EQ(noRun.error.count(QLatin1Char('\n')), 1);
  EXPECT_EQ(run(QString::fromLatin1(kStudio),
                {"--db", database, "--page", "nothing", "--screenshot", picture})
                .code,
            3);
  EXPECT_EQ(run(QString::fromLatin1(kStudio),
                {"--db", database, "--size", "large", "--screenshot", picture})
                .code,
            2);
  EXPECT_EQ(run(QString::fromLatin1(kStudio), {"--theme", "pink", "--screenshot", picture}).code,
            2);
  const QString html =
      makeFile(folder.filePath(QStringLiteral("report.html")), "<html><body>7</body></html>");
  EXPECT_EQ(run(QString::fromLatin1(kStudio), {"--print", html, "--out", picture}).code, 2);
  EXPECT_FALSE(QFile::exists(picture)) << "a PDF with the name of a picture";
}

/// Without a display, whatever the tests have.
Outcome runWithoutDisplay(const QStringList& arguments, const QString& platform = {}) {
  QStringList words{"-u", "DISPLAY", "-u", "WAYLAND_DISPLAY", "-u", "QT_QPA_PLATFORM"};
  if (!platform.isEmpty()) words << "QT_QPA_PLATFORM=" + platform;
  return run(QStringLiteral("env"), words + QStringList{QString::fromLatin1(kStudio)} + arguments);
}

TEST(Studio, TellsItsOptionsAndItsVersionWithoutADisplay) {
  for (const char* platform : {"", "xcb"}) {
    const Outcome help = runWithoutDisplay({"--help"}, QString::fromLatin1(platform));
    EXPECT_EQ(help.code, 0) << help.error.toStdString();
    EXPECT_TRUE(help.out.contains(QLatin1String("--screenshot"))) << help.out.toStdString();
    const Outcome version = runWithoutDisplay({"--version"}, QString::fromLatin1(platform));
    EXPECT_EQ(version.code, 0) << version.error.toStdString();
    EXPECT_TRUE(version.out.startsWith(QLatin1String("vitrine-studio ")))
        << version.out.toStdString();
  }
}

TEST(Studio, SaysWhatToDoWithoutADisplay) {
  QTemporaryDir folder;
  const QString database = folder.filePath(QStringLiteral("new.sqlite"));
  const Outcome none = runWithoutDisplay({"--db", database});
  EXPECT_EQ(none.code, 4);
  EXPECT_EQ(none.error.count(QLatin1Char('\n')), 1) << none.error.toStdString();
  for (const char* words : {"there is no display", "--screenshot FILE", "ssh -X", "ssh://HOST"})
    EXPECT_TRUE(none.error.contains(QLatin1String(words))) << none.error.toStdString();
  const Outcome drawn =
      runWithoutDisplay({"--db", database, "--screenshot", folder.filePath("window.png")});
  EXPECT_EQ(drawn.code, 0) << drawn.error.toStdString();
}

}  // namespace
}  // namespace vitrine::ui
