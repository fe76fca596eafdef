// Shell scripts in the place of programs that the window starts.
#pragma once

#include <QFile>
#include <QTemporaryDir>

#include "tests/ui/support/test_files.h"

namespace vitrine::ui {

inline void writeScript(const QString& file, const QByteArray& script) {
  QFile::setPermissions(makeFile(file, "#!/bin/sh\n" + script + '\n'),
                        QFile::ReadOwner | QFile::WriteOwner | QFile::ExeOwner);
}

/// The script is the headless program from here on.
inline void becomeProgram(const QTemporaryDir& folder, const QByteArray& script) {
  const QString file = folder.filePath(QStringLiteral("vitrine"));
  writeScript(file, script);
  qputenv("VITRINE_PROGRAM", file.toLocal8Bit());
}

}  // namespace vitrine::ui
