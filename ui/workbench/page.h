// A page of the window: one folder under ui/, and one entry in ui/shell/pages.cpp.
#pragma once

#include <QAction>
#include <QImage>
#include <QList>
#include <QSize>
#include <QString>
#include <QWidget>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/base/json.h"
#include "core/config/catalog.h"
#include "core/store/run_card.h"
#include "core/store/run_store.h"
#include "core/store/run_watcher.h"
#include "ui/workbench/queue_service.h"
#include "ui/workbench/selection.h"

namespace vitrine::ui {

class Figure;
class LoadingState;
class ModelService;
class RemoteLink;
struct EditOutcome;

/// What every page may use. Owned by the main window, which outlives the pages.
class Workbench : public QObject {
  Q_OBJECT
 public:
  using QObject::QObject;
  [[nodiscard]] virtual store::RunReader& store() = 0;
  [[nodiscard]] virtual store::RunWatcher& watcher() = 0;
  [[nodiscard]] virtual Selection& selection() = 0;
  [[nodiscard]] virtual QueueService& queue() = 0;
  /// Schemas, asked from `vitrine describe --json` in the background at first use; empty until
  /// catalogReady.
  [[nodiscard]] virtual const Catalog& catalog() = 0;
  /// Asks for the schemas once more, after catalogFailed or an empty catalog; catalogReady or
  /// catalogFailed answers.
  virtual void askCatalogAgain() = 0;
  /// Why there are no schemas, where the last question failed; else "". For a page that is made
  /// after catalogFailed.
  [[nodiscard]] virtual QString catalogProblem() const { return {}; }
  /// Cards of the tasks: what sums up their runs. Asked for as catalog() is; empty until
  /// catalogReady, and where the schemas cannot be had, which only catalog() tells.
  [[nodiscard]] virtual const store::TaskCards& cards();
  /// Returns when the cards are there, or cannot be had: for pictures.
  virtual void waitForCards() {}
  /// The row of a run as the list shows it; nullptr when unknown.
  [[nodiscard]] virtual const store::RunRow* run(std::int64_t id) = 0;
  /// All runs, by id, as the list shows them.
  [[nodiscard]] virtual const std::map<std::int64_t, store::RunRow>& runs() const = 0;
  /// One sentence in the status bar: what was done.
  virtual void showMessage(const QString& sentence) = 0;
  /// The same with something to do about it, behind a button.
  virtual void offer(const QString& sentence, const QString& /*label*/,
                     const std::function<void()>& /*act*/) {
    showMessage(sentence);
  }
  /// What did not work and what to do about it, in a bar above the pages until the user closes it.
  virtual void showError(const QString& sentence) { showMessage(sentence); }
  /// Does it; an Error that ends it early is shown.
  void attempt(const std::function<void()>& act);
  virtual void showPage(const QString& id) = 0;
  /// Shows a page with such a view, as its setViewState() takes it: what is meant, rather than
  /// where it can be looked for.
  virtual void showView(const QString& id, const Json& view) = 0;
  /// Opens Configure with the text of an experiment file. \param origin  where Save offers to write
  virtual void configure(const std::string& experimentText, const QString& origin) = 0;
  /// Puts runs into the queue, which starts or resumes them when their turn comes.
  virtual void startRuns(const std::vector<std::int64_t>& ids, jobs::QueueEnd end) = 0;
  /// Shows what was just put into the queue, and selects it; nothing of no runs.
  void selectEnqueued(const std::vector<std::int64_t>& runs);
  /// Stores what the user typed about a run, here or on the other machine. \param text  as
  /// EditRow::text \param onOutcome  is called at once, or when the other machine has answered,
  /// unless `context` is gone by then. For what waits, it is called then and when it has arrived
  virtual void edit(std::int64_t run, store::RunField field, const std::string& text,
                    std::int64_t basedOn, QObject* context,
                    const std::function<void(const EditOutcome& outcome)>& onOutcome) = 0;
  /// A text that was typed and is not stored yet; nullptr where none waits.
  [[nodiscard]] virtual const std::string* waiting(std::int64_t /*run*/,
                                                   store::RunField /*field*/) {
    return nullptr;
  }
  /// What a drop of this file on the window does: database, experiment, export, weights, figure ...
  virtual void openFile(const QString& file) = 0;
  /// To the machine that has the database, of which store() is a copy that is only read; nullptr
  /// where the database is here.
  [[nodiscard]] virtual RemoteLink* link() { return nullptr; }
  /// Computes with models that stay in memory; nullptr where nothing can be computed.
  [[nodiscard]] virtual ModelService* models() { return nullptr; }
  /// Whether the list of runs is on the screen: curves need a legend where it is not.
  [[nodiscard]] virtual bool isRunListVisible() const { return false; }

 Q_SIGNALS:
  void catalogReady();
  void catalogFailed(const QString& sentence);
  void themeChanged();
  void runListVisibilityChanged();

 private:
  store::TaskCards cards_;
};

class Page : public QWidget {
  Q_OBJECT
 public:
  using QWidget::QWidget;
  ~Page() override;
  /// Everything the page shows is up to date when this returns: for --screenshot and tests.
  virtual void waitUntilIdle() = 0;
  /// What the page adds to the tool bar, the menu and the palette while it is in front. The page
  /// owns them.
  [[nodiscard]] virtual QList<QAction*> tools() { return {}; }
  /// What of the page is a choice of view, never data: columns, axes, sorting, zoom. An object that
  /// setViewState() takes; null where the page has no choices. Undo and layouts are made of it.
  [[nodiscard]] virtual Json viewState() const { return {}; }
  /// The same for the recipe of figure(): what draws it again in a window of any size.
  [[nodiscard]] virtual Json figureState() const { return viewState(); }
  /// Shows such a state. Unknown keys and missing items are ignored; never throws.
  virtual void setViewState(const Json& state);
  /// The picture that Export takes from the page as it is now; nullptr where there is none.
  [[nodiscard]] virtual std::unique_ptr<Figure> figure();
  /// The experiment that the page edits, as the text of its file; none where it edits none.
  [[nodiscard]] virtual std::optional<std::string> experimentText() const { return {}; }
  /// "How to read this": a few sentences of plain text; empty where the page explains itself.
  [[nodiscard]] virtual QString howToRead() const { return {}; }
  /// Draws the page off screen at a size (logical pixels) and scale.
  [[nodiscard]] virtual QImage snapshot(QSize size, double scale);

 Q_SIGNALS:
  /// The user chose another view: viewState() has changed, and can be taken back.
  void viewChanged();
};

/// A page that reads what it shows: at once while it is in front, else when it is shown next.
class ReadingPage : public Page {
  Q_OBJECT
 public:
  explicit ReadingPage(QWidget* parent) : Page(parent) {}

 protected:
  /// Reads, and takes isStale_ back.
  virtual void reload() = 0;
  /// Something else is to be shown.
  void changed();
  /// The database has something new, as often as `loading` reads while runs write.
  void changed(LoadingState& loading);
  void showEvent(QShowEvent* event) override;

  bool isStale_ = true;
};

struct PageFactory {
  QString id;     ///< "monitor"
  QString title;  ///< "Monitor"
  std::function<Page*(Workbench& workbench, QWidget* parent)> make;
  QString about = {};   ///< what it is good for, one sentence, for the Start page; "": not offered
  bool isWide = false;  ///< the inspector folds away for it in windows of usual widths
  QString group = {};   ///< pages of a group share a tab until one of them is in front
};

}  // namespace vitrine::ui
