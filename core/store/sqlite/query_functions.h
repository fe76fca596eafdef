// SQL functions of a user's own statement, bounded in time. Private to core/store.
#pragma once

#include <sqlite3.h>

#include <memory>
#include <vector>

namespace vitrine::store {

/// Replaces SQLite's functions that compare every part of one text with every part of another
/// (instr, replace, trim, like, glob, json_patch). An interrupt does not end one of them. Long
/// texts are refused; SQLite's own functions get the others. A statement calls like and glob for
/// every row, so these run at once, the others on another connection.
class BoundedFunctions {
 public:
  /// For `handle`, which must not run a statement after this object is gone.
  explicit BoundedFunctions(sqlite3* handle);
  ~BoundedFunctions();
  BoundedFunctions(const BoundedFunctions&) = delete;
  BoundedFunctions& operator=(const BoundedFunctions&) = delete;

 private:
  struct Function {
    const char* name;
    int (*match)(const char* pattern, const char* text);  ///< nullptr: `call` does it
    sqlite3_stmt* call;
  };
  static void act(sqlite3_context* context, int count, sqlite3_value** values);

  sqlite3* plain_ = nullptr;
  std::vector<std::unique_ptr<Function>> functions_;
};

}  // namespace vitrine::store
