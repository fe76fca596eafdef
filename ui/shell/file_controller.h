// Opens or imports a file that the user drops on the window, by its kind.
#pragma once

#include <QObject>
#include <QString>
#include <QStringList>
#include <functional>
#include <thread>
#include <vector>

#include "core/store/exchange/file_probe.h"
#include "ui/workbench/headless.h"
#include "ui/workbench/page.h"

namespace vitrine::ui {

class FileController : public QObject {
  Q_OBJECT
 public:
  /// A kind of file that a room of the window knows beyond those of core/store/file_probe.h:
  /// returns false where the file is not one.
  using Opener = std::function<bool(const QString& file)>;

  explicit FileController(Workbench& workbench, QObject* parent = nullptr);
  ~FileController() override;

  /// Asked before a file is called unknown, in the order in which they came.
  void addOpener(Opener opener) { openers_.push_back(std::move(opener)); }

  /// Databases open in a window of their own, runs of exports and of TensorBoard are imported.
  /// Experiment files and folders of images open in Configure, weights are listed. What cannot be
  /// done is said, with what can.
  void open(const QString& file);
  /// Opens a database in a window of its own, once a process of its own has looked at it. One on
  /// another machine (ssh://lab/data/lab.sqlite) opens at once.
  void openDatabase(const QString& file);

  /// Writes runs to `file`, whose ending chooses the form, with `vitrine export`.
  /// \param checkpoints  that go along: "none", "best" or "all"
  void exportRuns(const std::vector<std::int64_t>& runs, const QString& file,
                  const QString& checkpoints);

  void cancelImport();

 Q_SIGNALS:
  /// An import began or ended; `file` is empty when it ended.
  void importing(const QString& file);
  void weightsOpened(const QString& file);

 private:
  void openFolder(const QString& folder);
  void openWindow(const QString& place, const QString& what);
  void import(const QString& file);
  void imported(const Json& report);
  void endImport();
  void exported(const Json& report);
  void databaseProbed(const QString& file, const store::ProbedFile& probed);

  Workbench& workbench_;
  std::vector<Opener> openers_;
  HeadlessQuestion import_, exporting_;
  QString importName_, exportFile_;
  QStringList imports_;  ///< that wait
  std::jthread probing_;
  bool isProbing_ = false;
};

}  // namespace vitrine::ui
