// Earlier and saved statements: the history and the saved queries of the console.
#pragma once

#include <QString>
#include <cstdint>
#include <vector>

#include "core/base/json.h"

namespace vitrine::ui {

class SqlBook {
 public:
  static constexpr std::size_t kMostPast = 300;
  static constexpr qsizetype kLongest = 20'000;  ///< characters of a statement that are kept

  struct Past {
    QString sql;
    QString at;              ///< ISO 8601, UTC
    std::int64_t rows = -1;  ///< -1: it failed
    double seconds = 0;
  };
  struct Saved {
    QString name, sql;
    bool isShipped = false;
  };

  SqlBook();

  /// Newest first; a statement that is asked again moves to the front.
  [[nodiscard]] const std::vector<Past>& past() const { return past_; }
  void add(const Past& one);
  void forgetPast() { past_.clear(); }

  /// The user's own by name, then the shipped ones.
  [[nodiscard]] std::vector<Saved> saved() const;
  /// Replaces one of the same name.
  void save(const QString& name, const QString& sql);
  void remove(const QString& name);
  /// \returns  whether `to` was free and `from` one of the user's own
  bool rename(const QString& from, const QString& to);

  [[nodiscard]] QString toText() const;
  /// Damaged entries are omitted.
  static SqlBook fromText(const QString& text);

 private:
  std::vector<Past> past_;
  std::vector<Saved> own_;
};

}  // namespace vitrine::ui
