// Opens a database with SQLite's own settings, reads a row and closes it: the last to close it
// moves the log into the file and deletes it. Usage: store_visitor DATABASE
#include <sqlite3.h>

int main(int count, char** words) {
  if (count != 2) return 2;
  sqlite3* handle = nullptr;
  bool isFine = sqlite3_open(words[1], &handle) == SQLITE_OK;
  sqlite3_busy_timeout(handle, 5000);
  isFine = isFine &&
           sqlite3_exec(handle, "SELECT count(*) FROM run", nullptr, nullptr, nullptr) == SQLITE_OK;
  return sqlite3_close(handle) == SQLITE_OK && isFine ? 0 : 1;
}
