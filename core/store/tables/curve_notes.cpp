#include "core/store/tables/curve_notes.h"

#include <algorithm>

#include "core/base/error.h"
#include "core/base/read_json.h"
#include "core/base/text.h"
#include "core/store/tables/list_edits.h"
#include "core/store/tables/rows.h"

namespace vitrine::store {

void checkCurveNotes(const std::vector<CurveNoteRow>& notes) {
  if (notes.size() > kMostCurveNotes) {
    throw ConfigError("a run has room for " + formatCount(kMostCurveNotes) +
                      " notes on its curves, not for " +
                      formatCount(notes.size()) + "; remove some first");
  }
  for (const CurveNoteRow& note : notes) {
    const std::string which = "a note on the curve '" + shown(note.metric) + "' at step " +
                              std::to_string(note.step) + " ";
    if (note.metric.empty()) throw ConfigError("a note on a curve has to name its metric");
    if (note.text.empty()) throw ConfigError(which + "has no words");
    if (charactersOf(note.text) > kLongestCurveNote) {
      throw ConfigError(which + "has " + formatCount(charactersOf(note.text)) +
                        " characters; shorten it to " + std::to_string(kLongestCurveNote));
    }
  }
}

std::string curveNotesText(std::vector<CurveNoteRow> notes) {
  std::sort(notes.begin(), notes.end());
  notes.erase(std::unique(notes.begin(), notes.end()), notes.end());
  Json list = Json::array();
  for (const CurveNoteRow& note : notes)
    list.push_back({{"metric", note.metric}, {"step", note.step}, {"text", note.text}});
  return dumpJson(list);
}

std::vector<CurveNoteRow> curveNotesFromText(const std::string& text) {
  const auto refuse = [] {
    throw ConfigError(
        "notes on curves have to be a JSON list of {\"metric\": text, \"step\": integer, \"text\": "
        "text}");
  };
  const Json list = readJson(text);
  if (!list.is_array()) refuse();
  std::vector<CurveNoteRow> notes;
  for (const Json& entry : list) {
    if (!entry.is_object() || entry.size() != 3) refuse();
    const auto metric = entry.find("metric"), step = entry.find("step"), words = entry.find("text");
    const bool isNote = metric != entry.end() && metric->is_string() && step != entry.end() &&
                        isStep(*step) && words != entry.end() && words->is_string();
    if (!isNote) refuse();
    notes.push_back(
        {metric->get<std::string>(), step->get<std::int64_t>(), words->get<std::string>()});
  }
  checkCurveNotes(notes);
  return notes;
}

}  // namespace vitrine::store
