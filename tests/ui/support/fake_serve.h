// What stands in for `vitrine serve`: see fake_serve.py.
#pragma once

#include <QByteArray>
#include <QList>
#include <QTemporaryDir>
#include <vector>

#include "core/base/read_json.h"
#include "tests/ui/support/program_script.h"

namespace vitrine::ui {

/// While it lives, jobs::headlessProgram() is a program that answers as a Python text says.
class FakeServe {
 public:
  /// \param answers  a Python text: a function for each operation
  /// \param description  what `describe` prints
  explicit FakeServe(const QByteArray& answers, const QByteArray& description = {})
      : before_(qgetenv("VITRINE_PROGRAM")) {
    const QString described = makeFile(path(QStringLiteral("description.json")), description);
    becomeProgram(folder_,
                  "[ \"$1\" = describe ] && exec cat '" + described.toLocal8Bit() +
                      "'\nexec python3 '" VITRINE_SOURCE_DIR "/tests/ui/support/fake_serve.py' '" +
                      makeFile(path(QStringLiteral("answers.py")), answers).toLocal8Bit() + "'");
  }
  ~FakeServe() {
    before_.isEmpty() ? qunsetenv("VITRINE_PROGRAM") : qputenv("VITRINE_PROGRAM", before_);
  }
  FakeServe(const FakeServe&) = delete;
  FakeServe& operator=(const FakeServe&) = delete;

  /// A file beside the program, for what the answers leave behind: `here("log")` in Python.
  [[nodiscard]] QString path(const QString& name) const { return folder_.filePath(name); }
  /// What they left in it so far.
  [[nodiscard]] QByteArray read(const QString& name) const { return bytesOf(path(name)); }
  void touch(const QString& name) const { makeFile(path(name)); }

 private:
  QTemporaryDir folder_;
  QByteArray before_;
};

/// Loads every model, analyses nothing, and keeps what it was asked.
class FakeAnalyses : public FakeServe {
 public:
  FakeAnalyses()
      : FakeServe(R"(
import json
def load(request):
    return {"model": request.get("checkpoint") or "m"}
def analyse(request):
    del request["is_cancelled"]
    open(here("asked"), "a").write(json.dumps(request) + "\n")
    return {"artifacts": 2}
)") {}
  /// The requests to analyse so far; "model" of one is the step of its checkpoint.
  [[nodiscard]] std::vector<Json> asked() const {
    std::vector<Json> requests;
    QList<QByteArray> lines = read(QStringLiteral("asked")).split('\n');
    lines.removeLast();  // empty, or not yet written to its end
    for (const QByteArray& line : lines) requests.push_back(readJson(line.toStdString()));
    return requests;
  }
};

}  // namespace vitrine::ui
