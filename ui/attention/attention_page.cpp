// Choices of the Attention page, and the actions that change them.
#include "ui/attention/attention_page.h"

#include <QAction>
#include <QCheckBox>
#include <QComboBox>
#include <QDragEnterEvent>
#include <QFileInfo>
#include <QLabel>
#include <QMimeData>
#include <QSpinBox>
#include <algorithm>
#include <iterator>
#include <utility>

#include "ui/attention/attention_figures.h"
#include "ui/attention/attention_panel.h"
#include "ui/attention/attention_view.h"
#include "ui/figures/side_by_side.h"
#include "ui/kit/empty_page.h"
#include "ui/kit/fit_area.h"
#include "ui/workbench/export_dialog.h"
#include "ui/workbench/model_service.h"

namespace vitrine::ui {

namespace {

constexpr int kAttentionPauseMs = 400;  // at most so often while a run writes
constexpr std::size_t kMostTwins = 2;

QString droppedImage(const QMimeData& data) {
  const QList<QUrl> urls = data.urls();
  if (urls.size() != 1 || !urls.front().isLocalFile()) return {};
  const QString file = urls.front().toLocalFile();
  static const QStringList endings{QStringLiteral("png"),  QStringLiteral("jpg"),
                                   QStringLiteral("jpeg"), QStringLiteral("bmp"),
                                   QStringLiteral("webp"), QStringLiteral("gif"),
                                   QStringLiteral("tif"),  QStringLiteral("tiff")};
  return endings.contains(QFileInfo(file).suffix().toLower()) ? file : QString();
}

}  // namespace

AttentionPage::AttentionPage(Workbench& workbench, QWidget* parent)
    : ReadingPage(parent),
      workbench_(workbench),
      lists_(workbench.store().file()),
      images_(workbench.store().file()),
      loading_({&lists_, &images_}, kAttentionPauseMs),
      stack_(new PageStack(this)) {
  setMinimumSize(240, 140);
  setAcceptDrops(true);
  const auto tool = [this](const QString& text, const QString& tip, auto use) {
    auto* action = new QAction(text, this);
    action->setToolTip(tip);
    connect(action, &QAction::triggered, this, use);
    tools_ << action;
  };
  tool(tr("Compute attention"),
       tr("Compute the attention of the image and step that are not stored"),
       &AttentionPage::computeMissing);
  tool(tr("Export figure\u2026"),
       tr("As PNG, SVG or PDF, or its numbers as CSV; dropped on the window, the file opens this "
          "view again"),
       &AttentionPage::exportShown);
  QWidget* content = stack_->content();
  auto* column = columnIn(content, {px(12), px(12), px(12), px(12)}, px(8));
  column->addWidget(makeControls());
  auto* panels = new QWidget(content);
  panelRow_ = rowIn(panels, {}, px(12));
  column->addWidget(panels, 1);
  column->addWidget(makeBottom());
  connect(&stack_->empty(), &EmptyPage::actionRequested, this,
          [this] { workbench_.showPage(QStringLiteral("configure")); });
  makeKeys();

  connect(&loading_, &LoadingState::again, this, &AttentionPage::reload);
  connect(&loading_, &LoadingState::waiting, this, &AttentionPage::showWaiting);
  for (Background* one : {&lists_, &images_}) {
    connect(one, &Background::failed, this, [this](const QString& sentence) {
      stack_->showEmpty(tr("The attention cannot be read: %1").arg(sentence));
    });
  }
  connect(&workbench_.watcher(), &store::RunWatcher::dataChanged, this,
          [this] { changed(loading_); });
  const Selection& selection = workbench_.selection();
  connect(&selection, &Selection::runsChanged, this, [this] { changed(); });
  connect(&selection, &Selection::stepChanged, this, [this] {
    const std::int64_t step = workbench_.selection().step();
    if (step == atStep_.value_or(-1)) return;
    atStep_ = step < 0 ? std::nullopt : std::optional(step);
    if (isVisible() && !panels_.empty()) fillSteps();
  });
  connect(&selection, &Selection::focusChanged, this, [this] {
    // An image that was chosen on another page.
    const int image = workbench_.selection().image();
    if (std::exchange(focusedImage_, image) != image && own_.isNull()) setSample(image);
    AttentionChoice next = choice_;
    next.layer = workbench_.selection().layer();
    next.head = workbench_.selection().head();
    if (next == choice_) return;
    choice_ = next;
    showChoice();
  });
  connect(&workbench_, &Workbench::catalogReady, this, [this] {
    if (!runsOf_.empty()) showContent();
  });
  connect(&workbench_, &Workbench::themeChanged, this, [this] { showChoice(); });
}

AttentionPage::~AttentionPage() = default;

std::vector<std::int64_t> AttentionPage::runs() const {
  return drawnRuns(workbench_.selection(), kMostTwins);
}

QString AttentionPage::runName(std::int64_t run) const { return runNameOf(workbench_, run); }

void AttentionPage::arrangePanels() {
  for (std::size_t i = 0; i < panels_.size(); ++i) {
    cancelComputing(i);
    panelRow_->removeWidget(panels_[i]);
    panels_[i]->hide();
    panels_[i]->deleteLater();
  }
  panels_.clear();
  shown_.clear();
  for (const std::int64_t run : runsOf_) {
    auto* panel = new AttentionPanel(run, this);
    panel->setNarrow(runsOf_.size() > 1);
    panel->headView().setFollowing(follow_->isChecked());
    connect(panel, &AttentionPanel::chosen, this, &AttentionPage::onTarget);
    connect(panel, &AttentionPanel::queryMoved, this, &AttentionPage::moveQuery);
    connect(panel, &AttentionPanel::headMoved, this, [this](int down, int right) {
      moveLayer(down);
      moveHead(right);
    });
    connect(panel, &AttentionPanel::tokenRequested, this, &AttentionPage::askToken);
    const std::size_t index = panels_.size();
    connect(panel, &AttentionPanel::actionRequested, this, &AttentionPage::computeMissing);
    connect(panel, &AttentionPanel::cancelRequested, this,
            [this, index] { cancelComputing(index); });
    panels_.push_back(panel);
    shown_.emplace_back();
    panelRow_->addWidget(panel, 1);
  }
  if (panels_.size() == 2) {
    panels_[0]->standBeside(*panels_[1]);
    panels_[1]->standBeside(*panels_[0]);
  }
  // Places of the tab order: after the controls, before the steps.
  QWidget* before = follow_;
  for (AttentionPanel* panel : panels_) {
    for (QWidget* view :
         {static_cast<QWidget*>(&panel->headsView()), static_cast<QWidget*>(&panel->headView())}) {
      setTabOrder(before, view);
      before = view;
    }
  }
}

AttentionPanel* AttentionPage::leading() const {
  const auto found = std::find_if(panels_.begin(), panels_.end(),
                                  [](const AttentionPanel* panel) { return panel->hasImage(); });
  return found == panels_.end() ? nullptr : *found;
}

void AttentionPage::showChoice() {
  std::optional<ValueRange> common;
  for (AttentionPanel* panel : panels_) {
    if (!panel->hasImage()) continue;
    panel->scene().setChoice(choice_);
    const ValueRange own = panel->scene().wholeRange();
    common = common ? joined(*common, own) : own;
  }
  for (AttentionPanel* panel : panels_) {
    if (!panel->hasImage()) continue;
    panel->scene().setCommonRange(panels_.size() > 1 ? common : std::nullopt);
    panel->refresh();
  }
  dressControls();
}

void AttentionPage::choose(const AttentionChoice& choice) {
  if (choice == choice_) return;
  const bool isOtherQuery = choice.query != choice_.query;
  choice_ = choice;
  if (const AttentionPanel* panel = leading(); panel != nullptr && isOtherQuery) {
    const AttentionScene& scene = panel->scene();
    const AttentionLayer& layer =
        scene.layerAt(std::clamp(choice_.layer, 0, std::max(scene.layers() - 1, 0)));
    if (layer.window >= 0) followLayer(layer.number, layer.window);
  }
  tellSelection();
  showChoice();
  for (std::size_t i = 0; isOtherQuery && i < panels_.size(); ++i) {
    if (shown_[i].ticket == 0 && isWindowMissing(i)) compute(i);
  }
  for (std::size_t i = 0; always_->isChecked() && i < panels_.size(); ++i) {
    if (shown_[i].ticket == 0 && isQueryMissing(i)) compute(i);
  }
  Q_EMIT viewChanged();
}

void AttentionPage::followLayer(int number, int window) {
  const AttentionPanel* panel = leading();
  if (panel == nullptr) return;
  const AttentionScene& scene = panel->scene();
  int same = -1, asked = -1;
  for (int i = 0; i < scene.layers(); ++i) {
    const AttentionLayer& layer = scene.layerAt(i);
    if (layer.number != number) continue;
    if (layer.window == window) same = i;
    if (queryOf(layer, choice_.query) && (asked < 0 || layer.window == window)) asked = i;
  }
  const int next = asked >= 0 ? asked : same;
  if (next < 0 || next == choice_.layer) return;
  choice_.layer = next;
  tellSelection();
}

void AttentionPage::tellSelection() {
  Selection& selection = workbench_.selection();
  selection.setFocus(selection.image(), choice_.layer, choice_.head);
}

void AttentionPage::onTarget(const FigureTarget& target) {
  AttentionChoice next = choice_;
  if (target.layer >= 0) next.layer = target.layer;
  if (target.head >= 0) next.head = target.head;
  if (target.token) {
    next.query.kind = *target.token < 0 ? QueryChoice::Kind::Mean : QueryChoice::Kind::Token;
    next.query.token = std::max(*target.token, 0);
  } else if (target.queryAt) {
    next.query.kind = QueryChoice::Kind::Patch;
    next.query.place = *target.queryAt;
    // The middle of the patch: the same choice wherever in it the pointer is.
    if (const AttentionPanel* panel = leading(); panel != nullptr) {
      const AttentionLayer& layer = panel->scene().layerAt(panel->scene().layer());
      const std::optional<int> query = queryOf(layer, next.query);
      if (query && panels_.size() == 1) next.query = choiceOf(layer, *query);
    }
  }
  choose(next);
}

void AttentionPage::askToken(int token) { onTarget({.token = token}); }

void AttentionPage::moveQuery(int down, int right) {
  const AttentionPanel* panel = leading();
  if (panel == nullptr) return;
  const AttentionLayer& layer = panel->scene().layerAt(panel->scene().layer());
  const TokenGrid& grid = layer.queryGrid;
  const std::optional<int> asked = panel->scene().query(panel->scene().layer());
  // From word to word; past the last one, or up and down, onto the grid.
  const std::vector<int> words = grid.offGrid();
  const auto word = asked ? std::find(words.begin(), words.end(), *asked) : words.end();
  if (word != words.end() && right != 0) {
    const auto next = std::distance(words.begin(), word) + right;
    if (next >= 0 && next < std::ssize(words)) {
      askToken(static_cast<int>(next));
      return;
    }
  }
  if (grid.rows == 0) return;
  TokenGrid::Cell cell;
  if (asked && *asked != kMeanQuery) cell = grid.cells[static_cast<std::size_t>(*asked)];
  if (cell.isOnGrid()) {
    cell = {std::clamp(cell.row + down, 0, grid.rows - 1),
            std::clamp(cell.column + right, 0, grid.columns - 1)};
  } else {
    cell = {grid.rows / 2, grid.columns / 2};  // from a word onto the grid
  }
  const int query = grid.at(cell.row, cell.column);
  if (query < 0) return;
  AttentionChoice next = choice_;
  next.query = choiceOf(layer, query);
  choose(next);
}

void AttentionPage::moveLayer(int by) {
  const AttentionPanel* panel = leading();
  if (panel == nullptr || by == 0) return;
  int most = 0;
  for (const AttentionPanel* one : panels_) most = std::max(most, one->scene().layers());
  AttentionChoice next = choice_;
  next.layer = std::clamp(std::min(choice_.layer, most - 1) + by, 0, most - 1);
  choose(next);
}

void AttentionPage::moveHead(int by) {
  if (leading() == nullptr || by == 0) return;
  int most = 1;
  for (const AttentionPanel* one : panels_) {
    if (one->hasImage()) most = std::max(most, one->scene().image()->mostHeads());
  }
  AttentionChoice next = choice_;
  next.head = std::clamp(std::min(choice_.head, most - 1) + by, 0, most - 1);
  choose(next);
}

void AttentionPage::moveSample(int by) {
  if (!own_.isNull()) return;
  if (const auto at = std::find(listed_.begin(), listed_.end(), sample_); at != listed_.end()) {
    const auto place = std::distance(listed_.begin(), at) + by;
    if (place >= 0 && place < std::ssize(listed_))
      setSample(listed_[static_cast<std::size_t>(place)]);
    return;
  }
  std::vector<std::int64_t> known;
  for (const std::int64_t run : runsOf_) {
    for (const AttentionEntry& entry : entriesOf(run)) {
      if (entry.series == seriesOf(run) && entry.sample >= 0 && !entry.isOfWeights &&
          entry.isIn(shownSplit()))
        known.push_back(entry.sample);
    }
  }
  std::sort(known.begin(), known.end());
  if (always_->isChecked() || known.empty()) {
    if (sample_ + by >= 0) setSample(sample_ + by);
    return;
  }
  const auto after = by > 0 ? std::upper_bound(known.begin(), known.end(), sample_)
                            : std::lower_bound(known.begin(), known.end(), sample_);
  if (by > 0 && after != known.end()) setSample(*after);
  if (by < 0 && after != known.begin()) setSample(*std::prev(after));
}

void AttentionPage::setSample(std::int64_t sample) {
  if (sample == sample_) return;
  sample_ = sample;
  isSampleChosen_ = true;
  fillSamples();
  Q_EMIT viewChanged();
}

std::unique_ptr<Figure> AttentionPage::figure() {
  std::vector<std::pair<QString, std::unique_ptr<Figure>>> figures;
  for (std::size_t i = 0; i < panels_.size(); ++i) {
    // Attention that is still being read is not the one of the titles.
    if (!panels_[i]->hasImage() || shown_[i].present != shown_[i].wanted || isPartShown(i))
      continue;
    AttentionPanel::Pictures pictures = panels_[i]->pictures();
    const QString name = runName(panels_[i]->run());
    figures.emplace_back(tr("%1, all heads").arg(name), std::move(pictures.heads));
    figures.emplace_back(tr("%1, chosen head").arg(name), std::move(pictures.head));
  }
  if (figures.empty()) return nullptr;
  FigureStyle style{.theme = currentTheme()};
  return std::make_unique<SideBySide>(std::move(figures), 2, style);
}

void AttentionPage::exportShown() {
  exportFigureOf(this, workbench_, *this, QStringLiteral("attention"));
}

void AttentionPage::waitUntilIdle() {
  loading_.forgetLater();
  reload();
  lists_.waitUntilIdle();
  images_.waitUntilIdle();
  layOutNow();
}

void AttentionPage::dragEnterEvent(QDragEnterEvent* event) {
  if (!droppedImage(*event->mimeData()).isEmpty() && !panels_.empty())
    event->acceptProposedAction();
}

void AttentionPage::dropEvent(QDropEvent* event) {
  const QString file = droppedImage(*event->mimeData());
  if (file.isEmpty()) return;
  event->acceptProposedAction();
  // A figure that was exported opens its chart, as anywhere else on the window.
  if (readRecipe(file)) {
    workbench_.openFile(file);
    return;
  }
  openOwnImage(file);
}

}  // namespace vitrine::ui
