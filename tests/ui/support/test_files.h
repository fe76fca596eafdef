// Files of a test.
#pragma once

#include <gtest/gtest.h>

#include <QCoreApplication>
#include <QDropEvent>
#include <QFile>
#include <QMimeData>
#include <QUrl>

namespace vitrine::ui {

/// "" where it is not there.
inline QByteArray bytesOf(const QString& name) {
  QFile file(name);
  return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
}

/// \returns  its name
inline QString makeFile(const QString& name, const QByteArray& bytes = {}) {
  QFile file(name);
  EXPECT_TRUE(file.open(QIODevice::WriteOnly)) << name.toStdString();
  file.write(bytes);
  return name;
}

/// As the mouse does: first the part below it is asked, then those around it.
inline void dropFile(const QString& name, QObject& below) {
  QMimeData data;
  data.setUrls({QUrl::fromLocalFile(name)});
  QDragEnterEvent enter(QPoint(5, 5), Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
  QCoreApplication::sendEvent(&below, &enter);
  EXPECT_TRUE(enter.isAccepted());
  QDropEvent drop(QPointF(5, 5), Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
  QCoreApplication::sendEvent(&below, &drop);
}

}  // namespace vitrine::ui
