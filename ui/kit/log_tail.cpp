#include "ui/kit/log_tail.h"

#include <QFile>
#include <QFileInfo>
#include <QRegularExpression>
#include <QScrollBar>

#include "ui/kit/theme.h"

namespace vitrine::ui {

LogTail::LogTail(QWidget* parent) : QPlainTextEdit(parent) {
  setReadOnly(true);
  setAccessibleName(tr("Log of the run"));
  setProperty("role", "mono");
  setMaximumBlockCount(1000);
  setLineWrapMode(QPlainTextEdit::NoWrap);
  setFrameShape(QFrame::NoFrame);
  setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
  document()->setDocumentMargin(0);
  useMonoFont(*this);
  timer_.setInterval(500);
  connect(&timer_, &QTimer::timeout, this, [this] {
    if (isVisible()) readMore();
  });
  timer_.start();
}

void LogTail::setFile(const QString& path) {
  if (path == path_) return;
  path_ = path;
  position_ = 0;
  clear();
  setPlaceholderText(path.isEmpty() ? tr("The log appears here when the run starts.") : QString());
  readMore();
}

void LogTail::setFollowing(bool isFollowing) {
  isFollowing_ = isFollowing;
  if (isFollowing_) verticalScrollBar()->setValue(verticalScrollBar()->maximum());
}

void LogTail::resizeEvent(QResizeEvent* event) {
  QPlainTextEdit::resizeEvent(event);
  setFollowing(isFollowing_);
}

void LogTail::showEvent(QShowEvent* event) {
  QPlainTextEdit::showEvent(event);
  // Qt brings the text cursor into view, which stands at the end of the last line.
  horizontalScrollBar()->setValue(0);
  setFollowing(isFollowing_);
}

void LogTail::readMore() {
  if (path_.isEmpty()) return;
  QFile file(path_);
  // Opening a pipe or a device would wait for its other end.
  if (!QFileInfo(path_).isFile() || !file.open(QIODevice::ReadOnly)) {
    if (document()->isEmpty()) setPlaceholderText(tr("There is no log at %1.").arg(path_));
    return;
  }
  if (!placeholderText().isEmpty()) setPlaceholderText(QString());
  if (file.size() < position_) {  // written again
    position_ = 0;
    clear();
  }
  if (file.size() == position_) return;
  const bool isCut = file.size() - position_ > kMostBytes;
  if (isCut) position_ = file.size() - kMostBytes;
  file.seek(position_);
  QByteArray bytes = file.read(kMostBytes);
  // Whole lines only: the rest comes with the next look.
  const qsizetype end = bytes.lastIndexOf('\n');
  if (end < 0 && bytes.size() < kMostBytes) return;
  if (end >= 0) bytes.truncate(end + 1);
  position_ += bytes.size();
  if (isCut) bytes.remove(0, bytes.indexOf('\n') + 1);
  if (bytes.endsWith('\n')) bytes.chop(1);
  const int before = verticalScrollBar()->value();
  // "2026-11-21T11:40:02.123Z step 20" as "11:40:02 step 20".
  static const QRegularExpression kTime(
      QStringLiteral("^\\d{4}-\\d\\d-\\d\\dT(\\d\\d:\\d\\d:\\d\\d)(?:\\.\\d+)?Z "),
      QRegularExpression::MultilineOption);
  appendPlainText(QString::fromUtf8(bytes).replace(kTime, QStringLiteral("\\1 ")));
  horizontalScrollBar()->setValue(0);
  verticalScrollBar()->setValue(isFollowing_ ? verticalScrollBar()->maximum() : before);
}

}  // namespace vitrine::ui
