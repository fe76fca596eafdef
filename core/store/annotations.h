// Changes what people write about runs: names, notes, tags, notes on curves, tags of images, marks.
// RunReader reads it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/store/types.h"

namespace vitrine::store {

class Database;

/// A part of RunStore, which opens the file.
class VITRINE_STORE_EXPORT Annotations {
 public:
  /// For an edit that is to stand whatever was there before.
  static constexpr std::int64_t kWhateverStands = -1;
  /// Name, note, tags, notes on curves and tags of images have a version, from 0, that every change
  /// raises. An editor says which one it showed; of two that change the same version, the second
  /// hears of it. What was there before, and what came too late, is kept (the newest 50 of each, 10
  /// of tags of images). Returns the
  /// version that stands now.
  /// \throws EditConflict  `basedOn` does not stand any more, and what does is another text
  std::int64_t setName(std::int64_t run, const std::string& name,
                       std::int64_t basedOn = kWhateverStands);
  std::int64_t setNote(std::int64_t run, const std::string& text,
                       std::int64_t basedOn = kWhateverStands);
  std::int64_t setTags(std::int64_t run, const std::vector<std::string>& tags,
                       std::int64_t basedOn = kWhateverStands);
  /// The notes on all curves of a run, in any order. When two change the same version, the
  /// additions and removals of both apply. A version other than `basedOn` + 1 shows that others
  /// wrote, too. There is a conflict only where the list of `basedOn` is not kept any more. \throws
  /// ConfigError more than 1,000, one without words or with more than 200 characters
  std::int64_t setCurveNotes(std::int64_t run, const std::vector<CurveNoteRow>& notes,
                             std::int64_t basedOn = kWhateverStands);
  /// Stars and tags of all images of a run, in any order; merged as setCurveNotes() does.
  /// \throws ConfigError  more than 5,000, one without a word or with more than 60 characters
  std::int64_t setImageTags(std::int64_t run, const std::vector<ImageTagRow>& tags,
                            std::int64_t basedOn = kWhateverStands);
  /// Archived and Baseline: "yes" or "". Colour: its number in the palette, from "1", or "". A
  /// baseline takes the mark from the other runs of its experiment.
  /// \throws ConfigError  no mark, or a value that it cannot have
  std::int64_t setMark(std::int64_t run, RunField field, const std::string& value,
                       std::int64_t basedOn = kWhateverStands);
  /// Any of them by its text: tags one a line, lists as in tables/curve_notes.h and image_tags.h.
  std::int64_t setText(std::int64_t run, RunField field, const std::string& text,
                       std::int64_t basedOn);

 protected:
  explicit Annotations(std::shared_ptr<Database> database) : database_(std::move(database)) {}

 private:
  std::int64_t edit(std::int64_t run, RunField field, const std::string& typed,
                    std::int64_t basedOn);
  std::shared_ptr<Database> database_;
};

}  // namespace vitrine::store
