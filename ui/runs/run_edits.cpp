#include "ui/runs/run_edits.h"

#include <QFontMetrics>
#include <algorithm>
#include <map>
#include <memory>
#include <utility>

#include "core/base/joined.h"
#include "core/base/text.h"
#include "core/store/run_facts.h"
#include "ui/kit/questions.h"
#include "ui/kit/theme.h"
#include "ui/runs/tags_dialog.h"

namespace vitrine::ui {

namespace {

std::vector<std::string> linesOf(const std::string& text) {
  return text.empty() ? std::vector<std::string>{} : split(text, '\n');
}

/// "3, baseline" and so on, a run a line, as far as a dialog has room for names and lines.
QString listOf(StudioWorkbench& workbench, const std::vector<std::int64_t>& runs,
               const QFontMetrics& metrics) {
  constexpr int kMostNames = 6;
  QStringList lines;
  for (const std::int64_t id : runs) {
    if (lines.size() == kMostNames) {
      lines << RunEdits::tr("and %1 more").arg(count(std::ssize(runs) - kMostNames));
      break;
    }
    const store::RunRow* row = workbench.run(id);
    const QString name = row == nullptr ? QString() : QString::fromStdString(row->name);
    // The end of a name tells it from others as its beginning does.
    lines << metrics.elidedText(RunEdits::tr("%1, %2").arg(id).arg(name), Qt::ElideMiddle, px(380));
  }
  return lines.join(QLatin1Char('\n'));
}

}  // namespace

RunEdits::RunEdits(StudioWorkbench& workbench, QWidget* window)
    : QObject(window), workbench_(workbench), window_(window) {}

std::vector<std::string> RunEdits::tagsOf(const QString& line) {
  std::vector<std::string> tags;
  for (const QString& part : line.split(QLatin1Char(','), Qt::SkipEmptyParts)) {
    std::string tag = part.simplified().toStdString();
    if (!tag.empty() && std::find(tags.begin(), tags.end(), tag) == tags.end())
      tags.push_back(std::move(tag));
  }
  return tags;
}

/// The version is read before the text: a change between the two is met when this one is stored.
RunEdits::Change RunEdits::changeOf(std::int64_t run, store::RunField field) {
  store::RunReader& store = workbench_.store();
  Change change{.run = run, .version = store.version(run, field)};
  const std::string* typed = workbench_.waiting(run, field);
  if (typed != nullptr)
    change.before = *typed;
  else if (field == store::RunField::Name)
    change.before = store.run(run).name;
  else if (field == store::RunField::Note)
    change.before = store.note(run);
  else if (field == store::RunField::Tags)
    change.before = joined(store.tags(run), "\n");
  else
    change.before = store.mark(run, field);
  change.after = change.before;
  return change;
}

void RunEdits::rename(std::int64_t run, const QString& name) {
  if (workbench_.run(run) == nullptr) return;  // deleted while its name was typed
  workbench_.attempt([&] {
    Change change = changeOf(run, store::RunField::Name);
    change.after = name.trimmed().toStdString();
    if (change.after.empty()) return;
    const QString sentence =
        tr("Run %1 is called \u201c%2\u201d now.").arg(run).arg(name.trimmed());
    save(store::RunField::Name, {std::move(change)}, sentence);
  });
}

void RunEdits::askTags(const std::vector<std::int64_t>& runs) {
  if (runs.empty()) return;
  workbench_.attempt([&] {
    std::vector<Change> changes;
    std::map<std::string, std::size_t> counts;  // of the chosen runs that have a tag
    for (const std::int64_t run : runs) {
      changes.push_back(changeOf(run, store::RunField::Tags));
      for (const std::string& tag : linesOf(changes.back().before)) ++counts[tag];
    }
    for (const auto& [id, tags] : store::tagsByRun(workbench_.store())) {
      if (workbench_.run(id) == nullptr) continue;
      for (const std::string& tag : tags) counts.try_emplace(tag, 0);
    }
    TagsDialog dialog(counts, runs.size(), window_);
    if (dialog.exec() != QDialog::Accepted) return;
    for (Change& change : changes)
      change.after = joined(dialog.applied(linesOf(change.before)), "\n");
    save(store::RunField::Tags, std::move(changes),
         tr("Stored the tags of %1.").arg(workbench_.namesOf(runs)));
  });
}

void RunEdits::askNote(const std::vector<std::int64_t>& runs) {
  if (runs.empty()) return;
  workbench_.attempt([&] {
    std::vector<Change> changes;
    for (const std::int64_t run : runs) changes.push_back(changeOf(run, store::RunField::Note));
    const bool isOne = runs.size() == 1;
    const QString list = listOf(workbench_, runs, window_->fontMetrics());
    const auto typed =
        askText(window_, tr("Note"),
                isOne ? tr("Note of run %1:").arg(list)
                      : tr("Added to the notes of %1 runs:\n%2").arg(count(std::ssize(runs)), list),
                isOne ? QString::fromStdString(changes.front().before) : QString(),
                tr("Store note"), QInputDialog::UsePlainTextEditForTextInput);
    if (!typed || (!isOne && typed->trimmed().isEmpty())) return;
    const QString& text = *typed;
    for (Change& change : changes) {
      if (isOne || change.before.empty())
        change.after = text.toStdString();
      else
        change.after = change.before + "\n" + text.toStdString();
    }
    save(store::RunField::Note, std::move(changes),
         isOne ? tr("Stored the note of %1.").arg(workbench_.namesOf(runs))
               : tr("Stored the notes of %1.").arg(workbench_.namesOf(runs)));
  });
}

void RunEdits::mark(store::RunField field, const std::map<std::int64_t, std::string>& values,
                    const QString& sentence) {
  workbench_.attempt([&] {
    std::vector<Change> changes;
    for (const auto& [run, value] : values) {
      changes.push_back(changeOf(run, field));
      changes.back().after = value;
    }
    save(field, std::move(changes), sentence);
  });
}

void RunEdits::save(store::RunField field, std::vector<Change> changes, const QString& sentence) {
  std::erase_if(changes, [](const Change& change) { return change.before == change.after; });
  if (changes.empty()) return;
  /// Answers that are still to come, and what they said so far.
  struct Answers {
    std::size_t left = 0;
    std::vector<Change> stored;
    QString error;
  };
  auto answers = std::make_shared<Answers>();
  answers->left = changes.size();
  for (const Change& change : changes) {
    workbench_.edit(change.run, field, change.after, change.version, this,
                    [this, answers, change, field, sentence](const EditOutcome& outcome) {
                      const QString error =
                          outcome.isConflict
                              ? tr("Not saved: another user changed it first. Your text is in the "
                                   "run's history.")
                              : outcome.error;
                      // It has waited until now, and its sentence came when it was typed.
                      if (answers->left == 0) {
                        if (!error.isEmpty()) return workbench_.showError(error);
                        for (Change& one : answers->stored)
                          if (one.run == change.run && !outcome.isWaiting)
                            one.version = outcome.version;
                        return;
                      }
                      if (!error.isEmpty()) {
                        answers->error = error;
                      } else {
                        answers->stored.push_back(change);
                        answers->stored.back().version = outcome.version;
                        if (workbench_.link() == nullptr) workbench_.refresh(change.run);
                      }
                      if (--answers->left > 0) return;
                      if (answers->stored.empty()) return workbench_.showError(answers->error);
                      const QString whole = answers->error.isEmpty()
                                                ? sentence
                                                : sentence + QLatin1Char(' ') + answers->error;
                      Q_EMIT workbench_.offered(whole, tr("Undo"), [this, field, answers] {
                        takeBack(field, answers->stored);
                      });
                    });
  }
}

void RunEdits::takeBack(store::RunField field, const std::vector<Change>& changes) {
  std::vector<Change> back;
  std::vector<std::int64_t> runs;
  for (const Change& change : changes) {
    back.push_back({change.run, change.version, change.after, change.before});
    runs.push_back(change.run);
  }
  save(field, std::move(back),
       tr("Undid the change to the %1 of %2.")
           .arg(QString::fromStdString(wordsOf(field)), workbench_.namesOf(runs)));
}

}  // namespace vitrine::ui
