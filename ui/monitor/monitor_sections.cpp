// The cards of the Monitor and their order: the pinned ones, groups by prefix, the search.
#include <QPointer>
#include <QToolButton>
#include <algorithm>
#include <array>

#include "ui/kit/fuzzy.h"
#include "ui/kit/settings.h"
#include "ui/kit/small_widgets.h"
#include "ui/kit/theme.h"
#include "ui/monitor/monitor_page.h"
#include "ui/monitor/monitor_parts.h"

namespace vitrine::ui {
namespace {

constexpr int kCardHeight = 240;
constexpr int kSmallWidth = 240;
constexpr int kSmallParts = 12;  // of a row that has a small card: halves, thirds and quarters

constexpr std::array kSizeWords{"small", "medium", "full"};  // PlotSize

QString sizesKey(const std::string& databaseUuid) {
  return QStringLiteral("monitor/sizes/") + QString::fromStdString(databaseUuid);
}

}  // namespace

QString groupTitle(const QString& group) { return group.left(1).toUpper() + group.mid(1); }

QString groupOf(const std::string& metric) {
  const QStringList parts = QString::fromStdString(metric).split(QLatin1Char('/'));
  if (parts.size() < 2) return QStringLiteral("other");
  if (parts.first() == QLatin1String("analysis") && parts.size() > 2)
    return QStringLiteral("analysis / ") +
           QString(parts[1]).replace(QLatin1Char('_'), QLatin1Char(' '));
  return parts.first();
}

// The heads of a layer are one curve, their mean.
std::set<std::string> MonitorPage::measured() const {
  std::set<std::string> stems;
  for (const std::int64_t id : workbench_.selection().drawn()) {
    const auto known = names_.find(id);
    if (known == names_.end()) continue;
    for (const std::string& name : known->second.metrics) {
      const auto head = name.rfind("/head");
      stems.insert(head == std::string::npos ? name : name.substr(0, head));
    }
  }
  return stems;
}

store::RunCard MonitorPage::cardOfRuns(const std::vector<std::int64_t>& runs) const {
  std::map<std::string, std::set<std::string>> recorded;  // by task
  for (const std::int64_t id : runs) {
    const auto names = names_.find(id);
    const auto task = tasks_.find(id);
    if (names == names_.end() || task == tasks_.end()) continue;
    recorded[task->second].insert(names->second.metrics.begin(), names->second.metrics.end());
  }
  std::vector<store::RunCard> cards;
  for (const auto& [task, names] : recorded)
    cards.push_back(store::runCard(store::cardOf(workbench_.cards(), task),
                                   {names.begin(), names.end()}, kinds_));
  return cards.empty() ? store::runCard(nullptr, {}, kinds_) : joined(cards);
}

bool MonitorPage::pinUsual() {
  if (!isUsual_) return false;
  std::vector<std::string> plots = allPlots(cardOfRuns(workbench_.selection().drawn()));
  if (plots == pinned_) return false;
  pinned_ = std::move(plots);
  return true;
}

bool MonitorPage::isFound(const std::string& metric) const {
  if (words_.isEmpty()) return true;
  const QString text = QString::fromStdString(metric) + QLatin1Char(' ') +
                       metricCard(metric, kinds_).title + QLatin1Char(' ') + groupOf(metric);
  return holdsWords(text, words_.split(QLatin1Char(' '), Qt::SkipEmptyParts));
}

void MonitorPage::rebuild() {
  QWidget* const before = window()->focusWidget();  // also while a dialog has the keys
  const QPointer<QWidget> focused = canvas_->isAncestorOf(before) ? before : nullptr;
  std::map<std::string, PlotCard*> kept;
  for (PlotCard* card : cards_) kept[card->metric()] = card;
  cards_.clear();

  struct Group {
    QString name;
    std::vector<std::string> metrics;
  };
  std::vector<Group> wanted{{QString(), {}}};
  bool hasPinned = false;
  for (const std::string& metric : pinned_) {
    if (!isFound(metric)) continue;
    wanted.front().metrics.push_back(metric);
    hasPinned = hasPinned || measured_.contains(metric);
  }
  std::map<QString, std::vector<std::string>> groups;
  for (const std::string& metric : measured_) {
    if (std::find(pinned_.begin(), pinned_.end(), metric) == pinned_.end() && isFound(metric))
      groups[groupOf(metric)].push_back(metric);
  }
  // What a run is judged by comes first.
  for (const char* first : {"train", "validation", "test", "optimizer", "system"}) {
    const auto found = groups.find(QLatin1String(first));
    if (found == groups.end()) continue;
    wanted.push_back({found->first, found->second});
    groups.erase(found);
  }
  for (const auto& [name, metrics] : groups) wanted.push_back({name, metrics});

  const bool isSame = sections_.size() == wanted.size() &&
                      std::equal(sections_.begin(), sections_.end(), wanted.begin(),
                                 [](const Section& a, const Group& b) { return a.name == b.name; });
  if (!isSame) {
    for (Section& section : sections_) {
      for (PlotCard* card : section.cards) card->setParent(canvas_);
      for (QWidget* part : {static_cast<QWidget*>(section.header), section.body}) {
        if (part == nullptr) continue;
        part->hide();  // until it is deleted it would lie on its successor
        part->deleteLater();
      }
    }
    while (QLayoutItem* item = column_->takeAt(0)) delete item;
    sections_.clear();
    for (const Group& group : wanted) {
      Section section{.name = group.name};
      if (!group.name.isEmpty()) {
        section.header = makeFoldButton(groupTitle(group.name), canvas_);
        section.header->setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
        const QString name = group.name;
        connect(section.header, &QToolButton::clicked, this, [this, name, header = section.header] {
          // The header may go with its section: after this event.
          QMetaObject::invokeMethod(
              this,
              [this, name, isOpen = header->isChecked()] {
                setGroupOpen(name, isOpen);
                Q_EMIT viewChanged();
              },
              Qt::QueuedConnection);
        });
        column_->addWidget(section.header);
        section.header->show();  // also on a page that is there already, and at once
      }
      section.body = withRole(new QWidget, "canvas");
      section.grid = new QGridLayout(section.body);
      section.grid->setContentsMargins(0, 0, 0, 0);
      section.grid->setSpacing(px(12));
      column_->addWidget(section.body, group.name.isEmpty() ? 1 : 0);
      sections_.push_back(section);
    }
    column_->addStretch(0);
  }
  bool isFirstGroup = true;
  std::vector<PlotCard*> fresh;
  // A new card shows the range that the user looks at.
  std::optional<PlotAxis> looked;
  if (!isFollowing_ && !kept.empty()) looked = kept.begin()->second->plot().xAxis();
  for (std::size_t i = 0; i < sections_.size(); ++i) {
    Section& section = sections_[i];
    section.metrics = wanted[i].metrics;
    section.cards.clear();
    bool isOpen = true;
    if (section.header != nullptr) {
      // Closed until the user opens it, unless nothing of the selected runs would be seen.
      const auto chosen = opened_.find(section.name);
      isOpen = !words_.isEmpty() ||
               (chosen != opened_.end() ? chosen->second : !hasPinned && isFirstGroup);
      isFirstGroup = false;
      section.header->setChecked(isOpen);
      section.header->setText(
          tr("%1 (%2)").arg(groupTitle(section.name), QString::number(section.metrics.size())));
      section.header->setAccessibleName(
          tr("Plots of %1, %2").arg(groupTitle(section.name), isOpen ? tr("open") : tr("closed")));
    }
    if (isOpen) {
      for (const std::string& metric : section.metrics) {
        const auto found = kept.find(metric);
        PlotCard* card = found == kept.end() ? makeCard(metric) : found->second;
        if (found == kept.end()) {
          fresh.push_back(card);
        } else {
          kept.erase(found);
        }
        card->setPinned(section.header == nullptr);
        section.cards.push_back(card);
        cards_.push_back(card);
      }
    }
  }
  for (const auto& [metric, card] : kept) {
    card->hide();
    card->deleteLater();
  }
  arrange();
  const Extent linear = extent(false), logarithmic = extent(true);
  for (PlotCard* card : fresh) {
    giveCurves(*card);
    if (looked) {
      card->plot().showRange(looked->lower, looked->upper);
    } else if (const Extent& all = card->plot().settings().isLogX ? logarithmic : linear) {
      card->plot().showRange((*all)[0], (*all)[1]);
    }
    applyRanges(*card);
  }
  // The keys stay with the plot that had them; where it is gone, with the page.
  if (focused != nullptr && window()->focusWidget() != focused.data())
    (focused->isVisibleTo(this) ? focused.data() : static_cast<QWidget*>(scroll_))->setFocus();
  catchUp_.start();
}

void MonitorPage::arrange() {
  PlotCard* large = card(enlarged_);
  bool isFirst = true;
  for (std::size_t i = 0; i < sections_.size(); ++i) {
    Section& section = sections_[i];
    const bool hasLarge = std::count(section.cards.begin(), section.cards.end(), large) > 0;
    if (section.header != nullptr) section.header->setVisible(large == nullptr);
    if (large == nullptr) {
      arrangeSection(section, section.cards, isFirst);
    } else {
      for (PlotCard* other : section.cards) other->setVisible(other == large);
      arrangeSection(section, hasLarge ? std::vector{large} : std::vector<PlotCard*>{}, true);
    }
    column_->setStretchFactor(section.body, large == nullptr ? isFirst && i == 0 : hasLarge);
    isFirst = false;
  }
}

void MonitorPage::enlarge(const std::string& metric) {
  if (enlarged_ == metric) return;
  enlarged_ = metric;
  arrange();
  if (PlotCard* large = card(enlarged_)) large->plot().setFocus();
  catchUp_.start();
}

PlotSize MonitorPage::size(const std::string& metric) const {
  const auto chosen = sizes_.find(metric);
  return chosen == sizes_.end() ? PlotSize::Medium : chosen->second;
}

void MonitorPage::setSize(const std::string& metric, PlotSize size) {
  sizes_[metric] = size;
  if (size == PlotSize::Medium) sizes_.erase(metric);
  Json kept = Json::object();
  for (const auto& [name, chosen] : sizes_)
    kept[name] = kSizeWords[static_cast<std::size_t>(chosen)];
  if (hasDatabase_) storeSetting(sizesKey(databaseUuid_), QByteArray::fromStdString(kept.dump()));
  arrange();
  catchUp_.start();
}

void MonitorPage::readSizes() {
  const Json kept = viewParsed(setting(sizesKey(databaseUuid_), QByteArray()).toByteArray());
  if (!kept.is_object()) return;
  for (const auto& [metric, word] : kept.items()) {
    const auto found = std::find(kSizeWords.begin(), kSizeWords.end(), word);
    if (found != kSizeWords.end())
      sizes_[metric] = static_cast<PlotSize>(found - kSizeWords.begin());
  }
  if (!sizes_.empty()) arrange();
}

// As many columns as hold a readable plot; the pinned cards share the height while they can, then
// the page scrolls.
void MonitorPage::arrangeSection(Section& section, const std::vector<PlotCard*>& shown,
                                 bool isFirst) {
  QGridLayout* grid = section.grid;
  while (QLayoutItem* item = grid->takeAt(0)) delete item;
  const int width = std::max(scroll_->viewport()->width(), 1);
  const int number = static_cast<int>(shown.size());
  const int columns =
      std::clamp(width / px(360), 1, std::max(1, number > 4 ? 3 : std::min(number, 2)));
  const auto sizeOf = [this](const PlotCard* card) {
    return card->metric() == enlarged_ ? PlotSize::Full : size(card->metric());
  };
  const bool hasSmall = std::any_of(shown.begin(), shown.end(), [&](const PlotCard* card) {
    return sizeOf(card) == PlotSize::Small;
  });
  const int parts = hasSmall ? kSmallParts : columns;
  const std::array spans{parts / std::max(columns, std::clamp(width / px(kSmallWidth), 1, 4)),
                         parts / columns, parts};  // PlotSize
  struct Place {
    int row, column, span;
  };
  std::vector<Place> places;
  for (int row = 0, column = 0; const PlotCard* card : shown) {
    const int span = spans[static_cast<std::size_t>(sizeOf(card))];
    if (column + span > parts) {
      ++row;
      column = 0;
    }
    places.push_back({row, column, span});
    column += span;
  }
  const int rows = places.empty() ? 0 : places.back().row + 1;
  for (int row = 0; row < std::max(grid->rowCount(), rows); ++row) {
    grid->setRowStretch(row, row < rows ? 1 : 0);
    grid->setRowMinimumHeight(row, row < rows ? px(kCardHeight) : 0);
  }
  for (int column = 0; column < std::max(grid->columnCount(), parts); ++column)
    grid->setColumnStretch(column, column < parts ? 1 : 0);
  for (std::size_t i = 0; i < shown.size(); ++i) {
    grid->addWidget(shown[i], places[i].row, places[i].column, 1, places[i].span);
    shown[i]->show();
  }
  section.body->setVisible(number > 0);
  section.body->setMinimumHeight(number > 0 && !isFirst ? rows * px(kCardHeight) : 0);
}

void MonitorPage::setUsualMetrics() {
  isUsual_ = true;
  storeSetting(QStringLiteral("monitor/metrics"), QStringList());
  pinUsual();
  rebuild();
}

void MonitorPage::setMetrics(const std::vector<std::string>& metrics) {
  isUsual_ = false;
  pinned_ = metrics;
  QStringList stored;
  for (const std::string& metric : pinned_) stored << QString::fromStdString(metric);
  storeSetting(QStringLiteral("monitor/metrics"), stored);
  rebuild();
}

void MonitorPage::setPinned(const std::string& metric, bool isPinned) {
  std::vector<std::string> changed = pinned_;
  std::erase(changed, metric);
  if (isPinned) changed.push_back(metric);
  setMetrics(changed);
}

void MonitorPage::search(const QString& words) {
  const QString simple = words.simplified();
  if (search_->text().simplified() != simple) search_->setText(words);
  if (simple == words_) return;
  words_ = simple;
  rebuild();
}

QStringList MonitorPage::groups() const {
  QStringList names;
  for (const Section& section : sections_)
    if (!section.name.isEmpty()) names << section.name;
  return names;
}

void MonitorPage::setGroupOpen(const QString& group, bool isOpen) {
  opened_[group] = isOpen;
  rebuild();
}

}  // namespace vitrine::ui
