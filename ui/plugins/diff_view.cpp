#include "ui/plugins/diff_view.h"

#include <QComboBox>
#include <QLabel>
#include <QPushButton>
#include <QRegularExpression>
#include <QStackedWidget>
#include <QToolButton>
#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

#include "core/config/experiment.h"
#include "ui/figures/painting.h"
#include "ui/kit/theme.h"
#include "ui/kit/value_text.h"
#include "ui/plugins/block_text.h"

namespace vitrine::ui {
namespace {

constexpr int kMostRunsListed = 300;

/// Of the item's paper; beyond any where there is none.
int yearOf(const ItemCard& card) {
  static const QRegularExpression year(QStringLiteral("\\b(?:19|20)\\d\\d\\b"));
  const auto match = year.match(QString::fromStdString(card.paper));
  return match.hasMatch() ? match.captured().toInt() : 9999;
}

/// The source of an architecture's demo preset, or of its first one.
QString demoOf(const ItemCard& card) {
  const Preset* demo = card.schema.preset(card.id + "/demo");
  return QStringLiteral("preset:") +
         QString::fromStdString(demo != nullptr ? demo->name : card.schema.presets.front().name);
}

/// The demo presets of the oldest architecture and of the one most like it: the difference that
/// most people ask for first.
std::pair<QString, QString> firstDifference(const Catalog& catalog) {
  std::multimap<int, const ItemCard*> byYear;
  for (const ItemCard& card : catalog.items)
    if (card.kind == ItemKind::Architecture && !card.schema.presets.empty())
      byYear.emplace(yearOf(card), &card);
  if (byYear.empty()) return {};
  const ItemCard& oldest = *byYear.begin()->second;
  const ItemCard* like = &oldest;
  std::ptrdiff_t most = -1;
  for (auto each = std::next(byYear.begin()); each != byYear.end(); ++each) {
    const auto& offers = each->second->offers;
    const auto shared = std::count_if(offers.begin(), offers.end(), [&](const std::string& offer) {
      return std::find(oldest.offers.begin(), oldest.offers.end(), offer) != oldest.offers.end();
    });
    if (shared > most) like = each->second;
    most = std::max(most, shared);
  }
  return {demoOf(oldest), demoOf(*like)};
}

}  // namespace

void DiffView::fill(Side& side, const QString& wanted) {
  side.choice->clear();
  const auto add = [&side](const QString& text, const QString& source) {
    side.choice->addItem(text, source);
  };
  for (const ItemCard& card : workbench_.catalog().items) {
    if (card.kind != ItemKind::Architecture) continue;
    const QString id = QString::fromStdString(card.id);
    for (const Preset& preset : card.schema.presets) {
      const QString name = QString::fromStdString(preset.name);
      add(name, QStringLiteral("preset:") + name);
    }
    add(tr("%1, all defaults").arg(id), QStringLiteral("architecture:") + id);
  }
  if (experimentText().has_value() || wanted == QLatin1String("form"))
    add(tr("The form"), QStringLiteral("form"));
  int listed = 0;
  const auto& runs = workbench_.runs();
  for (auto run = runs.rbegin(); run != runs.rend() && listed < kMostRunsListed; ++run, ++listed) {
    add(tr("run #%1 %2").arg(run->first).arg(QString::fromStdString(run->second.name)),
        QStringLiteral("run:%1").arg(run->first));
  }
  side.choice->setCurrentIndex(side.choice->findData(wanted));
}

void DiffView::fillSources() {
  isFilling_ = true;
  QString a = a_.wanted.isEmpty() ? sourceA() : a_.wanted;
  QString b = b_.wanted.isEmpty() ? sourceB() : b_.wanted;
  if (a.isEmpty() || b.isEmpty()) {
    const auto [first, second] = firstDifference(workbench_.catalog());
    if (a.isEmpty()) a = first;
    if (b.isEmpty()) b = second;
  }
  fill(a_, a);
  fill(b_, b);
  isFilling_ = false;
  for (Side* side : {&a_, &b_}) {
    const QString shown = side->choice->currentData().toString();
    if (!workbench_.catalog().items.empty()) side->wanted.clear();
    if (shown != side->asked) ask(*side);
  }
  show();
}

void DiffView::choose(const QString& a, const QString& b) {
  a_.wanted = a;
  b_.wanted = b;
  // A view that is opened with the window comes before the catalog.
  if (!workbench_.catalog().items.empty()) fillSources();
}

void DiffView::swapSides() {
  choose(sourceB(), sourceA());
  Q_EMIT sourcesChosen();
}

QString DiffView::sourceA() const { return a_.choice->currentData().toString(); }
QString DiffView::sourceB() const { return b_.choice->currentData().toString(); }
QString DiffView::error() const { return !a_.error.isEmpty() ? a_.error : b_.error; }
bool DiffView::isBusy() const { return a_.check->isRunning() || b_.check->isRunning(); }

QString DiffView::nameOf(const Side& side) const {
  QString name = side.choice->currentText();
  if (name.size() > 48) name = name.left(47) + QChar(0x2026);
  return name;
}

std::optional<std::string> DiffView::experimentText() const {
  for (const Page* page : window()->findChildren<Page*>()) {
    if (auto text = page->experimentText()) return text;
  }
  return {};
}

std::string DiffView::textOf(const QString& source, QString& failure) const {
  const QString kind = source.section(QLatin1Char(':'), 0, 0);
  const std::string name = source.section(QLatin1Char(':'), 1).toStdString();
  const Catalog& catalog = workbench_.catalog();
  try {
    if (kind == QLatin1String("run")) return toToml(workbench_.store().config(std::stoll(name)));
    if (kind == QLatin1String("form")) {
      if (const auto text = experimentText()) return *text;
      failure = tr("The form was not opened yet: open Configure first.");
      return {};
    }
    for (const ItemCard& card : catalog.items) {
      if (card.kind != ItemKind::Architecture) continue;
      const bool isIts =
          kind == QLatin1String("preset") ? card.schema.preset(name) != nullptr : card.id == name;
      if (!isIts) continue;
      Document document = freshDocument(catalog, card.id);
      document.title = name;
      document.erase("model.preset");
      if (kind == QLatin1String("preset")) document.set("model.preset", name);
      return toText(document);
    }
    failure = tr("\u201c%1\u201d is not there any more: choose another configuration.").arg(source);
  } catch (const std::exception& error) {
    failure = QString::fromUtf8(error.what());
  }
  return {};
}

void DiffView::ask(Side& side) {
  side.asked = side.choice->currentData().toString();
  side.report.reset();
  side.error.clear();
  side.check->cancel();
  if (side.asked.isEmpty()) {
    show();
    return;
  }
  const std::string text = textOf(side.asked, side.error);
  side.text = QString::fromStdString(text);
  if (!text.empty()) side.check->ask(text);
  show();
}

std::optional<Json> DiffView::configOf(const Side& side) {
  if (!side.report) return std::nullopt;
  const Json& runs = stateList(*side.report, "runs");
  if (runs.empty() || !stateMember(runs.front(), "config").is_object()) return std::nullopt;
  return stateMember(runs.front(), "config");
}

void DiffView::show() {
  const auto problemOf = [this](const Side& side, const QString& name) -> QString {
    if (!side.error.isEmpty()) return name + QStringLiteral(": ") + side.error;
    if (!side.report || !blocksFromJson(*side.report).empty()) return {};
    QStringList sentences;
    for (const Json& one : side.report->value("problems", Json::array())) {
      if (!one.is_object()) continue;
      const std::string key = one.value("key", std::string()),
                        message = one.value("message", std::string());
      sentences << QString::fromStdString(key.empty() ? message : key + ": " + message);
    }
    return name + QStringLiteral(": ") +
           (sentences.isEmpty() ? tr("the model has no blocks to compare")
                                : sentences.mid(0, 3).join(QStringLiteral("; ")));
  };
  QStringList problems;
  for (const auto& [side, name] : {std::pair<const Side*, QString>{&a_, tr("A")}, {&b_, tr("B")}}) {
    const QString problem = problemOf(*side, name);
    if (!problem.isEmpty()) problems << problem;
  }
  const bool isReady = a_.report && b_.report && problems.isEmpty();
  ablate_->setEnabled(isReady);
  onlyChanges_->setEnabled(isReady);
  note_->hide();
  groups_.clear();
  if (!isReady) {
    totals_->setText(tr("Architecture, block by block"));
    message_->setProperty("role", problems.isEmpty() ? "muted" : "error");
    message_->setStyleSheet(QString());
    if (!problems.isEmpty()) {
      message_->setText(problems.join(QLatin1Char('\n')));
    } else if (isBusy()) {
      message_->setText(tr("Both are built to count their blocks: a second or two."));
    } else {
      message_->setText(
          tr("Choose two configurations: their blocks are shown side by side, with the cost of "
             "each difference."));
    }
    stack_->setCurrentIndex(1);
    return;
  }
  groups_ = groupBlocks(alignBlocks(blocksFromJson(*a_.report), blocksFromJson(*b_.report)));
  const auto total = [](const Side& side, const char* key) {
    return stateNumber(stateTable(*side.report, "totals"), key);
  };
  const double parametersA = total(a_, "parameters"), parametersB = total(b_, "parameters"),
               flopsA = total(a_, "flops"), flopsB = total(b_, "flops");
  const auto share = [](double before, double after) {
    return before > 0 ? QStringLiteral(" (%1%2\u202f%)")
                            .arg(after >= before ? QStringLiteral("+") : QStringLiteral("\u2212"),
                                 number(std::abs(after / before - 1) * 100, 1))
                      : QString();
  };
  totals_->setText(
      tr("<b>%1</b> to <b>%2</b>: parameters %3 \u2192 %4, %5%6 \u00b7 MFLOP per sample %7 \u2192 "
         "%8, %9")
          .arg(nameOf(a_).toHtmlEscaped(), nameOf(b_).toHtmlEscaped(),
               count(static_cast<std::int64_t>(parametersA)),
               count(static_cast<std::int64_t>(parametersB)),
               signedCount(static_cast<std::int64_t>(parametersB - parametersA)),
               share(parametersA, parametersB), megaText(flopsA), megaText(flopsB),
               signedMega(flopsB - flopsA)) +
      share(flopsA, flopsB));
  showBlocks();
  showKeys();
  stack_->setCurrentIndex(0);
}

void DiffView::ablate() {
  const auto a = configOf(a_), b = configOf(b_);
  if (!a || !b || !a->contains("model") || !b->contains("model")) return;
  Problem problem;
  const auto base = parseDocument(a_.text.toStdString(), problem);
  if (!base) {
    workbench_.showMessage(
        tr("A is not an experiment file: %1").arg(QString::fromStdString(problem.message)));
    return;
  }
  const Ablation ablation =
      ablationOf(*base, nameOf(a_), (*a)["model"], nameOf(b_), (*b)["model"], workbench_.catalog());
  workbench_.configure(ablation.text, QString());
  workbench_.showMessage(
      tr("%1 of %2 to %3 are ready to start.")
          .arg(counted(ablation.variants.size(), tr("variant"), tr("variants")), nameOf(a_),
               nameOf(b_)) +
      (ablation.left > 0 ? tr(" %1 differences exceed the limit of variants.").arg(ablation.left)
                         : QString()));
}

void DiffView::restyle() { show(); }

}  // namespace vitrine::ui
