// Shows the chosen artifact, and stays where the user looks while new ones come in.
#include "ui/artifacts/artifacts_page.h"

#include <QCheckBox>
#include <QGridLayout>
#include <QHeaderView>
#include <QLabel>
#include <QPushButton>
#include <QSplitter>
#include <QToolButton>
#include <QTreeWidget>
#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "core/artifact/cue_decisions.h"
#include "core/artifact/map_image.h"
#include "core/artifact/predictions.h"
#include "ui/artifacts/meta_line.h"
#include "ui/figures/figure_view.h"
#include "ui/kit/empty_page.h"
#include "ui/kit/fit_area.h"
#include "ui/kit/menus.h"
#include "ui/kit/series/run_series.h"
#include "ui/kit/small_widgets.h"
#include "ui/kit/value_text.h"
#include "ui/workbench/analyses/analysis_menu.h"
#include "ui/workbench/drawn_runs.h"

namespace vitrine::ui {

namespace {

constexpr int kReloadMs = 400;  // at most so often while a run writes
constexpr std::size_t kMostRuns = 4;

}  // namespace

ArtifactsPage::ArtifactsPage(Workbench& workbench, QWidget* parent)
    : ReadingPage(parent),
      workbench_(workbench),
      lists_(workbench.store().file()),
      figures_(workbench.store().file()),
      loading_({&lists_, &figures_}, kReloadMs),
      stack_(new PageStack(this)) {
  setMinimumSize(240, 140);
  splitter_ = new QSplitter(stack_->content());
  columnIn(stack_->content(), {})->addWidget(splitter_);
  splitter_->setChildrenCollapsible(false);
  splitter_->addWidget(makeList());
  splitter_->addWidget(makeViewer());
  splitter_->setStretchFactor(1, 1);
  splitter_->setSizes({px(190), px(700)});
  connect(&stack_->empty(), &EmptyPage::actionRequested, this, [this] {
    if (!analyses_->sentence().isEmpty() || canCompute(workbench_, rowsOf_)) {
      analyses_->press(stack_->empty());
    } else {
      workbench_.showPage(QStringLiteral("configure"));
    }
  });
  connect(&stack_->empty(), &EmptyPage::cancelRequested, this, &ArtifactsPage::cancelReading);

  connect(&loading_, &LoadingState::again, this, &ArtifactsPage::reload);
  connect(&workbench_.watcher(), &store::RunWatcher::dataChanged, this,
          [this] { changed(loading_); });
  connect(&workbench_.selection(), &Selection::runsChanged, this, [this] { changed(); });
  connect(&workbench_.selection(), &Selection::stepChanged, this, [this] {
    const std::int64_t step = workbench_.selection().step();
    if (step == (step_ ? *step_ : -1)) return;
    step_ = step < 0 ? std::nullopt : std::optional(step);
    if (isVisible() && rowsOf_ == runs()) fillSteps();
  });
  connect(&workbench_.selection(), &Selection::focusChanged, this, [this] {
    const Selection& selection = workbench_.selection();
    style_.layer = selection.layer();
    style_.head = selection.head();
    applyStyle();
  });
  connect(&workbench_, &Workbench::themeChanged, this, [this] { applyStyle(); });

  addHeadKeys(
      *this, [this](int by) { moveImage(by); }, [this](int by) { moveLayer(by); },
      [this](int by) { moveHead(by); });
  const auto offerCancel = [this](bool isOffered) {
    cancel_->setVisible(isOffered);
    stack_->empty().setCancelShown(isOffered);
  };
  connect(&loading_, &LoadingState::waiting, this, &ArtifactsPage::showWaiting);
  connect(&loading_, &LoadingState::cancellable, this, [offerCancel] { offerCancel(true); });
  connect(&loading_, &LoadingState::done, this, [offerCancel] { offerCancel(false); });
  for (Background* one : {&lists_, &figures_}) {
    connect(one, &Background::failed, this, [this](const QString& sentence) {
      showEmpty(tr("The artifacts cannot be read: %1").arg(sentence), false);
    });
  }
  connectComputing();
}

ArtifactsPage::~ArtifactsPage() = default;

std::vector<std::int64_t> ArtifactsPage::runs() const {
  return drawnRuns(workbench_.selection(), kMostRuns);
}

QString ArtifactsPage::runName(std::int64_t run) const { return runNameOf(workbench_, run); }

void ArtifactsPage::showChoice() {
  chooseDefault();
  fillTree();
  fillSteps();
}

void ArtifactsPage::fillSteps() {
  std::set<std::int64_t> steps;
  for (const auto& [run, rows] : rows_) {
    for (const store::ArtifactRow& row : rows) {
      if (row.analysis == chosen_.analysis && row.name == chosen_.name) steps.insert(row.step);
    }
  }
  stepBar_->setSteps({steps.begin(), steps.end()}, step_.value_or(-1));
  showFigures();
}

std::int64_t ArtifactsPage::shownStep() const { return stepBar_->shown(); }

const store::ArtifactRow* ArtifactsPage::rowOf(std::int64_t run) const {
  const auto rows = rows_.find(run);
  if (rows == rows_.end()) return nullptr;
  const store::ArtifactRow* found = nullptr;
  for (const store::ArtifactRow& row : rows->second) {
    if (row.analysis != chosen_.analysis || row.name != chosen_.name || row.step > shownStep())
      continue;
    if (found == nullptr || row.step > found->step ||
        (row.step == found->step && row.id > found->id))
      found = &row;
  }
  return found;
}

const store::ArtifactRow* ArtifactsPage::firstRow() const {
  for (const Shown& one : shown_) {
    if (const store::ArtifactRow* row = rowOf(one.run)) return row;
  }
  return nullptr;
}

void ArtifactsPage::showFigures() {
  std::vector<std::int64_t> before;
  for (const Shown& one : shown_) before.push_back(one.run);
  if (rowsOf_ != before) {
    for (FigureView* view : views_) {
      grid_->removeWidget(view);
      view->hide();
      view->deleteLater();
    }
    views_.clear();
    shown_.clear();
    for (const std::int64_t run : rowsOf_) {
      auto* view = withName(new FigureView(this), tr("Artifact of %1").arg(runName(run)));
      connect(view, &FigureView::clicked, this,
              [this, run](const FigureTarget& target) { onClicked(run, target); });
      connect(view, &FigureView::steered, this, [this, view](int right, int down) {
        if (view->figure() != nullptr) moveCell(*view->figure(), right, down);
      });
      connect(view, &FigureView::entered, this, [this, run] {
        if (style_.cell) openImages(run, Images::OfCell);
      });
      view->addActions(figureActions_);
      view->setContextMenuPolicy(Qt::ActionsContextMenu);
      view->setMinimumHeight(px(220));
      views_.push_back(view);
      shown_.emplace_back().run = run;
    }
    arrangeViews();
  }
  for (std::size_t i = 0; i < shown_.size(); ++i) {
    const store::ArtifactRow* row = rowOf(shown_[i].run);
    const std::int64_t wanted = row == nullptr ? 0 : row->id;
    if (std::exchange(shown_[i].wanted, wanted) != wanted) shown_[i].isCancelled = false;
    if (row != nullptr || shown_[i].content.id == 0) continue;
    shown_[i].content = {};
    shown_[i].content.id = 0;
    views_[i]->setFigure(nullptr);
  }
  for (std::size_t i = 0; i < shown_.size(); ++i) {
    if (shown_[i].wanted != 0) continue;
    views_[i]->setEmptyText(tr("%1 has no \u201c%2\u201d up to step %3.")
                                .arg(runName(shown_[i].run), name(), count(shownStep())));
  }
  readFigures();
  applyStyle();
  showMeta();
}

void ArtifactsPage::arrangeViews() {
  const auto views = static_cast<int>(views_.size());
  const int most = width() < px(560) ? 1 : 2;
  const int columns = std::max(1, std::min(views, most));
  const int rows = (views + columns - 1) / columns;
  for (int i = 0; i < views; ++i) {
    grid_->addWidget(views_[static_cast<std::size_t>(i)], i / columns, i % columns);
    views_[static_cast<std::size_t>(i)]->show();
  }
  for (int column = 0; column < std::max(grid_->columnCount(), columns); ++column)
    grid_->setColumnStretch(column, column < columns ? 1 : 0);
  for (int row = 0; row < std::max(grid_->rowCount(), rows); ++row)
    grid_->setRowStretch(row, row < rows ? 1 : 0);
}

void ArtifactsPage::resizeEvent(QResizeEvent* event) {
  Page::resizeEvent(event);
  const bool isNarrow = width() < px(460);
  splitter_->setOrientation(isNarrow ? Qt::Vertical : Qt::Horizontal);
  arrangeViews();
}

std::int64_t ArtifactsPage::pixelsOf(const store::ArtifactRow& row) const {
  if (row.kind != artifact_kind::kAttention) return 0;
  const auto rows = rows_.find(row.runId);
  if (rows == rows_.end()) return 0;
  for (const store::ArtifactRow& other : rows->second) {
    if (other.analysis == row.analysis && other.step == row.step && isImageOf(other.name, row.name))
      return other.id;
  }
  return 0;
}

Figure* ArtifactsPage::firstFigure() const {
  for (const FigureView* view : views_) {
    if (view->figure() != nullptr) return view->figure();
  }
  return nullptr;
}

void ArtifactsPage::applyStyle() {
  style_.theme = currentTheme();
  style_.scale = sameScale_->isChecked() ? FigureStyle::Scale::Shared : FigureStyle::Scale::PerMap;
  style_.attention = wholeMatrix_->isChecked() ? FigureStyle::AttentionView::Matrix
                                               : FigureStyle::AttentionView::PatchMap;
  std::optional<std::array<double, 2>> range;
  for (std::size_t i = 0; i < views_.size(); ++i) {
    Figure* figure = views_[i]->figure();
    if (figure == nullptr) continue;
    FigureStyle style = style_;
    style.range.reset();
    style.run = seriesOf(shown_[i].run);
    style.picture = shown_[i].content.picture;
    if (views_.size() > 1) {
      const store::ArtifactRow* row = rowOf(shown_[i].run);
      style.title = runName(shown_[i].run);
      if (row != nullptr && row->step != shownStep())
        style.title += tr(", step ") + count(row->step);
    }
    figure->setStyle(style);
    views_[i]->setSteered(isConfusion() && figure->cellCount()[0] > 0);
    if (const auto one = figure->valueRange()) {
      range = range ? std::array{std::min((*range)[0], (*one)[0]), std::max((*range)[1], (*one)[1])}
                    : *one;
    }
  }
  for (FigureView* view : views_) {
    Figure* figure = view->figure();
    if (figure != nullptr && views_.size() > 1 && sameScale_->isChecked()) {
      FigureStyle style = figure->style();
      style.range = range;
      figure->setStyle(style);
    }
    view->refresh();
  }
  showOpen();
  const Figure* first = firstFigure();
  sayIn(*note_, first == nullptr ? QString() : first->note());
  const bool isAttention = first != nullptr && first->layerCount() > 0 && !first->note().isEmpty();
  wholeMatrix_->setVisible(isAttention);
  sameScale_->setVisible(isAttention || (first != nullptr && first->valueRange() &&
                                         (views_.size() > 1 || first->imageCount() > 0)));
}

// Where the artifact is an instrument: images behind its numbers, maps over their image.
void ArtifactsPage::showOpen() {
  struct Instrument {
    const char* kind;
    QString page, text, tip;
  };
  const Instrument instruments[] = {
      {artifact_kind::kSpectrum, QStringLiteral("spectra"), tr("Open in Spectra"),
       tr("Rank at any share, and how it changes with the step")},
      {artifact_kind::kAttention, QStringLiteral("attention"), tr("Open in Attention"),
       tr("One head large over its image, with its label and prediction")},
      {artifact_kind::kReliability, QStringLiteral("calibration"), tr("Open in Calibration"),
       tr("The images of each bin, and the misclassified images")},
      {artifact_kind::kPredictions, QStringLiteral("calibration"), tr("Open in Calibration"),
       tr("Reliability at any number of bins and any temperature")},
      {artifact_kind::kCueDecisions, QStringLiteral("calibration"), tr("Open in Calibration"),
       tr("Which cue decides, category by category, for several runs in one picture")},
      {artifact_kind::kMatrix, QStringLiteral("calibration"), tr("Open in Calibration"),
       tr("The images of a cell: click it, or choose it with the arrow keys and press Enter")}};
  const store::ArtifactRow* row = firstRow();
  const auto found =
      std::find_if(std::begin(instruments), std::end(instruments), [&](const Instrument& one) {
        return row != nullptr && row->kind == one.kind &&
               (row->kind != artifact_kind::kMatrix || row->name == "confusion");
      });
  open_->setVisible(found != std::end(instruments));
  misclassified_->setVisible(found != std::end(instruments) &&
                             found->page == QLatin1String("calibration"));
  if (found == std::end(instruments)) return;
  open_->setText(found->text);
  open_->setToolTip(found->tip);
  open_->setProperty("page", found->page);
}

void ArtifactsPage::showMeta() {
  const QSignalBlocker quiet(follow_);
  follow_->setChecked(!step_);
  QStringList lines;
  for (const Shown& one : shown_) {
    const std::int64_t run = one.run;
    const store::ArtifactRow* row = rowOf(run);
    if (row == nullptr) continue;
    const QString line = metaLine(*row);
    lines << (shown_.size() > 1 ? runName(run) + QStringLiteral(": ") + line : line);
  }
  const std::size_t selected = workbench_.selection().drawn().size();
  if (selected > kMostRuns)
    lines << tr("%1 of %2 selected runs are drawn.").arg(kMostRuns).arg(selected);
  meta_->setText(lines.join(QLatin1Char('\n')));
}

void ArtifactsPage::showArtifact(const QString& analysis, const QString& name, std::int64_t step) {
  chosen_ = {analysis.toStdString(), name.toStdString()};
  isAsked_ = true;
  step_ = step < 0 ? std::nullopt : std::optional(step);
  asked_ = chosen_;
  if (!isStale_ && !lists_.isBusy() && rowsOf_ == runs()) {
    takeRows(rowsOf_, rows_, QString());  // as they were read
  } else {
    reload();
  }
}

void ArtifactsPage::waitUntilIdle() {
  loading_.forgetLater();
  reload();
  lists_.waitUntilIdle();
  figures_.waitUntilIdle();
  layOutNow();
}

void ArtifactsPage::focusOn(int image, int layer, int head) {
  style_.image = image;
  style_.layer = layer;
  style_.head = head;
  // The place of an image in a grid is not the number of a sample.
  workbench_.selection().setFocus(workbench_.selection().image(), layer, head);
  applyStyle();
  Q_EMIT viewChanged();
}

void ArtifactsPage::moveImage(int by) {
  const Figure* figure = firstFigure();
  if (figure != nullptr && figure->imageCount() > 0) {
    focusOn(std::clamp(style_.image + by, 0, figure->imageCount() - 1), style_.layer, style_.head);
    return;
  }
  // One artifact per image: the neighbour of the same kind under the same analysis.
  QTreeWidgetItem* item = tree_->currentItem();
  if (item == nullptr || item->parent() == nullptr) return;
  const QTreeWidgetItem* group = item->parent();
  for (int next = group->indexOfChild(item) + by; next >= 0 && next < group->childCount();
       next += by) {
    if (group->child(next)->toolTip(0) != item->toolTip(0)) continue;
    tree_->setCurrentItem(group->child(next));
    return;
  }
}

void ArtifactsPage::moveLayer(int by) {
  const Figure* figure = firstFigure();
  if (figure == nullptr || figure->layerCount() == 0) return;
  focusOn(style_.image, std::clamp(style_.layer + by, 0, figure->layerCount() - 1), style_.head);
}

void ArtifactsPage::moveHead(int by) {
  const Figure* figure = firstFigure();
  if (figure == nullptr || figure->headCount() == 0) return;
  focusOn(style_.image, style_.layer, std::clamp(style_.head + by, 0, figure->headCount() - 1));
}

bool ArtifactsPage::isConfusion() const { return chosen_.name == "confusion"; }

void ArtifactsPage::moveCell(const Figure& matrix, int right, int down) {
  const std::array<int, 2> sides = matrix.cellCount();
  std::array<int, 2> cell{0, 0};
  if (style_.cell) {
    cell = {std::clamp((*style_.cell)[0] + down, 0, sides[0] - 1),
            std::clamp((*style_.cell)[1] + right, 0, sides[1] - 1)};
  }
  style_.cell = cell;
  applyStyle();
}

void ArtifactsPage::openImages(std::int64_t run, Images which) {
  workbench_.selection().look(run);
  Json view{{"bin", -1}, {"cell", {-1, -1}}, {"all_errors", which == Images::Misclassified}};
  if (which == Images::OfCell) view["cell"] = *style_.cell;
  // The split that the matrix counts, where it says which.
  if (const store::ArtifactRow* row = rowOf(run)) {
    for (const char* key : {"split", "weights"})
      if (row->meta.contains(key)) view[key] = row->meta[key];
  }
  workbench_.showView(QStringLiteral("calibration"), view);
}

void ArtifactsPage::openInstrument() {
  const store::ArtifactRow* row = firstRow();
  if (row == nullptr) return;
  Json view = Json::object();
  const auto take = [&](const char* key, const char* from) {
    if (const Json& found = stateMember(row->meta, from); !found.is_null()) view[key] = found;
  };
  take("split", "split");
  take("weights", "weights");
  if (row->kind == artifact_kind::kAttention) {
    view["analysis"] = row->analysis;
    take("matrix", "attention");
    take("image", "image");
  }
  if (row->kind == artifact_kind::kCueDecisions) view["cues"] = true;
  workbench_.showView(open_->property("page").toString(), view);
}

void ArtifactsPage::onClicked(std::int64_t run, const FigureTarget& target) {
  if (target.cell && isConfusion()) {
    style_.cell = target.cell;
    applyStyle();
    return openImages(run, Images::OfCell);
  }
  if (target.queryAt) style_.queryAt = target.queryAt;
  focusOn(target.image >= 0 ? target.image : style_.image,
          target.layer >= 0 ? target.layer : style_.layer,
          target.head >= 0 ? target.head : style_.head);
}

QString ArtifactsPage::howToRead() const {
  return tr(
      "Results of the analyses of a run, by analysis and name. The slider chooses the step, and "
      "Follow stays at the newest. Up to four selected runs are shown side by side. Compare "
      "colours between them only while Same scale is on.\n\n"
      "A spectrum shows how fast the singular values of each head's attention fall. Few large ones "
      "mean that the head reads the same few directions for every query. A reliability diagram "
      "compares accuracy with confidence; the gap is hatched, and bars below the diagonal are "
      "overconfident. Attention shows where a head reads, not why the model decides. A cell of a "
      "confusion matrix opens its images on Calibration.");
}

}  // namespace vitrine::ui
