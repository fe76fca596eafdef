// The documented views of the database with the meaning of every column, and the queries that the
// console ships with. Follows resources/docs/database.md; a test holds them together.
#pragma once

#include <QString>
#include <vector>

namespace vitrine::ui {

struct SqlColumnDoc {
  QString name;
  QString meaning;
};

struct SqlViewDoc {
  QString name;
  QString meaning;  ///< what one row is
  std::vector<SqlColumnDoc> columns;
};

[[nodiscard]] const std::vector<SqlViewDoc>& sqlViewDocs();
[[nodiscard]] const SqlViewDoc* findSqlView(const QString& name);
/// What one row of a table is; "" for an unknown one.
[[nodiscard]] QString sqlTableMeaning(const QString& name);

struct SqlSample {
  QString name;
  QString sql;
};
[[nodiscard]] const std::vector<SqlSample>& sqlSamples();

}  // namespace vitrine::ui
