// Notes and tags in the inspector: what is typed, kept while another run is shown, and stored. Also
// what happens when another user changed them meanwhile.
#include <QPushButton>

#include "core/base/text.h"
#include "ui/kit/small_widgets.h"
#include "ui/kit/theme.h"
#include "ui/shell/inspector.h"

namespace vitrine::ui {
namespace {

QString tagLine(const std::vector<std::string>& tags) {
  QStringList list;
  for (const std::string& tag : tags) list << QString::fromStdString(tag);
  return list.join(QStringLiteral(", "));
}

}  // namespace

ConflictBar::ConflictBar(const QString& what, QWidget* parent) : QFrame(parent) {
  auto* sentence = withRole(
      new QLabel(tr("Another user changed the %1. Your text is above; theirs is:").arg(what)),
      "warn");
  sentence->setWordWrap(true);
  text_ = new QLabel;
  text_->setTextFormat(Qt::PlainText);
  text_->setWordWrap(true);
  text_->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
  text_->setAccessibleName(tr("Text of another user: %1").arg(what));
  auto* mine = withName(new QPushButton(tr("Keep mine")), tr("Keep my %1").arg(what),
                        tr("Replaces their text, which stays in the run's history"));
  auto* theirs = withName(new QPushButton(tr("Take theirs")), tr("Take their %1").arg(what),
                          tr("Keeps their text; yours stays in the run's history"));
  auto* buttons = rowIn(nullptr, {});
  buttons->addWidget(mine);
  buttons->addWidget(theirs);
  buttons->addStretch();
  auto* layout = columnIn(this, {0, 0, 0, px(4)}, px(4));
  layout->addWidget(sentence);
  layout->addWidget(text_);
  layout->addLayout(buttons);
  connect(mine, &QPushButton::clicked, this, &ConflictBar::mineChosen);
  connect(theirs, &QPushButton::clicked, this, &ConflictBar::theirsChosen);
  hide();
}

void ConflictBar::open(const QString& theirs, std::int64_t version) {
  version_ = version;
  text_->setText(theirs.isEmpty() ? tr("(nothing)") : theirs);
  setVisible(true);
}

/// What others wrote meanwhile, where nothing was typed here. The version is read before the text:
/// a change between the two is met when this one is saved. What is not stored yet is newer than
/// what was read.
void Inspector::showEdits() {
  store::RunReader& store = workbench_.store();
  const auto waiting = [this](store::RunField field) { return workbench_.waiting(run_, field); };
  const std::int64_t note = store.version(run_, store::RunField::Note);
  if (note != noteVersion_ && !note_->document()->isModified() && !noteConflict_->isOpen()) {
    const QSignalBlocker quiet(note_);
    const std::string* typed = waiting(store::RunField::Note);
    note_->setPlainText(QString::fromStdString(typed != nullptr ? *typed : store.note(run_)));
    noteVersion_ = note;
  }
  const std::int64_t tags = store.version(run_, store::RunField::Tags);
  if (tags != tagsVersion_ && !tags_->isModified() && !tagsConflict_->isOpen()) {
    const std::string* typed = waiting(store::RunField::Tags);
    tags_->setText(tagLine(typed != nullptr ? split(*typed, '\n') : store.tags(run_)));
    tagsVersion_ = tags;
  }
}

void Inspector::saveNote() {
  noteLater_.stop();
  if (run_ == 0 || noteConflict_->isOpen()) return;
  const std::int64_t run = run_;
  const QString text = note_->toPlainText();
  workbench_.edit(run, store::RunField::Note, text.toStdString(), noteVersion_, this,
                  [this, run, text](const EditOutcome& outcome) {
                    if (!outcome.error.isEmpty()) workbench_.showError(outcome.error);
                    if (run != run_ || !outcome.error.isEmpty()) return;
                    if (outcome.isConflict) {
                      noteConflict_->open(QString::fromStdString(outcome.theirs), outcome.version);
                      return;
                    }
                    if (!outcome.isWaiting) noteVersion_ = outcome.version;
                    tellStored(outcome.isWaiting);
                    if (note_->toPlainText() == text) note_->document()->setModified(false);
                  });
}

void Inspector::tellStored(bool isWaiting) {
  stored_->setText(isWaiting ? tr("not stored yet") : tr("stored"));
}

std::string Inspector::joinedTags() const {
  std::string tags;
  for (const QString& tag : tags_->text().split(QLatin1Char(','), Qt::SkipEmptyParts)) {
    if (!tag.trimmed().isEmpty()) tags += (tags.empty() ? "" : "\n") + tag.trimmed().toStdString();
  }
  return tags;
}

void Inspector::saveTags() {
  if (run_ == 0 || tagsConflict_->isOpen() || !tags_->isModified()) return;
  const std::int64_t run = run_;
  const QString typed = tags_->text();
  workbench_.edit(run, store::RunField::Tags, joinedTags(), tagsVersion_, this,
                  [this, run, typed](const EditOutcome& outcome) {
                    if (!outcome.error.isEmpty()) workbench_.showError(outcome.error);
                    if (run != run_ || !outcome.error.isEmpty()) return;
                    if (outcome.isConflict) {
                      QString theirs = QString::fromStdString(outcome.theirs);
                      tagsConflict_->open(theirs.replace(QLatin1Char('\n'), QStringLiteral(", ")),
                                          outcome.version);
                      return;
                    }
                    if (!outcome.isWaiting) tagsVersion_ = outcome.version;
                    tellStored(outcome.isWaiting);
                    if (tags_->text() == typed) tags_->setModified(false);
                  });
}

void Inspector::keepMine(store::RunField field) {
  if (field == store::RunField::Note) {
    noteVersion_ = noteConflict_->version();
    noteConflict_->hide();
    saveNote();
  } else {
    tagsVersion_ = tagsConflict_->version();
    tagsConflict_->hide();
    tags_->setModified(true);
    saveTags();
  }
}

void Inspector::takeTheirs(store::RunField field) {
  keepTyped(field);  // as it is now: more may have been typed since the conflict
  if (field == store::RunField::Note) {
    note_->document()->setModified(false);
    noteVersion_ = -1;
  } else {
    tags_->setModified(false);
    tagsVersion_ = -1;
  }
  workbench_.attempt([&] { showEdits(); });
}

/// Stores what was typed, or has it kept next to what another user wrote.
void Inspector::keepTyped(store::RunField field) {
  const bool isNote = field == store::RunField::Note;
  // Where another user was faster it is among the edits now; where the run is gone, so is the
  // note.
  const auto noCallback = [](const EditOutcome&) {};
  if (isNote && note_->document()->isModified()) {
    workbench_.edit(run_, field, note_->toPlainText().toStdString(), noteVersion_, nullptr,
                    noCallback);
    note_->document()->setModified(false);  // never stored with another run, too
  } else if (!isNote && tags_->isModified()) {
    workbench_.edit(run_, field, joinedTags(), tagsVersion_, nullptr, noCallback);
    tags_->setModified(false);
  }
  (isNote ? noteConflict_ : tagsConflict_)->hide();
}

void Inspector::leaveEdits() {
  noteLater_.stop();
  if (run_ == 0 || content_ == nullptr) return;
  keepTyped(store::RunField::Note);
  keepTyped(store::RunField::Tags);
}

}  // namespace vitrine::ui
