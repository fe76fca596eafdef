#include "ui/sql/sql_book.h"

#include <algorithm>

#include "core/base/cell_text.h"
#include "core/base/read_json.h"
#include "ui/kit/value_text.h"
#include "ui/sql/sql_docs.h"

namespace vitrine::ui {

SqlBook::SqlBook() = default;

void SqlBook::add(const Past& one) {
  if (one.sql.trimmed().isEmpty() || one.sql.size() > kLongest) return;
  std::erase_if(past_, [&one](const Past& other) { return other.sql == one.sql; });
  past_.insert(past_.begin(), one);
  if (past_.size() > kMostPast) past_.resize(kMostPast);
}

std::vector<SqlBook::Saved> SqlBook::saved() const {
  std::vector<Saved> all = own_;
  std::sort(all.begin(), all.end(), [](const Saved& a, const Saved& b) {
    return a.name.compare(b.name, Qt::CaseInsensitive) < 0;
  });
  for (const SqlSample& sample : sqlSamples()) all.push_back({sample.name, sample.sql, true});
  return all;
}

void SqlBook::save(const QString& name, const QString& sql) {
  remove(name);
  own_.push_back({name, sql, false});
}

void SqlBook::remove(const QString& name) {
  std::erase_if(own_, [&name](const Saved& one) { return one.name == name; });
}

bool SqlBook::rename(const QString& from, const QString& to) {
  const auto named = [this](const QString& name) {
    return std::find_if(own_.begin(), own_.end(),
                        [&name](const Saved& one) { return one.name == name; });
  };
  const auto found = named(from);
  if (found == own_.end() || to.trimmed().isEmpty() || named(to) != own_.end()) return false;
  found->name = to;
  return true;
}

QString SqlBook::toText() const {
  Json json = Json::object();
  json["past"] = Json::array();
  json["saved"] = Json::array();
  for (const Past& one : past_) {
    json["past"].push_back({{"sql", one.sql.toStdString()},
                            {"at", one.at.toStdString()},
                            {"rows", one.rows},
                            {"seconds", one.seconds}});
  }
  for (const Saved& one : own_)
    json["saved"].push_back({{"name", one.name.toStdString()}, {"sql", one.sql.toStdString()}});
  return QString::fromStdString(dumpJson(json));
}

SqlBook SqlBook::fromText(const QString& text) {
  SqlBook book;
  const Json json = readJson(text.toStdString());
  for (const Json& one : stateList(json, "past")) {
    if (book.past_.size() >= kMostPast) break;
    const Past past{stateWords(one, "sql"), stateWords(one, "at"),
                    static_cast<std::int64_t>(stateNumber(one, "rows", -1)),
                    stateNumber(one, "seconds")};
    if (!past.sql.isEmpty() && past.sql.size() <= kLongest) book.past_.push_back(past);
  }
  for (const Json& one : stateList(json, "saved")) {
    const QString name = stateWords(one, "name"), sql = stateWords(one, "sql");
    if (!name.isEmpty() && !sql.isEmpty()) book.save(name, sql);
  }
  return book;
}

}  // namespace vitrine::ui
