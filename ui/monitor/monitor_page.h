// Curves of the selected runs, live: cards by metric, pinned ones first, with one cursor.
#pragma once

#include <QElapsedTimer>
#include <QGridLayout>
#include <QLabel>
#include <QLineEdit>
#include <QMenu>
#include <QPushButton>
#include <QScrollArea>
#include <QStackedWidget>
#include <QTimer>
#include <QVBoxLayout>
#include <array>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "ui/kit/background.h"
#include "ui/monitor/alert_service.h"
#include "ui/monitor/curve_cache.h"
#include "ui/monitor/log_panel.h"
#include "ui/monitor/plot_card.h"
#include "ui/monitor/run_strip.h"
#include "ui/workbench/page.h"

namespace vitrine::ui {

class EmptyPage;

class MonitorPage : public Page {
  Q_OBJECT
 public:
  /// Least time between two drawings of new data.
  static constexpr int kRefreshMs = 250;

  explicit MonitorPage(Workbench& workbench, QWidget* parent = nullptr);

  void waitUntilIdle() override;
  QList<QAction*> tools() override;
  [[nodiscard]] Json viewState() const override;
  void setViewState(const Json& state) override;
  /// Of the plot that has the focus, else of all that are on the screen.
  [[nodiscard]] std::unique_ptr<Figure> figure() override;
  [[nodiscard]] QString howToRead() const override;

  /// All that exist, in order: the pinned ones, then those of the open groups.
  [[nodiscard]] const std::vector<PlotCard*>& cards() const { return cards_; }
  [[nodiscard]] PlotCard* card(const std::string& metric) const;
  [[nodiscard]] const PlotSettings& settings() const { return settings_; }
  void setSettings(const PlotSettings& settings);
  /// Names of the pinned metrics, in order; stored for the next start.
  void setMetrics(const std::vector<std::string>& metrics);
  [[nodiscard]] const std::vector<std::string>& metrics() const { return pinned_; }
  void setPinned(const std::string& metric, bool isPinned);
  /// Pins what the cards of the tasks of the selected runs name, now and of other runs later.
  void setUsualMetrics();
  /// Only cards whose name has all of these words; groups with some are open.
  void search(const QString& words);
  /// "train", "analysis / attention rank" ...: all groups with the metrics in them.
  [[nodiscard]] QStringList groups() const;
  void setGroupOpen(const QString& group, bool isOpen);
  void setFollowing(bool isFollowing);
  /// Fits all cards to the data.
  void fitAll();
  /// Shows everything, also points that are still to come.
  void fitAndFollow();
  /// Gives a plot the whole page; "": all plots are seen again.
  void enlarge(const std::string& metric);
  /// Gives a plot a width of its own, in this database from now on.
  void setSize(const std::string& metric, PlotSize size);
  [[nodiscard]] PlotSize size(const std::string& metric) const;
  /// Words at a step of a run's curve, kept in the database.
  void addNote(std::int64_t run, const std::string& metric, std::int64_t step, const QString& text);
  /// Those of the selected runs that are shown; what others add meanwhile stays.
  void removeNotes(const std::string& metric);

 protected:
  void resizeEvent(QResizeEvent* event) override;
  void showEvent(QShowEvent* event) override;
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  friend class Probe;  ///< of tests

  struct Section {
    QString name;
    QToolButton* header = nullptr;  ///< none above the pinned ones
    QWidget* body = nullptr;
    QGridLayout* grid = nullptr;
    std::vector<std::string> metrics;
    std::vector<PlotCard*> cards;
  };

  void makeTools();
  void makeMoreTools();
  PlotCard* makeCard(const std::string& metric);
  /// Sections and cards for what the selected runs have measured.
  void rebuild();
  [[nodiscard]] std::set<std::string> measured() const;
  /// What these runs are shown by, as far as it is known of them.
  [[nodiscard]] store::RunCard cardOfRuns(const std::vector<std::int64_t>& runs) const;
  /// \returns whether other metrics are pinned than before
  bool pinUsual();
  [[nodiscard]] bool isFound(const std::string& metric) const;
  void arrange();
  /// Sizes that were chosen in this database.
  void readSizes();
  /// \param shown  the cards of the section that are seen
  void arrangeSection(Section& section, const std::vector<PlotCard*>& shown, bool isFirst);
  void setLog(PlotCard& card, Qt::Orientation axis, bool isLog);
  void setClipped(PlotCard& card, bool isClipped);
  /// Shows all points in this plot; the others stay where they are.
  void fitCard(PlotCard& card);
  /// As X and Y on a plot do: of the plot under the mouse or with the focus, else of all.
  void switchLog(Qt::Orientation axis);
  void showRuns();
  void showCurrent();
  void giveCurves(PlotCard& card);
  void later();
  void refreshNow();
  void refreshCard(PlotCard& card);
  [[nodiscard]] CurveKey keyOf(std::int64_t run, const PlotCard& card) const;
  /// One curve of a card: of a run, or of the seeds of a variant.
  struct Line {
    QString name;
    std::vector<std::int64_t> runs;  ///< one at least; the first gives the colour
  };
  [[nodiscard]] std::vector<Line> linesOf(const PlotCard& card) const;
  [[nodiscard]] GroupState groupState(const PlotCard& card, const Line& line) const;
  /// The drawn seeds of a line; nullptr before it is made on this axis.
  [[nodiscard]] std::shared_ptr<const GroupedCurve> groupOfLine(const PlotCard& card,
                                                                const Line& line) const;
  /// Groups to aggregate again, now that all their points are there.
  [[nodiscard]] std::vector<GroupRequest> ungrouped(const PlotCard& card) const;
  void takeGroups(MonitorResponse& answer);
  void makeSeedsTool();
  void giveLegend(PlotCard& card);
  /// Cards whose curves are wanted now: those in sight, or all while waitUntilIdle() reads them.
  [[nodiscard]] bool isWanted(const PlotCard& card) const;
  /// Whether nothing newer than the version of now is to be read of a curve.
  [[nodiscard]] bool isUpToDate(const CurveKey& key) const;
  /// Requests missing curves, off the window's thread; those requested already
  /// continues.
  void read();
  /// The same for other runs or another axis: earlier requests are dropped.
  void readAllAgain();
  void take(MonitorResponse& answer);
  /// The settings of the page for a card; another smoothing of long curves only once it is made.
  void applySettings(PlotCard& card);
  /// The curves of a card that are still to be smoothed as the page says.
  [[nodiscard]] std::vector<CurveKey> unsmoothed(const PlotCard& card) const;
  void showRead();
  void applyRanges(PlotCard& card);
  void pruneCache();
  void fillAxisMenu();
  void fillMetricMenu();
  void fillEmpty();
  void showCardMenu(PlotCard& card, const QPoint& place);
  /// At `x`, or at the last step of the run.
  void askNote(PlotCard& card, std::optional<double> x);
  void askAlerts(PlotCard& card);
  void askRemoveNotes(PlotCard& card);
  using NoteChange = std::function<void(std::set<store::CurveNoteRow>& notes)>;
  /// Does `change` to the notes of a run and stores them; `onStored` is called once they are.
  void editNotes(std::int64_t run, const NoteChange& change,
                 const std::function<void()>& onStored = {});
  void notesAnswered(std::int64_t run, const std::string& text, const EditOutcome& outcome);
  void takeNotes(std::map<std::int64_t, NotesOfRun> notes,
                 const std::map<std::int64_t, std::int64_t>& sequences);
  /// What waits for the link to another machine, or what was read last.
  [[nodiscard]] std::vector<store::CurveNoteRow> shownNotes(std::int64_t run) const;
  void giveNotes(PlotCard& card);
  /// Notes that lie in the settings of this machine, where they were once kept, go to the database.
  void moveNotes();
  void saveValues(PlotCard& card);
  void chooseSettings(const PlotSettings& settings);
  void moveCursor(std::optional<double> x, const CurvePlot* under);
  void stepCursor(int direction);
  /// The range that holds the curves of all plots, for those with a linear or a logarithmic axis.
  using Extent = std::optional<std::array<double, 2>>;
  [[nodiscard]] Extent extent(bool isLog) const;
  [[nodiscard]] std::unique_ptr<Figure> figureOf(PlotCard& card) const;
  [[nodiscard]] QString xTitle() const;
  void exportCard(PlotCard& card);

  Workbench& workbench_;
  CurveCache cache_;
  Background reader_;
  bool isReadingAll_ = false;  ///< all cards are wanted
  bool isFitWanted_ = false;   ///< the next reading is shown whole
  bool isFailing_ = false;  ///< the last answer was a failure: not asked again before there is news
  std::int64_t version_ = 1;  ///< of the database, as this page counts: raised by refreshNow()
  struct Names {
    std::vector<std::string> metrics;
    std::int64_t version = 0, changeSequence = 0;  ///< of database and run when they were asked for
  };
  std::map<std::int64_t, Names> names_;        ///< by run
  std::map<std::int64_t, std::string> tasks_;  ///< by run
  std::vector<RunGroup> variants_;             ///< with PlotSettings::band
  std::set<std::int64_t> variantsOf_;          ///< runs that these were read for
  struct Grouped {
    GroupState state;
    std::shared_ptr<const GroupedCurve> curve;
  };
  std::map<std::pair<std::string, std::vector<std::int64_t>>, Grouped> grouped_;  ///< metric, runs
  store::MetricKinds kinds_;
  bool hasDatabase_ = false;  ///< its uuid is there
  Json ranges_;               ///< of a view, for cards that are still to be made
  AlertService& alerts_;      ///< of the workbench: it continues when the page is not there
  PlotSettings settings_;
  bool isFollowing_ = true, isZoomShared_ = true, isSetting_ = false;
  std::vector<PlotCard*> cards_;
  std::vector<Section> sections_;
  std::vector<std::string> pinned_;
  bool isUsual_ = false;  ///< no choice yet: pinned are the plots that the tasks of the runs name
  std::set<std::string> measured_;
  std::vector<std::int64_t> drawn_;  ///< runs that the cards were given last
  std::map<QString, bool> opened_;   ///< groups that the user opened or closed
  QString words_;
  struct Notes {
    NotesOfRun read;
    std::int64_t changeSequence = -1;  ///< of the run when they were asked for
  };
  std::map<std::int64_t, Notes> notes_;  ///< by run
  std::string databaseUuid_;
  std::string focused_;   ///< metric of the card that had the focus last; "" for none
  std::string enlarged_;  ///< metric of the card that has the page to itself; "" for none
  struct OwnAxes {
    std::optional<bool> isLogX, isLogY, isClipped;  ///< otherwise as all plots
  };
  std::map<std::string, OwnAxes> ownAxes_;  ///< by metric
  std::map<std::string, PlotSize> sizes_;   ///< by metric; others are medium
  std::optional<double> cursor_;

  QStackedWidget* stack_;
  EmptyPage* empty_;
  QScrollArea* scroll_;
  QWidget* canvas_;
  QVBoxLayout* column_;
  QLineEdit* search_;
  RunStrip* strip_;
  LogPanel* log_;
  QTimer timer_, catchUp_;  ///< catchUp_: for cards that came into sight
  QElapsedTimer sinceRefresh_, sinceMeasured_;
  QAction *xAction_, *smoothAction_, *seedsAction_, *logYAction_, *logXAction_, *followAction_,
      *fitAction_, *metricsAction_, *clipAction_, *shareAction_, *logAction_, *axesAction_;
  QMenu *metricMenu_, *xMenu_;
  QActionGroup *smoothGroup_ = nullptr, *seedsGroup_ = nullptr;
};

}  // namespace vitrine::ui
