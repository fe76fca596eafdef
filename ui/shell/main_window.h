// The window: runs left, pages in the middle, the inspector right, the queue below.
#pragma once

#include <QDockWidget>
#include <QElapsedTimer>
#include <QFrame>
#include <QMainWindow>
#include <QMenu>
#include <QPointer>
#include <QTimer>
#include <QToolBar>
#include <map>
#include <memory>
#include <set>
#include <vector>

#include "ui/kit/grouped_tabs.h"
#include "ui/kit/small_widgets.h"
#include "ui/kit/theme.h"
#include "ui/runs/runs_panel.h"
#include "ui/shell/error_bar.h"
#include "ui/shell/file_controller.h"
#include "ui/shell/inspector.h"
#include "ui/shell/layouts.h"
#include "ui/shell/live_zoom.h"
#include "ui/shell/machine_facts.h"
#include "ui/shell/view_history.h"
#include "ui/workbench/command_palette.h"
#include "ui/workbench/key_map.h"
#include "ui/workbench/studio_workbench.h"

class QProgressDialog;
class QPushButton;
class QVBoxLayout;

namespace vitrine::ui {

class MainWindow : public QMainWindow {
  Q_OBJECT
 public:
  /// At or below this width the inspector folds to the edge.
  static constexpr int kFoldWidth = 1366;
  /// The same for pages whose forms and tables need the room.
  static constexpr int kFoldWidthOfWidePages = 1599;
  /// Of saveState: another arrangement of docks is not restored into this one.
  static constexpr int kLayoutVersion = 1;

  explicit MainWindow(StudioWorkbench& workbench, QWidget* parent = nullptr);
  ~MainWindow() override;

  /// Brings a page to the front, made at its first showing; false when there is none of that name.
  bool showPage(const QString& id);
  /// nullptr while the table of runs stands in the place of the pages.
  [[nodiscard]] Page* currentPage();
  /// Everything the window shows is up to date when this returns: for pictures and tests.
  void waitUntilIdle();
  [[nodiscard]] KeyMap& keys() { return keys_; }
  void openPalette();
  /// The runs as a table in the place of the pages, or as the list next to them again.
  void showRunTable(bool isTable);
  /// The arrangement that Studio comes with.
  void resetLayout();
  /// How the window stands now: docks, page, and the views of the pages that were shown.
  [[nodiscard]] Layout layoutNow();
  void showLayout(const Layout& layout);
  void setTheme(ThemeKind kind);
  void setZoom(double factor);

 protected:
  void resizeEvent(QResizeEvent* event) override;
  void closeEvent(QCloseEvent* event) override;
  void changeEvent(QEvent* event) override;
  void dragEnterEvent(QDragEnterEvent* event) override;
  void dropEvent(QDropEvent* event) override;
  /// Before the first input that a page gets, its view is that which the user sees.
  bool eventFilter(QObject* watched, QEvent* event) override;
  /// Tab and Shift+Tab: in the order of reading, \see tabStops.
  bool focusNextPrevChild(bool isNext) override;

 private:
  void makeActions();
  void makeDocks();
  void makeToolBar();
  void makeMenus();
  void makePages();
  /// The tool tips of the tabs name the keys of their pages.
  void showPageKeys();
  void showTools();
  void showPrimary();
  void updateActions();
  void updateQueue();
  void updateFile();
  void updateTitle();
  /// The list of runs is in sight, or the table.
  void showRuns();
  /// The arrangement of docks next to the pages.
  [[nodiscard]] QByteArray docksNow() const;
  void foldInspector();
  /// Notes the widths of the docks in sight, as the user or a layout set them, until either does it
  /// again.
  void noteDockWidths();
  /// Gives the docks the noted widths, at the zoom in use.
  void fitDocks();
  /// The page in front has too little room next to the inspector.
  [[nodiscard]] bool isNarrow() const;
  void restoreLayout();
  /// \returns  whether `state` was one
  bool restoreDocks(const QByteArray& state);
  void storeLayout();
  void configureFrom(std::int64_t run);
  void chooseDatabase();
  void askPlace();
  void chooseFile();
  /// Asks for the form and the place of the selected runs outside of the database.
  void chooseExport();
  void showImport(const QString& file);
  void showWeights(const QString& file);
  [[nodiscard]] QString placeNow();  ///< of the database, as it is opened again
  void fillRecent();
  void fillLayouts();
  void nameLayout();
  /// Shows a page that the user asked for, and gives it the focus: its keys work at once.
  void openPage(const QString& id);
  void takePage(int index, Page* page);
  void viewChosen(int index);
  void followSelection();
  void runsChosen();
  [[nodiscard]] Json selectionState() const;
  void showSelection(const Json& state);
  void showView(const ViewHistory::View& view);
  void exportPage();
  /// In a window of a new process: one process cannot open a database again whose log is gone.
  void openAgain();
  /// Opens the chart that an exported figure was drawn from; false where it carries no recipe.
  bool openFigure(const QString& file);
  void showHowToRead();
  void showDocuments();
  void showShortcuts();
  void showAbout();
  [[nodiscard]] std::vector<Command> commands();
  /// \param other  a second key
  QAction* action(const QString& text, const QKeySequence& key, const std::function<void()>& act,
                  const QKeySequence& other = {});

  StudioWorkbench& workbench_;
  KeyMap keys_;
  ViewHistory history_;
  LiveZoom liveZoom_{uiZoom()};
  FileController files_;
  QElapsedTimer sinceView_;  ///< since the user chose a view
  QElapsedTimer sinceSelection_;
  bool isSelectionKnown_ = false;
  bool isShowingView_ = false;  ///< a page is given a state: not a choice of the user
  bool isKeyed_ = false;        ///< the last input was a key, not a button of the mouse
  QPointer<QProgressDialog> importing_;
  RunsPanel* runsPanel_ = nullptr;
  Inspector* inspector_ = nullptr;
  DockHeader* runsHeader_ = nullptr;
  DockHeader* inspectorHeader_ = nullptr;
  QDockWidget* runsDock_ = nullptr;
  QDockWidget* inspectorDock_ = nullptr;
  GroupedTabs* tabs_ = nullptr;
  QFrame* placeBar_ = nullptr;  ///< of the link, or of what is not stored
  ErrorBar* errors_ = nullptr;
  QPushButton* create_ = nullptr;
  std::map<int, Page*> made_;
  std::set<int> outdated_;           ///< pages that may have changed their view by themselves
  std::vector<QAction*> pageShown_;  ///< of the menu, in the order of pages()
  QToolBar* bar_ = nullptr;
  QToolBar* edge_ = nullptr;
  QAction* toolsEnd_ = nullptr;
  QList<QAction*> shownTools_;
  std::vector<std::unique_ptr<QMenu>> commandMenus_;  ///< whose actions the palette lists
  BottomBar* bottom_ = nullptr;
  QLabel* fileLabel_ = nullptr;
  CommandPalette* palette_ = nullptr;
  MachineFacts facts_;
  QTimer factsTimer_;

  QAction *new_ = nullptr, *open_ = nullptr, *quit_ = nullptr, *start_ = nullptr, *trash_ = nullptr,
          *find_ = nullptr, *reload_ = nullptr, *fullScreen_ = nullptr, *zoomIn_ = nullptr,
          *zoomOut_ = nullptr, *zoomReset_ = nullptr, *toggleTheme_ = nullptr, *reset_ = nullptr,
          *paletteAction_ = nullptr, *shortcuts_ = nullptr, *about_ = nullptr, *openFile_ = nullptr,
          *openThere_ = nullptr, *undo_ = nullptr, *redo_ = nullptr, *ownReset_ = nullptr,
          *ownKeep_ = nullptr, *nameLayout_ = nullptr, *export_ = nullptr, *howTo_ = nullptr,
          *documents_ = nullptr, *saveFilter_ = nullptr, *runTable_ = nullptr, *answer_ = nullptr,
          *exportRuns_ = nullptr, *exportTable_ = nullptr, *report_ = nullptr, *space_ = nullptr;
  QMenu *recentMenu_ = nullptr, *layoutMenu_ = nullptr;
  QMenu* toolsMenu_ = nullptr;
  QByteArray defaultState_;
  QByteArray docksBefore_;  ///< the table; "" while it is not shown
  QVBoxLayout* middle_ = nullptr;
  std::map<const QObject*, double> dockWidths_;  ///< noted, at zoom 1
  bool wasNarrow_ = false;
  bool isFolding_ = false;
};

}  // namespace vitrine::ui
