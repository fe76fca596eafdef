#include "ui/kit/log_tail.h"

#include <sys/stat.h>

#include <QScrollBar>
#include <QTemporaryDir>

#include "tests/ui/support/qt_test.h"

namespace vitrine::ui {
namespace {

TEST(LogTail, ShowsTheEndAndFollowsWholeLines) {
  QTemporaryDir folder;
  QFile file(folder.filePath("run.log"));
  ASSERT_TRUE(file.open(QIODevice::WriteOnly));
  for (int i = 0; i < 20'000; ++i) file.write(QByteArray("line ") + QByteArray::number(i) + '\n');
  file.flush();
  LogTail tail;
  tail.setFile(file.fileName());
  EXPECT_TRUE(tail.toPlainText().endsWith(QLatin1String("line 19999")));
  EXPECT_LE(tail.blockCount(), 1000);
  file.write("half a li");
  file.flush();
  tail.readMore();
  EXPECT_TRUE(tail.toPlainText().endsWith(QLatin1String("line 19999")));
  file.write("ne\n");
  file.flush();
  tail.readMore();
  EXPECT_TRUE(tail.toPlainText().endsWith(QLatin1String("half a line")));
}

// Opening one would wait for its other end: for ever.
TEST(LogTail, DoesNotOpenWhatIsNotAFile) {
  QTemporaryDir folder;
  const QString pipe = folder.filePath("run.log");
  ASSERT_EQ(::mkfifo(pipe.toLocal8Bit().constData(), 0600), 0);
  LogTail tail;
  tail.setFile(pipe);
  EXPECT_TRUE(tail.toPlainText().isEmpty());
  EXPECT_TRUE(tail.placeholderText().startsWith(QLatin1String("There is no log at")));
}

TEST(LogTail, ShowsTheStartOfEveryLineAtTheFirstSight) {
  QTemporaryDir folder;
  QFile file(folder.filePath("run.log"));
  ASSERT_TRUE(file.open(QIODevice::WriteOnly));
  for (int i = 0; i < 50; ++i)
    file.write("2026-11-21T11:40:02.123Z step 20 " + QByteArray(200, 'x') + '\n');
  file.close();
  LogTail tail;
  tail.resize(240, 120);
  tail.setFile(file.fileName());
  tail.show();
  QCoreApplication::processEvents();
  ASSERT_GT(tail.horizontalScrollBar()->maximum(), 0);
  EXPECT_EQ(tail.horizontalScrollBar()->value(), 0);
  EXPECT_EQ(tail.verticalScrollBar()->value(), tail.verticalScrollBar()->maximum());
  EXPECT_TRUE(tail.toPlainText().startsWith(QLatin1String("11:40:02 step 20 x")));
}

}  // namespace
}  // namespace vitrine::ui
