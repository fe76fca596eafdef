#include "ui/live/live_values.h"

#include <QLabel>
#include <algorithm>
#include <cmath>
#include <numeric>

#include "ui/figures/painting.h"
#include "ui/kit/fit_area.h"
#include "ui/kit/theme.h"
#include "ui/kit/value_text.h"
#include "ui/live/part_words.h"
#include "ui/workbench/fact_table.h"

namespace vitrine::ui {

namespace {

std::vector<Fact> attentionFacts(const AttentionCells& cells) {
  std::vector<Fact> facts;
  if (cells.classValue >= 0)
    facts.push_back(
        {LiveValues::tr("class token"), number(static_cast<double>(cells.classValue), 4), {}});
  for (std::size_t i = 0; i < cells.values.size(); ++i) {
    const auto value = static_cast<double>(cells.values[i]);
    if (std::isnan(value)) continue;  // no key lies there
    const int cell = static_cast<int>(i);
    facts.push_back({patchName(cell / cells.columns, cell % cells.columns), number(value, 4), {}});
  }
  return facts;
}

std::vector<Fact> momentFacts(const LiveModel& model) {
  const double step = model.moment();
  std::vector<Fact> facts{
      {LiveValues::tr("step"), count(static_cast<std::int64_t>(step)), {}}};
  for (const std::string& name : model.scheduleNames()) {
    if (const auto value = LiveModel::at(*model.schedule(name), step))
      facts.push_back({scene::shortName(name), number(*value, 4), {}});
  }
  if (const auto loss = LiveModel::at(model.loss(), step))
    facts.push_back({LiveValues::tr("loss"), number(*loss, 4), {}});
  if (const auto gap = model.gapAt(step)) {
    facts.push_back({LiveValues::tr("loss change"), scene::signedNumber(*gap),
                     LiveValues::tr("Loss change if the schedule ended now")});
  }
  return facts;
}

std::vector<Fact> stepFacts(const LiveModel& model) {
  std::vector<Fact> facts;
  if (model.steps().empty()) return facts;
  const std::vector<double> medians = model.medians();
  double total = 0;
  for (int part = 0; part < kStepParts; ++part) total += medians[static_cast<std::size_t>(part)];
  for (int part = 0; part < kStepParts; ++part) {
    const double seconds = medians[static_cast<std::size_t>(part)];
    facts.push_back({scene::medianName(StepPart(part)),
                     QStringLiteral("%1, %2").arg(scene::duration(seconds),
                                                  percent(total > 0 ? seconds / total : 0, 1)),
                     {}});
  }
  facts.push_back({LiveValues::tr("whole step, median"), scene::duration(medians.back()), {}});
  facts.push_back({LiveValues::tr("throughput, median"), scene::throughputText(model), {}});
  return facts;
}

/// Of each image the mean of its pixels, in the first prediction and the last.
std::vector<Fact> filmFacts(const LiveModel& model) {
  std::vector<Fact> facts;
  if (!model.film() || model.film()->bytes.empty()) return facts;
  const live::Film& film = *model.film();
  const std::ptrdiff_t size = std::ptrdiff_t{film.height} * film.width * film.channels;
  const auto mean = [&](std::ptrdiff_t time, int image) {
    const auto first = film.bytes.begin() + (time * film.images + image) * size;
    return std::accumulate(first, first + size, 0.0) / static_cast<double>(size);
  };
  const auto timeText = [&](float time) { return shortNumber(static_cast<double>(time)); };
  for (int i = 0; i < film.images; ++i)
    facts.push_back(
        {model.filmName(i),
         QStringLiteral("%1 \u2192 %2")
             .arg(number(mean(0, i), 1), number(mean(std::ssize(film.times) - 1, i), 1)),
         LiveValues::tr("Mean pixel of the predicted clean image at time %1 and at time "
                        "%2, of 255")
             .arg(timeText(film.times.front()), timeText(film.times.back()))});
  return facts;
}

}  // namespace

LiveValues::LiveValues(QWidget* parent) : QWidget(parent) {
  auto* column = columnIn(this, {px(12), px(8), px(12), px(8)}, px(6));
  QLabel* title = nullptr;  // of the newest table
  const auto table = [&](const QString& words, const QString& name) {
    title = withRole(new QLabel(words, this), "title");
    column->addWidget(title);
    auto* made = new FactTable(name, this);
    made->setLabelWidth(px(130));
    return made;
  };
  moment_ = table(tr("Moment"), tr("Values of the moment"));
  column->addWidget(moment_);
  steps_ = table(tr("Step time"), tr("Time of each part of a step"));
  column->addWidget(steps_);
  film_ = table(tr("Images being denoised"), tr("Mean pixel of each image being denoised"));
  filmTitle_ = title;
  column->addWidget(film_);
  attention_ = table(tr("Attention of the query"), tr("Attention of the query by patch"));
  about_ = withRole(new WrapLabel(this), "small");
  column->addWidget(about_);
  column->addWidget(attention_);
  column->addStretch();
}

void LiveValues::show(const LiveModel& model) {
  if (!model.hasFrame()) return;
  moment_->setFacts(momentFacts(model));
  steps_->setFacts(stepFacts(model));
  film_->setFacts(filmFacts(model));
  filmTitle_->setVisible(model.film().has_value());
  film_->setVisible(model.film().has_value());
  const live::AttentionLayer* layer = model.layerShown();
  if (layer == nullptr) {
    about_->setText(scene::noAttention());
    attention_->setFacts({});
    return;
  }
  const int head = std::min(model.head, static_cast<int>(layer->heads) - 1);
  const AttentionCells cells = attentionCells(*layer, head, model.query);
  const QString asking = model.query.kind == LiveQuery::Kind::Mean ? tr("the mean query")
                         : cells.asking < 0
                             ? tr("the class token")
                             : patchName(cells.asking / std::max(cells.columns, 1),
                                         cells.asking % std::max(cells.columns, 1));
  about_->setText(tr("%1, from %2").arg(atStart(headName(layer->layer, head)), asking));
  attention_->setFacts(attentionFacts(cells));
}

}  // namespace vitrine::ui
