#include "tests/ui/golden/golden_image.h"

#include <QDir>
#include <QFile>
#include <cstdlib>

namespace vitrine::ui {

namespace {

bool isFar(QRgb a, QRgb b, int channel) {
  return std::abs(qRed(a) - qRed(b)) > channel || std::abs(qGreen(a) - qGreen(b)) > channel ||
         std::abs(qBlue(a) - qBlue(b)) > channel;
}

// Few bytes: what is drawn has few colours, and letters need not be exact to the last bit.
bool writeSmall(const QImage& picture, const QString& file) {
  return picture.convertToFormat(QImage::Format_RGB32).save(file, "PNG", 0);
}

}  // namespace

GoldenDifference differenceOf(const QImage& golden, const QImage& actual,
                              const GoldenTolerance& tolerance) {
  GoldenDifference found{.total = std::int64_t{golden.width()} * golden.height(),
                         .picture = QImage(golden.size(), QImage::Format_RGB32)};
  for (int y = 0; y < golden.height(); ++y) {
    for (int x = 0; x < golden.width(); ++x) {
      const QRgb wanted = golden.pixel(x, y);
      const int faint = 170 + qGray(wanted) / 3;
      found.picture.setPixel(x, y, qRgb(faint, faint, faint));
      if (!isFar(wanted, actual.pixel(x, y), tolerance.channel)) continue;
      ++found.pixels;
      found.where = found.where.united(QRect(x, y, 1, 1));
      found.picture.setPixel(x, y, qRgb(220, 0, 0));
    }
  }
  return found;
}

::testing::AssertionResult isGolden(const QImage& actual, const QString& name,
                                    const GoldenTolerance& tolerance) {
  const QString kept = QStringLiteral(VITRINE_SOURCE_DIR "/tests/ui/golden/%1.png").arg(name);
  if (qEnvironmentVariableIntValue("VITRINE_REMAKE_GOLDEN") == 1) {
    if (!writeSmall(actual, kept))
      return ::testing::AssertionFailure() << kept.toStdString() << " cannot be written";
    return ::testing::AssertionSuccess();
  }
  const QDir folder(QStringLiteral(VITRINE_BINARY_DIR "/tests/golden_failures"));
  folder.mkpath(QStringLiteral("."));
  const QString seen = folder.filePath(name + QStringLiteral(".actual.png"));
  const QString differs = folder.filePath(name + QStringLiteral(".difference.png"));
  QFile::remove(seen);
  QFile::remove(differs);
  const QImage golden(kept);
  const char* const kRemake =
      "; if it is as it should be, run the test with VITRINE_REMAKE_GOLDEN=1 and look at the new "
      "picture before you commit it";
  if (golden.isNull() || golden.size() != actual.size()) {
    writeSmall(actual, seen);
    return ::testing::AssertionFailure()
           << (golden.isNull() ? "there is no golden picture " : "of another size is ")
           << kept.toStdString() << "; what was drawn is " << seen.toStdString() << kRemake;
  }
  const GoldenDifference difference = differenceOf(golden, actual, tolerance);
  if (difference.isWithin(tolerance)) return ::testing::AssertionSuccess();
  writeSmall(actual, seen);
  writeSmall(difference.picture, differs);
  const QRect& at = difference.where;
  return ::testing::AssertionFailure()
         << difference.pixels << " of " << difference.total << " pixels differ from "
         << kept.toStdString() << ", within " << at.width() << " x " << at.height() << " at ("
         << at.x() << ", " << at.y() << "): drawn is " << seen.toStdString()
         << ", what differs is red in " << differs.toStdString() << kRemake;
}

}  // namespace vitrine::ui
