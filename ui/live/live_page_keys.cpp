// Keys, view state and words of the Live page.
#include <QKeyEvent>
#include <algorithm>
#include <cmath>

#include "ui/kit/theme.h"
#include "ui/kit/value_text.h"
#include "ui/live/live_page.h"

namespace vitrine::ui {

namespace {

const char* wordOf(LiveQuery::Kind kind) {
  switch (kind) {
    case LiveQuery::Kind::Patch:
      return "patch";
    case LiveQuery::Kind::Class:
      return "class";
    case LiveQuery::Kind::Mean:
      return "mean";
  }
  return "class";
}

const char* wordOf(LivePage::FigurePart part) {
  switch (part) {
    case LivePage::FigurePart::Attention:
      return "attention";
    case LivePage::FigurePart::Schedule:
      return "schedule";
    case LivePage::FigurePart::Matrices:
      return "matrices";
    case LivePage::FigurePart::Film:
      return "film";
    case LivePage::FigurePart::Steps:
      return "steps";
  }
  return "attention";
}

int integerIn(const Json& state, const char* key, int otherwise) {
  const std::optional<std::int64_t> value = stateInteger(state, key);
  return value ? static_cast<int>(std::clamp<std::int64_t>(*value, 0, 100000)) : otherwise;
}

double shareIn(const Json& state, const char* key, double otherwise) {
  return std::clamp(stateNumber(state, key, otherwise), 0.0, 1.0);
}

}  // namespace

bool LivePage::takeKey(int key, Qt::KeyboardModifiers modifiers) {
  if ((modifiers & ~(Qt::ShiftModifier | Qt::KeypadModifier)) != 0) return false;
  const bool hasShift = (modifiers & Qt::ShiftModifier) != 0;
  switch (key) {
    case Qt::Key_Left:
      model_.moveQuery(0, -1);
      break;
    case Qt::Key_Right:
      model_.moveQuery(0, 1);
      break;
    case Qt::Key_Up:
      model_.moveQuery(-1, 0);
      break;
    case Qt::Key_Down:
      model_.moveQuery(1, 0);
      break;
    case Qt::Key_Comma:
      model_.moveLayer(-1);
      break;
    case Qt::Key_Period:
      model_.moveLayer(1);
      break;
    case Qt::Key_Less:
      model_.moveHead(-1);
      break;
    case Qt::Key_Greater:
      model_.moveHead(1);
      break;
    case Qt::Key_BracketLeft:
      model_.moveImage(-1);
      break;
    case Qt::Key_BracketRight:
      model_.moveImage(1);
      break;
    case Qt::Key_C:
      if (hasShift) return false;
      model_.query.kind = LiveQuery::Kind::Class;
      break;
    case Qt::Key_M:
      if (hasShift) return false;
      model_.query.kind = LiveQuery::Kind::Mean;
      break;
    case Qt::Key_Space:
      freeze_->toggle();
      return true;
    case Qt::Key_T:
      if (hasShift) return false;
      valuesAction_->toggle();
      return true;
    case Qt::Key_End:
      follow_->trigger();
      return true;
    case Qt::Key_PageUp:
    case Qt::Key_PageDown: {
      // A twentieth of what was trained, back or forth along the schedule.
      if (!model_.hasFrame()) return false;
      const auto trained = static_cast<double>(model_.newest().step);
      const double by = std::max(1.0, trained / 20) * (key == Qt::Key_PageUp ? -1 : 1);
      model_.scrub(model_.moment() + by);
      break;
    }
    default:
      return false;
  }
  onChoice();
  return true;
}

void LivePage::keyPressEvent(QKeyEvent* event) {
  if (!model_.hasFrame() || !takeKey(event->key(), event->modifiers())) Page::keyPressEvent(event);
}

QString LivePage::described() const {
  const live::AttentionLayer* layer = model_.layerShown();
  if (layer == nullptr) return tr("No attention is shown.");
  const int head = std::min(model_.head, layer->heads - 1);
  const AttentionCells cells = attentionCells(*layer, head, model_.query);
  if (cells.isEmpty()) return tr("No attention is shown.");
  int most = 0;
  for (std::size_t i = 0; i < cells.values.size(); ++i) {
    if (cells.values[i] > cells.values[static_cast<std::size_t>(most)]) most = static_cast<int>(i);
  }
  const auto cell = [&](int i) { return patchName(i / cells.columns, i % cells.columns); };
  const QString asking = model_.query.kind == LiveQuery::Kind::Mean ? tr("the mean query")
                         : cells.asking < 0                         ? tr("the class token")
                                            : tr("the patch in %1").arg(cell(cells.asking));
  return tr("%1: %2 looks most at %3, with %4.")
      .arg(atStart(headName(layer->layer, head)), asking, cell(most),
           number(static_cast<double>(cells.values[static_cast<std::size_t>(most)]), 3));
}

Json LivePage::viewState() const {
  const std::optional<double> scrubbed = model_.sought() ? model_.sought() : model_.scrubbed();
  return Json{{"layer", model_.layer},
              {"head", model_.head},
              {"image", model_.image},
              {"query", wordOf(model_.query.kind)},
              {"row", model_.query.row},
              {"column", model_.query.column},
              {"same_scale", model_.isSameScale},
              {"scrubbed", scrubbed ? Json(*scrubbed) : Json()},
              {"values", valuesAction_->isChecked()},
              {"figure", wordOf(figurePart_)}};
}

void LivePage::setViewState(const Json& state) {
  if (!state.is_object()) return;
  model_.layer = integerIn(state, "layer", model_.layer);
  model_.head = integerIn(state, "head", model_.head);
  model_.image = integerIn(state, "image", model_.image);
  model_.query.row = shareIn(state, "row", model_.query.row);
  model_.query.column = shareIn(state, "column", model_.query.column);
  for (const auto each : {LiveQuery::Kind::Patch, LiveQuery::Kind::Class, LiveQuery::Kind::Mean}) {
    if (stateText(state, "query") == wordOf(each)) model_.query.kind = each;
  }
  model_.isSameScale = stateFlag(state, "same_scale", model_.isSameScale);
  valuesAction_->setChecked(stateFlag(state, "values", valuesAction_->isChecked()));
  // A moment of the schedule: at once, or when the run reaches it.
  if (const auto moment = state.find("scrubbed"); moment != state.end()) {
    const bool isOne = moment->is_number() && std::isfinite(moment->get<double>());
    model_.seek(isOne ? std::optional(std::max(0.0, moment->get<double>())) : std::nullopt);
  }
  redraw();
}

QString LivePage::howToRead() const {
  return tr(
      "Every map shows where one query reads in the image, with the weights of the step in the "
      "title. Click a patch to ask from it. Grey is masked: the model cannot read there. Attention "
      "shows where a head reads, not why the model decides. The loss change is the loss of a few "
      "probe samples with the schedule at its end, minus their loss now.\n"
      "Keys: arrows move the patch, comma and full stop the layer, with Shift the head, brackets "
      "the image. C asks from the class token, M from all. Page Up and Page Down go along the "
      "schedule, End follows, Space holds the picture, T shows the values. Escape closes a window "
      "of its own.");
}

void LivePage::shareFocus() {
  Selection& selection = workbench_.selection();
  int image = selection.image();
  // Which sample an image is comes with its frame. Not again: another page may choose another one.
  if (sharedImage_ != model_.image && model_.hasFrame() && model_.newest().image == model_.image &&
      model_.newest().sample >= 0) {
    sharedImage_ = model_.image;
    image = static_cast<int>(model_.newest().sample);
  }
  selection.setFocus(image, model_.layer, model_.head);
}

}  // namespace vitrine::ui
