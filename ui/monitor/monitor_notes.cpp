// Notes on curves: rows of the database, which other windows and other machines change as well.
#include <optional>

#include "core/base/error.h"
#include "core/base/read_json.h"
#include "core/store/tables/curve_notes.h"
#include "ui/kit/questions.h"
#include "ui/kit/settings.h"
#include "ui/kit/theme.h"
#include "ui/kit/value_text.h"
#include "ui/monitor/monitor_page.h"
#include "ui/workbench/remote_link.h"

namespace vitrine::ui {
namespace {

QString notesKey(const std::string& databaseUuid) {
  return QStringLiteral("notes/") + QString::fromStdString(databaseUuid);
}

QString wordsOfNote(const QString& typed) {
  return typed.trimmed().left(static_cast<qsizetype>(store::kLongestCurveNote));
}

/// As they lie in the settings: [{run: a UUID, metric, step, text}]; other entries are omitted.
std::vector<CurveNote> storedNotes(const QString& key) {
  const QByteArray text = setting(key, QByteArray()).toByteArray();
  const Json list = readJson(text.toStdString());
  std::vector<CurveNote> notes;
  for (const Json& entry : list.is_array() ? list : Json::array()) {
    const auto step = stateInteger(entry, "step");
    if (!step || !stateMember(entry, "run").is_string()) continue;
    CurveNote note;
    note.runUuid = stateText(entry, "run");
    note.metric = stateText(entry, "metric");
    note.step = *step;
    note.text = wordsOfNote(stateWords(entry, "text"));
    if (!note.metric.empty() && !note.text.isEmpty()) notes.push_back(std::move(note));
  }
  return notes;
}

void forgetStoredNotes(const QString& key, const std::string& runUuid) {
  Json left = Json::array();
  for (const CurveNote& note : storedNotes(key)) {
    if (note.runUuid == runUuid) continue;
    left.push_back({{"run", note.runUuid},
                    {"metric", note.metric},
                    {"step", note.step},
                    {"text", note.text.toStdString()}});
  }
  if (left.empty()) {
    forgetSetting(key);
  } else {
    storeSetting(key, QByteArray::fromStdString(left.dump()));
  }
}

}  // namespace

std::vector<store::CurveNoteRow> MonitorPage::shownNotes(std::int64_t run) const {
  if (const std::string* waiting = workbench_.waiting(run, store::RunField::CurveNotes)) {
    try {
      return store::curveNotesFromText(*waiting);
    } catch (const Error&) {  // the file in which it waited is not as it was written
    }
  }
  const auto known = notes_.find(run);
  return known == notes_.end() ? std::vector<store::CurveNoteRow>() : known->second.read.notes;
}

void MonitorPage::giveNotes(PlotCard& card) {
  std::vector<CurveNote> shown;
  std::map<std::int64_t, std::int64_t> curveOf;  // a run may be a part of the curve of another
  for (const Line& line : linesOf(card))
    for (const std::int64_t run : line.runs) curveOf[run] = line.runs.front();
  for (const std::int64_t id : workbench_.selection().drawn()) {
    for (const store::CurveNoteRow& row : shownNotes(id)) {
      if (row.metric != card.metric()) continue;
      CurveNote note{.metric = row.metric};
      const auto curve = curveOf.find(id);
      note.run = curve == curveOf.end() ? id : curve->second;
      note.step = row.step;
      note.text = wordsOfNote(QString::fromStdString(row.text));
      shown.push_back(std::move(note));
    }
  }
  card.plot().setNotes(std::move(shown));
}

void MonitorPage::takeNotes(std::map<std::int64_t, NotesOfRun> notes,
                            const std::map<std::int64_t, std::int64_t>& sequences) {
  bool isChanged = false;
  for (auto& [id, read] : notes) {
    Notes& known = notes_[id];
    known.changeSequence = sequences.at(id);
    // What was stored here while this was read is newer.
    if (read.version < known.read.version) continue;
    isChanged = isChanged || read.notes != known.read.notes;
    known.read = std::move(read);
  }
  if (!isChanged) return;
  for (PlotCard* card : cards_) giveNotes(*card);
}

void MonitorPage::editNotes(std::int64_t run, const NoteChange& change,
                            const std::function<void()>& onStored) {
  workbench_.attempt([&] {
    // What stands now, and not what was read for the plots. The version comes first, so that it is
    // not newer than the list: what others change after it stays.
    store::RunReader& store = workbench_.store();
    std::int64_t version = store.version(run, store::RunField::CurveNotes);
    const std::string* waiting = workbench_.waiting(run, store::RunField::CurveNotes);
    auto standing =
        waiting == nullptr ? store.curveNotes(run) : store::curveNotesFromText(*waiting);
    // What another machine has stored may not be in the copy yet.
    const auto known = notes_.find(run);
    if (waiting == nullptr && known != notes_.end() && known->second.read.version > version) {
      version = known->second.read.version;
      standing = known->second.read.notes;
    }
    std::set<store::CurveNoteRow> notes(standing.begin(), standing.end());
    change(notes);
    const std::string text = store::curveNotesText({notes.begin(), notes.end()});
    workbench_.edit(run, store::RunField::CurveNotes, text, version, this,
                    [this, run, text, version, onStored](EditOutcome outcome) {
                      const bool isStored =
                          !outcome.isConflict && !outcome.isWaiting && outcome.error.isEmpty();
                      if (isStored && onStored) onStored();
                      // Merged with what others wrote: this list is not that of the version.
                      if (isStored && outcome.version != version + 1) outcome.version = 0;
                      notesAnswered(run, text, outcome);
                    });
  });
  for (PlotCard* card : cards_) giveNotes(*card);
}

void MonitorPage::notesAnswered(std::int64_t run, const std::string& text,
                                const EditOutcome& outcome) {
  if (!outcome.error.isEmpty()) {
    workbench_.showError(outcome.error);
  } else if (outcome.isConflict) {
    workbench_.showError(tr("Your note was not added: others changed the notes. Add it again."));
  } else if (!outcome.isWaiting) {
    // Others may have added some: those come with the next reading, as all do of another machine.
    Notes& known = notes_[run];
    known.read = {outcome.version, workbench_.link() == nullptr ? workbench_.store().curveNotes(run)
                                                                : store::curveNotesFromText(text)};
  }
  for (PlotCard* card : cards_) giveNotes(*card);
}

void MonitorPage::addNote(std::int64_t run, const std::string& metric, std::int64_t step,
                          const QString& text) {
  const QString words = wordsOfNote(text);
  if (workbench_.run(run) == nullptr || words.isEmpty()) return;
  editNotes(run, [&](std::set<store::CurveNoteRow>& notes) {
    notes.insert({metric, step, words.toStdString()});
  });
}

void MonitorPage::removeNotes(const std::string& metric) {
  for (const std::int64_t id : workbench_.selection().drawn()) {
    std::vector<store::CurveNoteRow> unwanted = shownNotes(id);
    std::erase_if(unwanted, [&](const store::CurveNoteRow& note) { return note.metric != metric; });
    if (unwanted.empty()) continue;
    editNotes(id, [&](std::set<store::CurveNoteRow>& notes) {
      for (const store::CurveNoteRow& note : unwanted) notes.erase(note);
    });
  }
}

void MonitorPage::askRemoveNotes(PlotCard& card) {
  const auto notes = static_cast<std::int64_t>(card.plot().notes().size());
  const std::string metric = card.metric();  // the card may go while the question is open
  if (notes > 1) {
    const QString text = tr("Remove %1 from %2? This cannot be undone.")
                             .arg(counted(notes, tr("note"), tr("notes")), card.card().title);
    if (!isConfirmed(this, tr("Remove notes"), text, tr("Remove"))) return;
  }
  removeNotes(metric);
}

void MonitorPage::moveNotes() {
  const QString key = notesKey(databaseUuid_);
  std::map<std::string, std::set<store::CurveNoteRow>> stored;  // by run
  for (const CurveNote& note : storedNotes(key))
    stored[note.runUuid].insert({note.metric, note.step, note.text.toStdString()});
  workbench_.attempt([&] {
    for (const auto& [uuid, notes] : stored) {
      const std::optional<store::RunRow> run = workbench_.store().runByUuid(uuid);
      if (!run) continue;  // it may come with an import
      // A note that is there already stays one: this may have been cut short before.
      editNotes(
          run->id,
          [&notes](std::set<store::CurveNoteRow>& all) { all.insert(notes.begin(), notes.end()); },
          [key, uuid] { forgetStoredNotes(key, uuid); });
    }
  });
}

}  // namespace vitrine::ui
