// The image that is selected: its steps, its recipe, and the drawings before it.
#include <QComboBox>
#include <QLabel>
#include <QListWidget>
#include <QPixmap>
#include <QRegularExpression>
#include <QSignalBlocker>
#include <QSlider>
#include <algorithm>
#include <map>
#include <tuple>

#include "ui/figures/painting.h"
#include "ui/kit/fit_area.h"
#include "ui/kit/theme.h"
#include "ui/kit/value_text.h"
#include "ui/playground/film_strip.h"
#include "ui/playground/image_board.h"
#include "ui/playground/playground_page.h"
#include "ui/workbench/fact_table.h"

namespace vitrine::ui {

namespace {

constexpr int kPictureSide = 224;

}  // namespace

void PlaygroundPage::showFilm(bool keepsStep) {
  const DrawnImage* image = selectedImage();
  std::vector<FilmFrame> film;
  if (const DrawnCell* cell = selectedCell(); cell != nullptr) {
    const auto found = cell->films.find(
        image != nullptr
            ? image->seed
            : cell->settings.seed() + static_cast<std::uint64_t>(board_->selected().image));
    if (found != cell->films.end()) film = found->second;
  }
  const Replay* replay = image != nullptr && image->replay ? &*image->replay : nullptr;
  const bool hasFilm = !film.empty() || replay != nullptr;
  filmCard_->setVisible(hasFilm);
  film_->setAsksPatch(canReplay() && !worker_.isBusy());
  film_->setFilm(std::move(film), replay, keepsStep);
  const auto [layers, heads] = film_->channels();
  for (auto [box, number, all, one] :
       {std::tuple(layerBox_, layers, tr("All layers"), &layerName),
        std::tuple(headBox_, heads, tr("All heads"),
                   static_cast<QString (*)(std::int64_t)>(&headName))}) {
    if (box->count() != number + 1) {
      box->clear();
      box->addItem(all, -1);
      for (int i = 0; i < number; ++i) box->addItem(atStart(one(i)), i);
    }
    box->setVisible(number > 0);
  }
  layerBox_->setCurrentIndex(layerBox_->findData(film_->layer()));
  headBox_->setCurrentIndex(headBox_->findData(film_->head()));
  {
    const QSignalBlocker quiet(slider_);
    slider_->setRange(0, std::max(0, film_->frameCount() - 1));
  }
  filmTitle_->setText(selectedCell() == nullptr
                          ? tr("Denoising")
                          : tr("Denoising: %1").arg(shown_->cellTitle(board_->selected().cell)));
  showStep();
}

QString PlaygroundPage::filmNote() const {
  if (worker_.work() == DrawWorker::Work::Replay)
    return tr("Drawing again to see where the patch reads\u2026");
  const DrawnImage* image = selectedImage();
  if (image == nullptr || !image->replay) {
    return canReplay() ? tr("Click a patch of the image to see where it reads at each step")
                       : QString();
  }
  const QString note =
      tr("%1. Attention shows where a head reads, not why.").arg(image->replay->note);
  const QString words = film_->wordsAt(film_->step());
  return words.isEmpty() ? note : note + QLatin1Char(' ') + tr("Words it reads: %1.").arg(words);
}

void PlaygroundPage::showStep() {
  filmNote_->setText(filmNote());
  {
    const QSignalBlocker quiet(slider_);
    slider_->setValue(film_->step());
  }
  stepText_->setText(tr("Picture %1 of %2, time %3")
                         .arg(film_->frameCount() == 0 ? 0 : film_->step() + 1)
                         .arg(film_->frameCount())
                         .arg(shortNumber(film_->timeAt(film_->step()))));
  const DrawnImage* image = selectedImage();
  const bool isLast = film_->step() + 1 >= film_->frameCount();
  QImage shown = image != nullptr && isLast ? image->image : film_->imageAt(film_->step());
  if (shown.isNull() && image != nullptr) shown = image->image;
  const DrawnCell* cell = selectedCell();
  const auto number = static_cast<std::size_t>(board_->selected().image);
  if (cell != nullptr && number < cell->texts.size()) shown = cell->texts[number].image;
  picture_->setVisible(!shown.isNull());
  if (shown.isNull()) return;
  // Whole multiples without smoothing; a large image is cut to its place by a smaller copy.
  const int side = std::max(shown.width(), shown.height());
  const int scale = std::max(1, px(kPictureSide) / side);
  const QSize size =
      side > px(kPictureSide)
          ? shown.size().scaled(px(kPictureSide), px(kPictureSide), Qt::KeepAspectRatio)
          : shown.size() * scale;
  picture_->setPixmap(QPixmap::fromImage(
      shown.scaled(size, Qt::KeepAspectRatio,
                   side > px(kPictureSide) ? Qt::SmoothTransformation : Qt::FastTransformation)));
  picture_->setFixedHeight(size.height());
}

void PlaygroundPage::showRecipe() {
  const DrawnImage* image = selectedImage();
  const DrawnCell* cell = selectedCell();
  const auto number = static_cast<std::size_t>(board_->selected().image);
  const bool isText = cell != nullptr && number < cell->texts.size();
  const Json recipe = image != nullptr ? image->recipe
                      : isText         ? cell->texts[number].recipe
                                       : Json();
  if (recipe != recipe_) {
    if (recipe_.is_object()) compared_ = recipe_;
    recipe_ = recipe;
  }
  const bool hasRecipe = recipe_.is_object();
  for (QWidget* one : std::initializer_list<QWidget*>{recipeButton_, command_})
    one->setVisible(hasRecipe);
  facts_->setVisible(hasRecipe && recipeButton_->isChecked());
  verdict_->setVisible(image != nullptr && (!image->verdict.isEmpty() || image->stored != 0));
  if (!hasRecipe) {
    imageTitle_->setText(cell == nullptr ? tr("Draw to see an image and its recipe here.")
                                         : shown_->cellTitle(board_->selected().cell));
    return;
  }
  const QString title = shown_->cellTitle(board_->selected().cell);
  const QString seed = tr("seed %1").arg(isText ? cell->texts[number].seed : image->seed);
  // A grid over seeds names it already.
  const bool isNamed = title.split(QStringLiteral(", ")).contains(seed, Qt::CaseInsensitive);
  imageTitle_->setText(isNamed ? title : QStringLiteral("%1, %2").arg(title, seed));
  if (isText) imageTitle_->setText(cell->texts[number].shown());
  if (image != nullptr) {
    const ThemeColors& colors = themeColors();
    QStringList words;
    if (!image->verdict.isEmpty()) {
      words << QStringLiteral("<span style=\"color:%1\">%2 %3</span>")
                   .arg((image->isExact ? colors.ok : colors.warn).name(),
                        image->isExact ? QStringLiteral("\u2713") : QStringLiteral("\u2717"),
                        image->verdict.toHtmlEscaped());
    }
    if (image->stored != 0) words << tr("In the gallery as image %1").arg(image->stored);
    verdict_->setText(words.join(QStringLiteral("<br>")));
  }
  const std::vector<RecipeFact> lines =
      recipeFacts(recipe_, compared_,
                  QStringLiteral("#%1 %2").arg(cell->settings.model.run).arg(shown_->runName),
                  classNames(cell->settings.model.run));
  std::vector<Fact> facts;
  for (const RecipeFact& line : lines) {
    facts.push_back({line.label, line.value,
                     line.isDifferent ? tr("Differs from the image selected before") : QString()});
  }
  facts_->setFacts(facts);
  for (int i = 0; i < facts_->topLevelItemCount() && i < static_cast<int>(lines.size()); ++i) {
    QFont font = facts_->topLevelItem(i)->font(1);
    font.setBold(lines[static_cast<std::size_t>(i)].isDifferent);
    facts_->topLevelItem(i)->setFont(1, font);
  }
  command_->setText(sampleCommand(cell->settings,
                                  samplerSchema(workbench_.catalog(), cell->settings.sampler), {}));
}

void PlaygroundPage::readDescribed(std::size_t cell) {
  for (; shown_ != nullptr && cell < shown_->cells.size(); ++cell) {
    const std::map<std::string, std::vector<std::int64_t>> missing = takeDescribed(cell);
    if (missing.empty()) continue;
    const auto& [split, ids] = *missing.begin();
    describedCell_ = cell;
    pictures_.fetch(shown_->cells[cell].settings.model, split, ids);
    if (pictures_.isBusy()) return;
  }
}

std::map<std::string, std::vector<std::int64_t>> PlaygroundPage::takeDescribed(std::size_t number) {
  static const QRegularExpression kSample(QStringLiteral("^(train|validation|test)/(\\d+)$"));
  std::map<std::string, std::vector<std::int64_t>> missing;
  if (shown_ == nullptr || number >= shown_->cells.size()) return missing;
  DrawnCell& cell = shown_->cells[number];
  if (describedImage(cell.settings).isEmpty()) return missing;
  for (DrawnText& text : cell.texts) {
    if (!text.image.isNull()) continue;
    const QRegularExpressionMatch sample = kSample.match(text.prompt);
    if (sample.hasMatch()) {
      const std::string split = sample.captured(1).toStdString();
      const std::int64_t id = sample.captured(2).toLongLong();
      text.image = pictures_.picture(cell.settings.model.run, split, id);
      if (text.image.isNull()) missing[split].push_back(id);
    } else if (workbench_.link() == nullptr) {  // a file of this machine
      text.image = QImage(text.prompt);
      if (std::max(text.image.width(), text.image.height()) > px(kPictureSide))
        text.image = text.image.scaled(px(kPictureSide), px(kPictureSide), Qt::KeepAspectRatio,
                                       Qt::SmoothTransformation);
    }
  }
  board_->update();
  showStep();
  return missing;
}

// The newest first; what differs from the drawing before is said.
void PlaygroundPage::showHistory() {
  const QSignalBlocker quiet(historyList_);
  historyList_->clear();
  for (std::size_t i = history_.size(); i-- > 0;) {
    const Drawing& drawing = *history_[i];
    const bool isKept = drawing.state == Drawing::State::Kept;
    QStringList about{isKept ? drawing.at.toString(QStringLiteral("d MMM HH:mm"))
                             : drawing.at.toString(QStringLiteral("HH:mm:ss"))};
    if (drawing.imageCount() + drawing.textCount() > 1) about << drawing.countText();
    if (i > 0) {
      QStringList keys;
      for (const std::string& key : changedKeys(history_[i - 1]->base, drawing.base))
        keys << asWords(key);
      if (!keys.isEmpty()) about << tr("other %1").arg(keys.join(QStringLiteral(", ")));
    }
    const Drawing::State end = isKept ? drawing.ended : drawing.state;
    if (end == Drawing::State::Cancelled) about << tr("cancelled");
    if (end == Drawing::State::Failed) about << tr("failed");
    auto* item = new QListWidgetItem(
        drawing.title() + QLatin1Char('\n') + about.join(QStringLiteral(" \u00b7 ")), historyList_);
    const QImage picture = drawing.thumbnail();
    if (!picture.isNull()) item->setIcon(QPixmap::fromImage(picture));
    item->setToolTip(drawing.error.isEmpty() ? item->text()
                                             : item->text() + QLatin1Char('\n') + drawing.error);
    if (history_[i] == shown_) historyList_->setCurrentItem(item);
  }
}

}  // namespace vitrine::ui
