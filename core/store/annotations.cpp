#include "core/store/annotations.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "core/base/error.h"
#include "core/base/joined.h"
#include "core/base/read_json.h"
#include "core/base/text.h"
#include "core/store/run_reader.h"
#include "core/store/tables/curve_notes.h"
#include "core/store/tables/image_tags.h"
#include "core/store/tables/list_edits.h"
#include "core/store/tables/rows.h"
#include "core/store/tables/run_changes.h"
#include "core/store/tables/run_marks.h"

namespace vitrine::store {

namespace {

/// Texts of one field that are kept, of those that stood and of those that came too late. Lists of
/// tags on images are long.
int mostKept(RunField field) { return field == RunField::ImageTags ? 10 : 50; }

/// Whether changes of two people go together, as lists do.
bool canMerge(RunField field) {
  return field == RunField::CurveNotes || field == RunField::ImageTags;
}

/// Tags are kept as a list; notes on curves and tags of images are one, and texts stay as they are.
std::string storedText(RunField field, const std::string& text) {
  if (field != RunField::Tags) return text;
  Json list = Json::array();
  for (const std::string& tag : split(text, '\n')) {
    if (!tag.empty()) list.push_back(cleanUtf8(tag));
  }
  return dumpJson(list);
}

std::string shownText(RunField field, const std::string& stored) {
  if (field != RunField::Tags) return stored;
  std::vector<std::string> tags;
  const Json list = readJson(stored);
  for (const Json& tag : list.is_array() ? list : Json::array()) {
    if (tag.is_string()) tags.push_back(tag.get<std::string>());
  }
  return vitrine::joined(tags, "\n");
}

std::int64_t versionOf(Database& database, std::int64_t run, RunField field) {
  const std::int64_t version = database.integer(
      "SELECT coalesce(max(version), 0) FROM edit WHERE run_id = ? AND field = ? AND is_taken = 1",
      run, toString(field));
  return counted(version, "the " + toString(field) + " of " + nameOf(run));
}

bool hasEdits(Database& database, std::int64_t run, RunField field) {
  return database.any("SELECT 1 FROM edit WHERE run_id = ? AND field = ? AND is_taken = 1 LIMIT 1",
                      run, toString(field));
}

void write(Database& database, std::int64_t run, RunField field, const std::string& text) {
  switch (field) {
    case RunField::Name:
      database.run("UPDATE run SET name = ? WHERE id = ?", text, run);
      return;
    case RunField::Note:
      database.run("INSERT OR REPLACE INTO note(run_id, text, changed_at) VALUES (?, ?, ?)", run,
                   text, utcNow());
      return;
    case RunField::CurveNotes:
      database.run("DELETE FROM curve_note WHERE run_id = ?", run);
      for (const CurveNoteRow& note : curveNotesFromText(text)) {
        database.run("INSERT INTO curve_note(run_id, metric, step, text) VALUES (?, ?, ?, ?)", run,
                     note.metric, note.step, note.text);
      }
      return;
    case RunField::ImageTags:
      writeImageTags(database, run, imageTagsFromText(text));
      return;
    case RunField::Archived:
    case RunField::Baseline:
    case RunField::Colour:
      writeMark(database, run, field, text);
      return;
    case RunField::Tags:
      break;
  }
  database.run("DELETE FROM tag WHERE run_id = ?", run);
  for (const std::string& tag : split(text, '\n')) {
    if (tag.empty()) continue;
    database.run("INSERT OR IGNORE INTO tag(run_id, tag) VALUES (?, ?)", run, tag);
  }
}

/// What a user made of the list of version `basedOn`, done to the one that stands; nothing where
/// that list is not kept any more.
std::optional<std::string> mergedText(Database& database, std::int64_t run, RunField field,
                                      std::int64_t basedOn, const std::string& text,
                                      const std::string& standing) {
  Statement row = database.prepare(
      "SELECT text FROM edit WHERE run_id = ? AND field = ? AND is_taken = 1 AND version = ?");
  if (!row.with(run, toString(field), basedOn).step()) return std::nullopt;
  if (field == RunField::ImageTags) {
    const auto tags = mergedList(imageTagsFromText(row.text(0)), imageTagsFromText(text),
                                 imageTagsFromText(standing));
    checkImageTags(tags);
    return imageTagsText(tags);
  }
  const auto merged = mergedList(curveNotesFromText(row.text(0)), curveNotesFromText(text),
                                 curveNotesFromText(standing));
  checkCurveNotes(merged);
  return curveNotesText(merged);
}

enum class Outcome { Taken, TooLate };

void keep(Database& database, std::int64_t run, RunField field, std::int64_t version,
          Outcome outcome, const std::string& text) {
  const int isTaken = outcome == Outcome::Taken ? 1 : 0;
  database.run(
      "INSERT INTO edit(run_id, field, version, is_taken, at, text) VALUES (?, ?, ?, ?, ?, ?)", run,
      toString(field), version, isTaken, utcNow(), storedText(field, text));
  database.run(
      "DELETE FROM edit WHERE id IN (SELECT id FROM edit WHERE run_id = ? AND field = ? AND "
      "is_taken = ? ORDER BY id DESC LIMIT -1 OFFSET ?)",
      run, toString(field), isTaken, mostKept(field));
}

/// Stores `text` as the version after `now`.
void take(Database& database, std::int64_t run, RunField field, std::int64_t now,
          const std::string& standing, const std::string& text) {
  // The text before the first edit is a version too.
  if (!hasEdits(database, run, field)) keep(database, run, field, 0, Outcome::Taken, standing);
  write(database, run, field, text);
  keep(database, run, field, now + 1, Outcome::Taken, text);
  touch(database, run);
}

}  // namespace

EditConflict::EditConflict(const std::string& message, std::string stands, std::int64_t standsAs)
    : RefusedError(message), theirs(std::move(stands)), version(standsAs) {}
EditConflict::~EditConflict() = default;

std::int64_t Annotations::edit(std::int64_t run, RunField field, const std::string& typed,
                               std::int64_t basedOn) {
  Database& database = *database_;
  std::string standing, text = typed;
  bool isTooLate = false;
  const std::int64_t version = database.write([&] {
    static_cast<void>(stateOf(database, run));
    const std::int64_t now = versionOf(database, run, field);
    standing = field == RunField::Name         ? readRun(database, run).name
               : field == RunField::Note       ? readNote(database, run)
               : field == RunField::CurveNotes ? curveNotesText(readCurveNotes(database, run))
               : field == RunField::ImageTags  ? imageTagsText(readImageTags(database, run))
               : isMark(field)                 ? readMark(database, run, field)
                                               : vitrine::joined(readTags(database, run), "\n");
    if (text == standing) return now;
    isTooLate = basedOn != kWhateverStands && basedOn != now;
    if (isTooLate && canMerge(field)) {
      if (auto merged = mergedText(database, run, field, basedOn, text, standing)) {
        text = std::move(*merged);
        isTooLate = false;
        if (text == standing) return now;
      }
    }
    if (isTooLate) {
      keep(database, run, field, basedOn, Outcome::TooLate, text);
      return now;
    }
    take(database, run, field, now, standing, text);
    if (field == RunField::Baseline && !text.empty()) {
      for (const std::int64_t other : otherBaselines(database, run))
        take(database, other, field, versionOf(database, other, field),
             readMark(database, other, field), "");
    }
    return now + 1;
  });
  if (isTooLate) {
    const bool areMany = field == RunField::Tags || canMerge(field);
    throw EditConflict("the " + wordsOf(field) + " of " + nameOf(run) +
                           (areMany ? " were" : " was") + " changed by another user to '" +
                           shorten(standing, 200) +
                           "' while you were editing; your text is kept next to it: choose one",
                       standing, version);
  }
  return version;
}

std::int64_t Annotations::setName(std::int64_t run, const std::string& name, std::int64_t basedOn) {
  return edit(run, RunField::Name, name, basedOn);
}

std::int64_t Annotations::setNote(std::int64_t run, const std::string& text, std::int64_t basedOn) {
  return edit(run, RunField::Note, text, basedOn);
}

std::int64_t Annotations::setTags(std::int64_t run, const std::vector<std::string>& tags,
                                  std::int64_t basedOn) {
  std::vector<std::string> sorted;
  for (const std::string& tag : tags) {
    for (const std::string& line : split(tag, '\n')) {
      if (!line.empty()) sorted.push_back(line);
    }
  }
  std::sort(sorted.begin(), sorted.end());
  sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
  return edit(run, RunField::Tags, vitrine::joined(sorted, "\n"), basedOn);
}

std::int64_t Annotations::setCurveNotes(std::int64_t run, const std::vector<CurveNoteRow>& notes,
                                        std::int64_t basedOn) {
  checkCurveNotes(notes);
  return edit(run, RunField::CurveNotes, curveNotesText(notes), basedOn);
}

std::int64_t Annotations::setImageTags(std::int64_t run, const std::vector<ImageTagRow>& tags,
                                       std::int64_t basedOn) {
  checkImageTags(tags);
  return edit(run, RunField::ImageTags, imageTagsText(tags), basedOn);
}

std::int64_t Annotations::setMark(std::int64_t run, RunField field, const std::string& value,
                                  std::int64_t basedOn) {
  if (!isMark(field)) throw ConfigError("the " + wordsOf(field) + " of a run is not a mark of it");
  checkMark(field, value);
  return edit(run, field, value, basedOn);
}

std::int64_t Annotations::setText(std::int64_t run, RunField field, const std::string& text,
                                  std::int64_t basedOn) {
  switch (field) {
    case RunField::Tags:
      return setTags(run, split(text, '\n'), basedOn);
    case RunField::CurveNotes:
      return setCurveNotes(run, curveNotesFromText(text), basedOn);
    case RunField::ImageTags:
      return setImageTags(run, imageTagsFromText(text), basedOn);
    default:
      return isMark(field) ? setMark(run, field, text, basedOn) : edit(run, field, text, basedOn);
  }
}

std::int64_t RunReader::version(std::int64_t run, RunField field) {
  return versionOf(*database_, run, field);
}

std::vector<EditRow> RunReader::edits(std::int64_t run, RunField field) {
  return database_->rows(
      "SELECT id, version, is_taken, at, text FROM edit WHERE run_id = ? AND field = ? ORDER BY "
      "id",
      [&](const Statement& row) {
        return EditRow{row.integer(0), row.integer(1), row.integer(2) != 0, row.text(3),
                       shownText(field, row.text(4))};
      },
      run, toString(field));
}

}  // namespace vitrine::store
