#include "core/store/tables/image_tags.h"

#include <algorithm>
#include <cstdint>

#include "core/base/error.h"
#include "core/base/read_json.h"
#include "core/base/text.h"
#include "core/store/sqlite/database.h"
#include "core/store/tables/list_edits.h"
#include "core/store/tables/rows.h"

namespace vitrine::store {

void checkImageTags(const std::vector<ImageTagRow>& tags) {
  if (tags.size() > kMostImageTags) {
    throw ConfigError("a run has room for " + formatCount(kMostImageTags) +
                      " stars and tags on its images, not for " +
                      formatCount(tags.size()) + "; remove some first");
  }
  for (const ImageTagRow& row : tags) {
    const std::string which =
        "the tag '" + shown(row.tag) + "' of an image at step " + std::to_string(row.step) + " ";
    if (row.sha256.empty()) throw ConfigError(which + "has to name the image by its SHA-256");
    if (row.tag.empty()) throw ConfigError("a tag of an image needs at least one character");
    if (row.tag.find('\n') != std::string::npos)
      throw ConfigError(which + "has more than one line; make two tags of it");
    if (charactersOf(row.tag) > kLongestImageTag) {
      throw ConfigError(which + "has " + formatCount(charactersOf(row.tag)) +
                        " characters; shorten it to " + std::to_string(kLongestImageTag));
    }
  }
}

std::string imageTagsText(std::vector<ImageTagRow> tags) {
  std::sort(tags.begin(), tags.end());
  tags.erase(std::unique(tags.begin(), tags.end()), tags.end());
  Json list = Json::array();
  for (const ImageTagRow& row : tags)
    list.push_back({{"step", row.step}, {"sha256", row.sha256}, {"tag", row.tag}});
  return dumpJson(list);
}

std::vector<ImageTagRow> imageTagsFromText(const std::string& text) {
  const auto refuse = [] {
    throw ConfigError(
        "tags of images have to be a JSON list of {\"step\": integer, \"sha256\": text, \"tag\": "
        "text}");
  };
  const Json list = readJson(text);
  if (!list.is_array()) refuse();
  std::vector<ImageTagRow> tags;
  for (const Json& entry : list) {
    if (!entry.is_object() || entry.size() != 3) refuse();
    const auto step = entry.find("step"), hash = entry.find("sha256"), tag = entry.find("tag");
    const bool isTag = step != entry.end() && isStep(*step) && hash != entry.end() &&
                       hash->is_string() && tag != entry.end() && tag->is_string();
    if (!isTag) refuse();
    tags.push_back({step->get<std::int64_t>(), hash->get<std::string>(), tag->get<std::string>()});
  }
  checkImageTags(tags);
  return tags;
}

std::vector<ImageTagRow> readImageTags(Database& database, std::int64_t run) {
  return database.rows(
      "SELECT step, sha256, tag FROM image_tag WHERE run_id = ? ORDER BY step, sha256, tag",
      [](const Statement& row) {
        return ImageTagRow{row.integer(0), row.text(1), row.text(2)};
      },
      run);
}

void writeImageTags(Database& database, std::int64_t run, const std::vector<ImageTagRow>& tags) {
  database.run("DELETE FROM image_tag WHERE run_id = ?", run);
  for (const ImageTagRow& row : tags) {
    database.run("INSERT OR IGNORE INTO image_tag(run_id, step, sha256, tag) VALUES (?, ?, ?, ?)",
                 run, row.step, row.sha256, row.tag);
  }
}

}  // namespace vitrine::store
