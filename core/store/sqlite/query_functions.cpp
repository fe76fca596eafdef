#include "core/store/sqlite/query_functions.h"

#include <string>
#include <string_view>

#include "core/base/error.h"
#include "core/base/text.h"

namespace vitrine::store {

namespace {

/// Bytes of the first two arguments multiplied: about three seconds of the slowest, trim.
constexpr sqlite3_int64 kMostComparisons = 1'000'000'000;
constexpr unsigned kJsonSubtype = 'J';  // how SQLite marks a text that is JSON

int isLike(const char* pattern, const char* text) { return sqlite3_strlike(pattern, text, 0) == 0; }
int isGlob(const char* pattern, const char* text) { return sqlite3_strglob(pattern, text) == 0; }

struct Call {
  const char* name;
  int arguments;
  const char* sql;
  int (*match)(const char* pattern, const char* text) = nullptr;
};
constexpr Call kCalls[] = {
    {"instr", 2, "SELECT instr(?1, ?2)"},
    {"replace", 3, "SELECT replace(?1, ?2, ?3)"},
    {"trim", 2, "SELECT trim(?1, ?2)"},
    {"ltrim", 2, "SELECT ltrim(?1, ?2)"},
    {"rtrim", 2, "SELECT rtrim(?1, ?2)"},
    {"like", 2, nullptr, isLike},
    {"like", 3, "SELECT like(?1, ?2, ?3)"},
    {"glob", 2, nullptr, isGlob},
    {"json_patch", 2, "SELECT json_patch(?1, ?2)"},
};

}  // namespace

BoundedFunctions::BoundedFunctions(sqlite3* handle) {
  int code = sqlite3_open(":memory:", &plain_);
  sqlite3_limit(plain_, SQLITE_LIMIT_LENGTH, sqlite3_limit(handle, SQLITE_LIMIT_LENGTH, -1));
  for (const Call& each : kCalls) {
    auto function = std::make_unique<Function>(Function{each.name, each.match, nullptr});
    if (code == SQLITE_OK && each.sql != nullptr)
      code = sqlite3_prepare_v2(plain_, each.sql, -1, &function->call, nullptr);
    if (code == SQLITE_OK) {
      code = sqlite3_create_function(handle, each.name, each.arguments,
                                     SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS,
                                     function.get(), act, nullptr, nullptr);
    }
    functions_.push_back(std::move(function));
  }
  if (code == SQLITE_OK) return;
  for (const auto& function : functions_) sqlite3_finalize(function->call);
  sqlite3_close(plain_);
  throw StoreError(std::string("the functions of a query cannot be prepared (") +
                   sqlite3_errstr(code) + ")");
}

BoundedFunctions::~BoundedFunctions() {
  for (const auto& function : functions_) sqlite3_finalize(function->call);
  sqlite3_close(plain_);
}

void BoundedFunctions::act(sqlite3_context* context, int count, sqlite3_value** values) {
  const auto& function = *static_cast<const Function*>(sqlite3_user_data(context));
  const sqlite3_int64 first = sqlite3_value_bytes(values[0]);
  const sqlite3_int64 second = sqlite3_value_bytes(values[1]);
  if (first * second > kMostComparisons) {
    const std::string message = std::string(function.name) + "() of texts of " +
                                formatCount(first) + " and " + formatCount(second) +
                                " bytes takes too long; shorten one with substr()";
    sqlite3_result_error(context, message.c_str(), -1);
    return;
  }
  if (function.match != nullptr) {
    const auto* pattern = reinterpret_cast<const char*>(sqlite3_value_text(values[0]));
    const auto* text = reinterpret_cast<const char*>(sqlite3_value_text(values[1]));
    if (pattern != nullptr && text != nullptr)
      sqlite3_result_int(context, function.match(pattern, text));
    return;  // NULL where one of them is
  }
  for (int i = 0; i < count; ++i) sqlite3_bind_value(function.call, i + 1, values[i]);
  if (sqlite3_step(function.call) == SQLITE_ROW) {
    sqlite3_result_value(context, sqlite3_column_value(function.call, 0));
    if (function.name == std::string_view("json_patch"))
      sqlite3_result_subtype(context, kJsonSubtype);
  } else {
    sqlite3_result_error(context, sqlite3_errmsg(sqlite3_db_handle(function.call)), -1);
  }
  sqlite3_reset(function.call);
  sqlite3_clear_bindings(function.call);
}

}  // namespace vitrine::store
