// Changes, sweep, variants, planned runs and TOML, one below the other.
#include "ui/configure/plan/side_panel.h"

#include <QComboBox>
#include <QFrame>
#include <QLabel>
#include <QPlainTextEdit>
#include <QScrollArea>
#include <QScrollBar>
#include <QTextBlock>
#include <algorithm>

#include "core/config/edit/document.h"
#include "ui/configure/form/collapsible_section.h"
#include "ui/configure/form/sweep_editor.h"
#include "ui/configure/form/toml_highlighter.h"
#include "ui/configure/form/wording.h"
#include "ui/configure/plan/changes_view.h"
#include "ui/configure/plan/planned_runs.h"
#include "ui/kit/small_widgets.h"
#include "ui/kit/theme.h"
#include "ui/kit/value_text.h"

namespace vitrine::ui {

SidePanel::SidePanel(QWidget* parent)
    : QWidget(parent),
      changes_(new ChangesView(this)),
      sweep_(new SweepEditor(this)),
      plannedRuns_(new PlannedRunsView(this)),
      text_(new QPlainTextEdit(this)),
      plannedRunsNote_(wrappedLabel("small", this)),
      problems_(wrappedLabel("error", this)),
      changesSection_(new CollapsibleSection(QStringLiteral("changes"), tr("Changes"), this)),
      runsSection_(new CollapsibleSection(QStringLiteral("runs"), tr("Planned runs"), this)),
      textSection_(new CollapsibleSection(QStringLiteral("toml"), QStringLiteral("TOML"), this)) {
  paintAs(this, "panel");
  auto* outer = columnIn(this, {});
  auto* scroll = new QScrollArea(this);
  scroll->setWidgetResizable(true);
  scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  scroll->setFocusPolicy(Qt::NoFocus);
  outer->addWidget(scroll);
  auto* content = new QWidget(scroll);
  scroll->setWidget(content);
  auto* column = columnIn(content, {px(12), px(8), px(12), px(12)}, px(8));

  changesSection_->corner()->addWidget(changes_->choice());
  changesSection_->body()->addWidget(changes_);
  column->addWidget(changesSection_);
  column->addWidget(makeRule(content));
  column->addWidget(sweep_);
  column->addWidget(makeRule(content));
  runsSection_->body()->addWidget(plannedRunsNote_);
  runsSection_->body()->addWidget(plannedRuns_);
  column->addWidget(runsSection_);
  column->addWidget(makeRule(content));
  text_->setAccessibleName(tr("The experiment as TOML"));
  useMonoFont(*text_);
  text_->setLineWrapMode(QPlainTextEdit::NoWrap);
  text_->setTabChangesFocus(true);
  text_->setMinimumHeight(px(220));
  text_->setUndoRedoEnabled(false);  // the page's Undo goes over form and text alike
  new TomlHighlighter(text_->document());
  textSection_->body()->addWidget(text_, 1);
  problems_->setTextInteractionFlags(Qt::TextSelectableByMouse);
  problems_->setAccessibleName(tr("Problems of the text"));
  problems_->hide();
  textSection_->body()->addWidget(problems_);
  column->addWidget(textSection_, 1);
  column->addStretch(0);

  connect(text_, &QPlainTextEdit::textChanged, this, &SidePanel::textEdited);
  connect(changes_, &ChangesView::againstChanged, this, &SidePanel::viewChanged);
  for (CollapsibleSection* section : sections())
    connect(section, &CollapsibleSection::toggled, this, &SidePanel::viewChanged);
}

std::vector<CollapsibleSection*> SidePanel::sections() const {
  std::vector<CollapsibleSection*> all{changesSection_, runsSection_, textSection_};
  all.insert(all.end(), sweep_->sections().begin(), sweep_->sections().end());
  return all;
}

void SidePanel::setPlannedRuns(const QString& title, const QString& note) {
  plannedRunsTitle_ = title;
  runsSection_->setTitle(title);
  sayIn(*plannedRunsNote_, note);
}

void SidePanel::showProblems(const std::vector<Problem>& problems) {
  QList<QTextEdit::ExtraSelection> marks;
  QStringList sentences;
  QColor tint = themeColors().bad;
  tint.setAlphaF(0.24F);
  for (const Problem& problem : problems) {
    QString sentence;
    if (problem.line > 0) {
      QTextEdit::ExtraSelection mark;
      mark.format.setBackground(tint);
      mark.format.setProperty(QTextFormat::FullWidthSelection, true);
      mark.cursor = QTextCursor(text_->document()->findBlockByNumber(problem.line - 1));
      marks << mark;
      sentence = tr("line %1: ").arg(problem.line);
    }
    sentences << sentence + sentenceOf(problem);
  }
  text_->setExtraSelections(marks);
  sayIn(*problems_, sentences.join(QLatin1Char('\n')));
  sweep_->showProblems(problems);
}

void SidePanel::setText(const QString& text) {
  const QString old = text_->toPlainText();
  if (old == text) return;
  // Only what differs is put in: a cursor before or behind it stays where it is.
  const qsizetype shorter = std::min(old.size(), text.size());
  qsizetype front = 0;
  while (front < shorter && old[front] == text[front]) ++front;
  qsizetype back = 0;
  while (back < shorter - front && old[old.size() - 1 - back] == text[text.size() - 1 - back])
    ++back;
  const QSignalBlocker quiet(text_);
  const int scrolled = text_->verticalScrollBar()->value();
  QTextCursor edit(text_->document());
  edit.setPosition(static_cast<int>(front));
  edit.setPosition(static_cast<int>(old.size() - back), QTextCursor::KeepAnchor);
  edit.insertText(text.mid(front, text.size() - front - back));
  text_->verticalScrollBar()->setValue(scrolled);
}

void SidePanel::showText() { textSection_->setOpen(true); }

Json SidePanel::viewState() const {
  Json open = Json::object();
  for (const CollapsibleSection* section : sections())
    open[section->name().toStdString()] = section->isOpen();
  const auto against = changes_->against();
  return {{"open", open},
          {"against", against == ChangesView::Against::Defaults  ? Json("defaults")
                      : against == ChangesView::Against::Nearest ? Json("nearest")
                                                                 : Json(changes_->run())},
          {"all_keys", changes_->showsAll()}};
}

void SidePanel::setViewState(const Json& state) {
  if (!state.is_object()) return;
  const Json& open = stateTable(state, "open");
  for (CollapsibleSection* section : sections())
    section->setOpen(stateFlag(open, section->name().toUtf8().constData(), section->isOpen()));
  changes_->setShowsAll(stateFlag(state, "all_keys", changes_->showsAll()));
  if (const auto run = stateInteger(state, "against")) changes_->compareWith(*run);
  const std::string against = stateText(state, "against");
  if (against == "nearest") changes_->setAgainst(ChangesView::Against::Nearest);
  if (against == "defaults") changes_->setAgainst(ChangesView::Against::Defaults);
}

}  // namespace vitrine::ui
