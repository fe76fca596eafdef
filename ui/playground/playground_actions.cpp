// Actions on an image of the Playground, and exports of the page.
#include <QClipboard>
#include <QComboBox>
#include <QGuiApplication>
#include <QListWidget>
#include <QToolButton>
#include <algorithm>

#include "core/base/error.h"
#include "ui/kit/small_widgets.h"
#include "ui/kit/value_text.h"
#include "ui/playground/film_figure.h"
#include "ui/playground/film_strip.h"
#include "ui/playground/image_board.h"
#include "ui/playground/playground_page.h"
#include "ui/playground/sample_figure.h"
#include "ui/workbench/export_dialog.h"
#include "ui/workbench/fact_table.h"
#include "ui/workbench/recipe.h"

namespace vitrine::ui {

namespace {

constexpr int kFirstFrames = 10;  // of an image that was drawn without its steps

Json axisState(const std::optional<GridAxis>& axis) {
  if (!axis) return nullptr;
  return {{"key", axis->key}, {"values", axis->values}};
}

std::optional<GridAxis> axisFrom(const Json& state, const char* key) {
  const Json& found = stateMember(state, key);
  const Json& values = stateMember(found, "values");
  if (!stateMember(found, "key").is_string() || !values.is_array() ||
      values.size() > SampleGrid::kMostCells)
    return std::nullopt;
  GridAxis axis{.key = stateText(found, "key")};
  axis.values.assign(values.begin(), values.end());
  return axis;
}

/// Each run that a state names becomes what `as` says; values of an axis are texts.
template <class As>
void renameRuns(Json& state, const As& as) {
  const auto settings = state.find("settings");
  if (settings != state.end() && settings->is_object() && settings->contains(kRunKey))
    (*settings)[kRunKey] = as((*settings)[kRunKey]);
  for (const char* key : {"rows", "columns"}) {
    const auto axis = state.find(key);
    if (axis == state.end() || stateText(*axis, "key") != kRunKey) continue;
    const auto values = axis->find("values");
    if (values == axis->end() || !values->is_array()) continue;
    for (Json& value : *values) {
      value = as(value);
      if (value.is_number_integer()) value = std::to_string(value.get<std::int64_t>());
    }
  }
}

}  // namespace

void PlaygroundPage::replayAt(const std::array<double, 2>& at) {
  if (worker_.isBusy() || !canReplay()) return;
  const int frames = film_->frameCount() > 1 ? film_->frameCount() : kFirstFrames;
  showError({});
  worker_.replay(shown_, board_->selected(), at, frames);
  showFilm(true);
}

void PlaygroundPage::verify() {
  if (selectedImage() == nullptr || worker_.isBusy()) return;
  showError({});
  worker_.verify(shown_, board_->selected());
}

void PlaygroundPage::keep() {
  const DrawnCell* cell = selectedCell();
  if (cell == nullptr || !cell->isDone() || worker_.isBusy()) return;
  showError({});
  worker_.keep(shown_, board_->selected().cell);
}

void PlaygroundPage::recall(Recall what) {
  const DrawnCell* cell = selectedCell();
  if (cell == nullptr) return;
  const DrawnImage* image = selectedImage();
  const std::uint64_t seed =
      image != nullptr
          ? image->seed
          : cell->settings.seed() + static_cast<std::uint64_t>(board_->selected().image);
  const bool isWhole = what == Recall::All || what == Recall::AllButSeed;
  if (isWhole && cell->settings.model.run != run_) chooseRun(cell->settings.model.run);
  const SampleSettings then = recalled(settings(), cell->settings, seed, what);
  if (isWhole) {
    isSamplerKnown_ = true;
    fillForm(then.sampler);
    // A grid is recalled with its axes: that was the drawing.
    form_->setGrid(what == Recall::All ? shown_->grid : SampleGrid());
  }
  Json values = then.values;
  if (isWhole) {
    values[kCheckpointKey] = then.model.checkpoint;
    values[kWeightsKey] = then.model.use;
    values[kSamplerKey] = then.sampler;
    values["device"] = then.model.device;
  }
  form_->setValues(values);
  showError({});
  warmTimer_.start();
  showCost();
  workbench_.showMessage(what == Recall::All      ? tr("Recalled every setting.")
                         : what == Recall::Seed   ? tr("Recalled the seed %1.").arg(seed)
                         : what == Recall::Prompt ? tr("Recalled the prompt or class.")
                                                  : tr("Recalled every setting but the seed."));
  Q_EMIT viewChanged();
}

void PlaygroundPage::showInfo() {
  if (!recipe_.is_object()) return;
  recipeButton_->setChecked(true);
  facts_->setFocus();
  if (facts_->topLevelItemCount() > 0) facts_->setCurrentItem(facts_->topLevelItem(0));
}

void PlaygroundPage::copyCommand() {
  const DrawnCell* cell = selectedCell();
  if (cell == nullptr) return;
  QGuiApplication::clipboard()->setText(sampleCommand(
      cell->settings, samplerSchema(workbench_.catalog(), cell->settings.sampler),
      workbench_.link() == nullptr ? workbench_.store().file() : std::filesystem::path()));
  workbench_.showMessage(tr("The command is on the clipboard."));
}

std::unique_ptr<Figure> PlaygroundPage::figure() {
  if (isFilmFigure_) return filmFigure();
  if (shown_ == nullptr || (shown_->imageCount() == 0 && shown_->textCount() == 0)) return nullptr;
  return std::make_unique<SampleFigure>(*shown_, FigureStyle{});
}

// The title names what differs in the cell; the seed is that of the image.
std::unique_ptr<Figure> PlaygroundPage::filmFigure() const {
  const DrawnCell* cell = selectedCell();
  if (cell == nullptr || film_->frameCount() == 0) return nullptr;
  ImageWay way = film_->way();
  way.title = filmTitle_->text();
  Json values = cell->settings.values;
  if (const DrawnImage* image = selectedImage(); image != nullptr) values["seed"] = image->seed;
  way.about = drawnFrom(*shown_, values);
  return std::make_unique<FilmFigure>(std::move(way), FigureStyle{});
}

// The recipe of the file says which figure it is.
void PlaygroundPage::exportShown(bool isFilm) {
  isFilmFigure_ = isFilm;
  exportFigureOf(this, workbench_, *this, QStringLiteral("playground"));
  isFilmFigure_ = false;
}

void PlaygroundPage::showWay() {
  if (!way_ || worker_.isBusy()) return;
  const Json way = *std::exchange(way_, std::nullopt);
  constexpr int kMostPlace = 100'000;
  board_->select({stateInteger(way, "cell", 0, kMostPlace, 0),
                  stateInteger(way, "image", 0, kMostPlace, 0)});
  const double row = stateNumber(way, "patch_row", -1);
  const double column = stateNumber(way, "patch_column", -1);
  if (row >= 0 && row < 1 && column >= 0 && column < 1) replayAt({row, column});
}

Json PlaygroundPage::wayState() const {
  Json state{{"cell", board_->selected().cell}, {"image", board_->selected().image}};
  const DrawnImage* image = selectedImage();
  if (image == nullptr || !image->replay || image->replay->attention.empty()) return state;
  // As shares of the image, from its middle: as a click gives them.
  const AttentionFrame& frame = image->replay->attention.front();
  state["patch_row"] = (image->replay->patch[0] + 0.5) / std::max(1, frame.rows);
  state["patch_column"] = (image->replay->patch[1] + 0.5) / std::max(1, frame.columns);
  return state;
}

Json PlaygroundPage::viewState() const {
  if (run_ == 0) return pending_ ? *pending_ : Json::object();
  const SampleGrid grid = form_->grid();
  return {{"settings", toJson(settings())},
          {"rows", axisState(grid.rows)},
          {"columns", axisState(grid.columns)},
          {"drawn", shown_ != nullptr},
          {"way", wayState()},
          {"figure", isFilmFigure_ ? "steps" : "images"},
          {"step", film_->step()},
          {"layer", film_->layer()},
          {"head", film_->head()},
          {"zoom", board_->zoom()},
          {"recipe", recipeButton_->isChecked()}};
}

Json PlaygroundPage::figureState() const {
  Json state = viewState();
  renameRuns(state, [this](const Json& run) -> Json {
    std::int64_t id = 0;
    if (run.is_string()) id = QString::fromStdString(run.get<std::string>()).toLongLong();
    if (run.is_number_integer()) id = run.get<std::int64_t>();
    const store::RunRow* row = workbench_.run(id);
    return row != nullptr ? Json(row->uuid) : run;
  });
  return state;
}

void PlaygroundPage::setViewState(const Json& state) {
  if (!state.is_object()) return;
  pending_ = state;
  isFilmFigure_ = stateText(state, "figure") == "steps";
  // A figure names runs by uuid, a view of this database by number.
  renameRuns(*pending_, [this](const Json& run) -> Json {
    const std::int64_t id = run.is_string() ? runOfUuid(workbench_, run.get<std::string>()) : 0;
    return id != 0 ? Json(id) : run;
  });
  if (!isStale_ && !lists_.isBusy() && run_ != 0) {
    applyState();
  } else {
    reload();
  }
}

// The image itself, without the others of its batch; Draw is the user's.
void PlaygroundPage::takeRecipe(std::int64_t run, const Json& recipe) {
  SampleSettings wanted;
  try {
    wanted = settingsAgain(recipe, run);
  } catch (const Error& error) {
    return showError(QString::fromUtf8(error.what()));
  }
  wanted.values["seed"] = recipe.at("seed");
  wanted.values["count"] = 1;
  Json state = viewState();
  state["settings"] = toJson(wanted);
  state["rows"] = state["columns"] = nullptr;
  state["drawn"] = false;
  setViewState(state);
}

// Shows what was drawn with these settings, or draws it: a figure opens as it was.
void PlaygroundPage::applyState() {
  if (!pending_) return;
  const Json state = *std::exchange(pending_, std::nullopt);
  if (const Json& found = stateMember(state, "settings"); found.is_object()) {
    const SampleSettings wanted = settingsFromJson(found);
    showError({});
    if (wanted.model.run == 0) {
      showError(tr("The run that drew this is not in this database."));
    } else if (drawable(wanted.model.run) == nullptr) {
      const store::RunRow* row = workbench_.run(wanted.model.run);
      showError(tr("Run %1 cannot draw here: %2.")
                    .arg(wanted.model.run)
                    .arg(row == nullptr ? tr("it is not in this database")
                         : row->latestCheckpoint < 0
                             ? tr("it has no checkpoint")
                             : tr("no sampler here can draw with its model")));
    } else {
      chooseRun(wanted.model.run);
      if (!wanted.sampler.empty()) {
        isSamplerKnown_ = true;
        fillForm(wanted.sampler);
      }
      Json values = wanted.values;
      values[kCheckpointKey] = wanted.model.checkpoint;
      values[kWeightsKey] = wanted.model.use;
      values["device"] = wanted.model.device;
      form_->setGrid({axisFrom(state, "rows"), axisFrom(state, "columns")});
      form_->setValues(values);
      const std::string& step = wanted.model.checkpoint;
      const bool isStep = !step.empty() && std::all_of(step.begin(), step.end(), [](char each) {
        return each >= '0' && each <= '9';
      });
      if (isStep && settings().model.checkpoint != step)
        showError(tr("The checkpoint of step %1 is not stored any more; the newest one is chosen.")
                      .arg(QString::fromStdString(step)));
    }
  }
  const int zoom = zoomBox_->findData(stateInteger(state, "zoom", -1, 16, 0));
  zoomBox_->setCurrentIndex(std::max(0, zoom));
  board_->setZoom(zoomBox_->currentData().toInt());
  recipeButton_->setChecked(stateFlag(state, "recipe", recipeButton_->isChecked()));
  if (stateFlag(state, "drawn") && !worker_.isBusy()) {
    const SampleSettings base = settings();
    const SampleGrid grid = form_->grid();
    const auto known = std::find_if(history_.rbegin(), history_.rend(), [&](const auto& one) {
      return one->state != Drawing::State::Kept && one->base == base && one->grid == grid;
    });
    if (known != history_.rend()) {
      showDrawing(*known);
      showHistory();
    } else if (form_->error().isEmpty() && worker_.canCompute()) {
      startDrawing();
    }
  }
  if (const Json& way = stateMember(state, "way"); way.is_object()) way_ = way;
  showWay();
  constexpr int kMostIndex = 100'000;
  film_->setChannel(stateInteger(state, "layer", -1, kMostIndex, -1),
                    stateInteger(state, "head", -1, kMostIndex, -1));
  film_->setStep(stateInteger(state, "step", -1, kMostIndex, film_->step()));
  warmTimer_.start();
  showCost();
}

QString PlaygroundPage::howToRead() const {
  return tr(
      "A model in memory draws with these settings. A button with three dots makes a setting the "
      "rows or columns of a grid, with values as 1, 2, 4 or 0..9. The film shows the clean image "
      "that the network predicts at each step. It begins with a guess that is almost the mean of "
      "the data and ends with the image.\n\n"
      "Click a patch of the image or film to draw the image again and see where that patch reads "
      "at each step. All steps share one colour scale, whose end is printed. Attention shows where "
      "a head reads, not why the model decides.\n\n"
      "Verify makes an image again from its recipe and compares the pixels: the same recipe gives "
      "the same pixels on one machine. Keys on an image: A recalls all settings, S the seed, P the "
      "prompt, R all but the seed. I shows the recipe, V verifies, G sends it to the gallery.");
}

}  // namespace vitrine::ui
