// Shell scripts in the place of programs that the window starts.
#pragma once

#include <gtest/gtest.h>

#include <QFile>
#include <QTemporaryDir>

namespace vitrine::ui {

inline void writeScript(const QString& file, const QByteArray& script) {
  QFile program(file);
  ASSERT_TRUE(program.open(QIODevice::WriteOnly | QIODevice::Truncate));
  program.write("#!/bin/sh\n" + script + '\n');
  program.close();
  program.setPermissions(QFile::ReadOwner | QFile::WriteOwner | QFile::ExeOwner);
}

/// The script is the headless program from here on.
inline void becomeProgram(const QTemporaryDir& folder, const QByteArray& script) {
  const QString file = folder.filePath(QStringLiteral("vitrine"));
  writeScript(file, script);
  qputenv("VITRINE_PROGRAM", file.toLocal8Bit());
}

}  // namespace vitrine::ui
