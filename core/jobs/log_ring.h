// A log that never grows beyond its limit: two files, the older of which is replaced. Private to
// core/jobs.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "core/files/posix_file.h"
#include "core/store_export.h"

namespace vitrine::jobs {

class VITRINE_STORE_EXPORT LogRing {
 public:
  static constexpr std::int64_t kLimit = 16 << 20;  ///< bytes of both files together

  /// Appends to `file`; when that has reached half of `limit` it becomes `<file>.1`. Never throws:
  /// what cannot be written is dropped, and the job continues.
  explicit LogRing(std::filesystem::path file, std::int64_t limit = kLimit);

  void write(std::string_view bytes);
  /// The same, and tail() does not hear of it.
  void note(std::string_view bytes);
  /// The end of what write() was given, at most 4,000 bytes.
  [[nodiscard]] const std::string& tail() const noexcept { return tail_; }

 private:
  void open();
  std::filesystem::path file_;
  std::int64_t half_;
  std::int64_t size_ = 0;
  files::Descriptor descriptor_;
  std::string tail_;
};

/// Whole lines of text that terminals can show, from the end of a log: at most `lines`.
[[nodiscard]] VITRINE_STORE_EXPORT std::string lastLines(const std::string& log, int lines);

}  // namespace vitrine::jobs
