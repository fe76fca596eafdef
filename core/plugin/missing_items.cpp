#include "core/plugin/missing_items.h"

#include <mutex>
#include <utility>

namespace vitrine {

namespace {

struct MissingItems {
  std::mutex mutex;
  std::map<std::string, std::string> pluginByItem;
};

MissingItems& missingItems() {
  static MissingItems items;
  return items;
}

}  // namespace

void setMissingItems(std::map<std::string, std::string> pluginByItem) {
  MissingItems& items = missingItems();
  const std::lock_guard lock(items.mutex);
  items.pluginByItem = std::move(pluginByItem);
}

std::string missingItemSentence(const std::string& item) {
  MissingItems& items = missingItems();
  const std::lock_guard lock(items.mutex);
  const auto found = items.pluginByItem.find(item);
  if (found == items.pluginByItem.end()) return "";
  const auto slash = item.find('/');
  return "the " + item.substr(0, slash) + " '" + item.substr(slash + 1) + "' is of the plugin '" +
         found->second + "', which is disabled; run `vitrine plugins --enable " + found->second +
         "`";
}

}  // namespace vitrine
