#include "ui/configure/plan/changes_view.h"

#include <QCheckBox>
#include <QComboBox>
#include <QLabel>
#include <QScrollArea>
#include <algorithm>

#include "ui/kit/small_widgets.h"
#include "ui/kit/theme.h"
#include "ui/kit/value_text.h"
#include "ui/workbench/run_facts.h"

namespace vitrine::ui {

namespace {

constexpr std::size_t kMostKeysShown = 200;
constexpr int kMostHeight = 250;

const QString kDefaults = QStringLiteral("defaults");
const QString kNearest = QStringLiteral("nearest");
const QString kSelected = QStringLiteral("selected");
const QString kPicked = QStringLiteral("picked");
const QString kChoose = QStringLiteral("choose");

constexpr int kRoleOfItem = Qt::UserRole;
constexpr int kRunOfItem = Qt::UserRole + 1;

/// Long keys break after their dots.
QString breakable(const std::string& key) {
  return QString::fromStdString(key).toHtmlEscaped().replace(QLatin1Char('.'),
                                                             QStringLiteral(".&#8203;"));
}

/// A word that is too long for its line breaks inside.
QString breakableValue(const QString& text) {
  constexpr int kMostTogether = 12;
  QString html;
  int together = 0;
  for (const QChar letter : text) {
    html += QString(letter).toHtmlEscaped();
    together = letter.isSpace() ? 0 : together + 1;
    if (together < kMostTogether || letter.isHighSurrogate()) continue;
    html += QStringLiteral("&#8203;");
    together = 0;
  }
  return html;
}

QString wholeValue(const Json& value) {
  if (value.is_null()) return QStringLiteral("\u2013");
  if (value.is_number_integer()) return count(value.get<std::int64_t>());
  return namesOrText(value);
}

}  // namespace

QString shortValue(const Json& value) {
  constexpr int kMost = 28, kEnd = 12;  // a path is known by its end
  const QString text = wholeValue(value);
  if (text.size() <= kMost) return text;
  return text.left(kMost - kEnd - 1) + QChar(0x2026) + text.right(kEnd);
}

ChangesView::ChangesView(QWidget* parent)
    : QWidget(parent),
      against_(new QComboBox(this)),
      note_(wrappedLabel("small", this)),
      changes_(new QLabel(this)),
      list_(new QScrollArea(this)),
      all_(new QCheckBox(tr("Only differences"), this)) {
  against_->setAccessibleName(tr("Reference of the changes"));
  against_->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
  against_->setMinimumContentsLength(12);
  against_->setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
  against_->setToolTip(tr("Reference of the changes"));
  for (const auto& [label, role] : {std::pair(tr("against defaults"), kDefaults),
                                    std::pair(tr("against nearest run"), kNearest),
                                    std::pair(tr("Choose a run\u2026"), kChoose)})
    against_->addItem(label, role);
  auto* column = columnIn(this, {}, px(4));
  note_->hide();
  column->addWidget(note_);
  changes_->setTextFormat(Qt::RichText);
  changes_->setTextInteractionFlags(Qt::TextBrowserInteraction);
  changes_->setWordWrap(true);
  changes_->setAccessibleName(tr("Changes"));
  // A long list scrolls in its place, so that what stands below stays in reach.
  list_->setWidgetResizable(true);
  list_->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  list_->setFocusPolicy(Qt::NoFocus);
  auto* holder = new QWidget(list_);
  auto* inside = columnIn(holder, {0, 0, px(8), 0});
  inside->addWidget(changes_);
  inside->addStretch();
  list_->setWidget(holder);
  column->addWidget(list_);
  all_->setChecked(true);
  all_->setToolTip(tr("Off: keys with equal values are listed too"));
  all_->setAccessibleName(tr("Only differences"));
  column->addWidget(all_);
  connect(changes_, &QLabel::linkActivated, this, &ChangesView::keyRequested);
  connect(all_, &QCheckBox::toggled, this, &ChangesView::againstChanged);
  connect(against_, &QComboBox::currentIndexChanged, this, [this](int index) {
    if (against_->itemData(index, kRoleOfItem) != kChoose) {
      last_ = index;
      Q_EMIT againstChanged();
    }
  });
  connect(against_, &QComboBox::activated, this, [this](int index) {
    if (against_->itemData(index, kRoleOfItem) != kChoose) return;
    const QSignalBlocker quiet(against_);
    against_->setCurrentIndex(last_);
    Q_EMIT chooseRequested();
  });
}

ChangesView::Against ChangesView::against() const {
  const QString role = against_->itemData(last_, kRoleOfItem).toString();
  return role == kDefaults ? Against::Defaults : role == kNearest ? Against::Nearest : Against::Run;
}

std::int64_t ChangesView::run() const { return against_->itemData(last_, kRunOfItem).toLongLong(); }

void ChangesView::offer(std::int64_t run, const QString& label, const QString& role) {
  int place = against_->findData(role, kRoleOfItem);
  const int choose = against_->findData(kChoose, kRoleOfItem);
  if (run == 0) {
    if (place < 0) return;
    const bool isShown = last_ == place;
    if (last_ > place) --last_;
    const QSignalBlocker quiet(against_);
    against_->removeItem(place);
    if (isShown) last_ = 0;
    against_->setCurrentIndex(last_);
    return;
  }
  if (place < 0) {
    const QSignalBlocker quiet(against_);
    against_->insertItem(choose, label, role);
    place = choose;
  }
  against_->setItemText(place, label);
  against_->setItemData(place, QVariant::fromValue<qlonglong>(run), kRunOfItem);
}

void ChangesView::setSelectedRun(std::int64_t run) {
  offer(run, tr("against run #%1").arg(run), kSelected);
}

void ChangesView::compareWith(std::int64_t run) {
  offer(run, tr("against run #%1").arg(run), kPicked);
  const int place = against_->findData(kPicked, kRoleOfItem);
  if (place == last_) {
    Q_EMIT againstChanged();
  } else {
    against_->setCurrentIndex(place);
  }
}

void ChangesView::setAgainst(Against against) {
  if (against == Against::Run) return;
  against_->setCurrentIndex(
      against_->findData(against == Against::Nearest ? kNearest : kDefaults, kRoleOfItem));
}

bool ChangesView::showsAll() const { return !all_->isChecked(); }

void ChangesView::setShowsAll(bool isAll) { all_->setChecked(!isAll); }

void ChangesView::show(const std::vector<Difference>& changes, const QString& note,
                       const std::vector<std::pair<std::string, Json>>& same) {
  sayIn(*note_, note);
  const ThemeColors& colours = themeColors();
  QString html;
  if (changes.empty()) {
    html = QStringLiteral("<span style='color:%1'>%2</span>")
               .arg(colours.muted.name(), tr("Nothing differs."));
  }
  const std::size_t rows = changes.size() + (showsAll() ? same.size() : 0);
  html += QStringLiteral("<table width='100%' cellspacing='0' cellpadding='2'>");
  QStringList shortened;  // the whole values of these lines, for the tool tip
  const auto row = [&](const std::string& key, const std::vector<const Json*>& values,
                       const QColor& colour) {
    QStringList cell, whole;
    for (const Json* value : values) {
      cell << breakableValue(shortValue(*value));
      whole << wholeValue(*value);
    }
    const QString arrow = QStringLiteral(" \u2192 ");
    const bool isWhole = std::all_of(values.begin(), values.end(), [](const Json* value) {
      return shortValue(*value) == wholeValue(*value);
    });
    if (!isWhole)
      shortened << QString::fromStdString(key) + QStringLiteral(": ") + whole.join(arrow);
    html += QStringLiteral(
                "<tr><td><a href='%1' style='color:%2; text-decoration:none'>%3</a></td>"
                "<td align='right' style='color:%4'>%5</td></tr>")
                .arg(QString::fromStdString(key).toHtmlEscaped(), colours.muted.name(),
                     breakable(key), colour.name(), cell.join(arrow));
  };
  std::size_t shown = 0;
  for (const Difference& change : changes) {
    if (shown++ == kMostKeysShown) break;
    row(change.key, {&change.before, &change.after}, colours.text);
  }
  if (showsAll()) {
    for (const auto& [key, value] : same) {
      if (shown++ >= kMostKeysShown) break;
      row(key, {&value}, colours.muted);
    }
  }
  html += QStringLiteral("</table>");
  if (rows > kMostKeysShown) html += tr("%1 more").arg(rows - kMostKeysShown);
  changes_->setText(html);
  changes_->setToolTip(shortened.join(QLatin1Char('\n')));
  fit();
}

void ChangesView::fit() {
  const int width = list_->viewport()->width() - px(8);
  const int wanted = changes_->heightForWidth(std::max(width, px(120)));
  list_->setFixedHeight(std::min(wanted + 2, px(kMostHeight)));
}

void ChangesView::resizeEvent(QResizeEvent* event) {
  QWidget::resizeEvent(event);
  fit();
}

}  // namespace vitrine::ui
