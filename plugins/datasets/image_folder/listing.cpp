#include "plugins/datasets/image_folder/listing.h"

#include <algorithm>
#include <optional>
#include <set>

#include "core/base/error.h"
#include "core/base/sha256.h"
#include "core/base/text.h"
#include "core/files/sample_lists.h"

namespace vitrine::image_folder {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostImages = 10'000'000;
constexpr int kDeepest = 8;
bool isPlain(const std::string& name) {
  return isUtf8(name) && std::none_of(name.begin(), name.end(), [](char c) {
           return static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
         });
}

/// Entries of a folder, sorted by name; without hidden ones.
std::vector<fs::directory_entry> contentOf(const fs::path& folder) {
  std::vector<fs::directory_entry> entries;
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    if (!at->path().filename().string().starts_with('.')) entries.push_back(*at);
  }
  if (error) throw FileError(folder.string() + " cannot be listed: " + error.message());
  std::sort(entries.begin(), entries.end(), [](const auto& a, const auto& b) {
    return a.path().filename().string() < b.path().filename().string();
  });
  return entries;
}

class Walk {
 public:
  Walk(const fs::path& folder, const ListingOptions& options) : options_(options) {
    std::error_code error;
    root_ = fs::canonical(folder, error);
    if (error) {
      throw FileError(folder.string() + " cannot be opened: " + error.message() +
                      "; set data.folder to a folder with one sub-folder per class");
    }
    if (!fs::is_directory(root_)) throw FileError(folder.string() + " is not a folder");
  }

  Listing list() {
    if (!options_.lists.empty()) {
      readLists();
    } else if (hasSplits()) {
      listSplits();
    } else {
      const std::vector<std::string> names = classesIn("");
      noteClasses(names);
      for (const std::string& name : names) listClass(name, name, std::nullopt);
    }
    return sorted();
  }

  CaptionedListing listCaptioned() {
    CaptionedListing out;
    for (const auto& [split, file] : listFiles(".jsonl")) {
      for (CaptionedPath& entry : readCaptions(file)) {
        take(entry.path, std::ssize(out.captions), split, file);
        out.captions.push_back(std::move(entry.captions));
      }
    }
    out.listing = sorted();
    return out;
  }

 private:
  Listing sorted() {
    for (auto& images : listing_.images) {
      std::stable_sort(images.begin(), images.end(),
                       [](const ListedImage& a, const ListedImage& b) { return a.path < b.path; });
    }
    return std::move(listing_);
  }

  /// The lists of the splits that are there. \throws FileError  none of train
  [[nodiscard]] std::vector<std::pair<Split, fs::path>> listFiles(const char* ending) const {
    std::vector<std::pair<Split, fs::path>> files;
    for (const Split split : {Split::Train, Split::Validation, Split::Test}) {
      const fs::path file = options_.lists / (toString(split) + ending);
      std::error_code ignored;  // a file that cannot be read is not there
      if (fs::exists(file, ignored)) files.emplace_back(split, file);
    }
    if (files.empty() || files.front().first != Split::Train) {
      throw FileError(options_.lists.string() + " has no train" + ending +
                      "; set data.lists to the folder with the lists of the splits");
    }
    return files;
  }

  void readLists() {
    std::vector<std::pair<Split, std::vector<ListedPath>>> lists;
    std::set<std::string> names, paths;
    for (const auto& [split, file] : listFiles(".txt")) {
      lists.emplace_back(split, readSplitList(file));
      for (ListedPath& entry : lists.back().second) {
        if (entry.className.empty()) entry.className = entry.path.substr(0, entry.path.find('/'));
        if (split == Split::Train) names.insert(entry.className);
        if (!names.contains(entry.className)) {
          throw FileError(file.string() + " has the class '" + entry.className +
                          "', which train.txt does not have");
        }
        if (!paths.insert(entry.path).second)
          throw FileError(file.string() + ": '" + entry.path + "' is listed a second time");
      }
    }
    noteClasses({names.begin(), names.end()});
    for (const auto& [split, entries] : lists) {
      const fs::path file = options_.lists / (toString(split) + ".txt");
      for (const ListedPath& entry : entries)
        take(entry.path, labels_.at(entry.className), split, file);
    }
  }

  /// One image of a list.
  void take(const std::string& path, std::int64_t label, Split split, const fs::path& file) {
    if (!isImageName(path))
      throw FileError(file.string() + ": '" + path +
                      "' is not a PNG, JPEG or WebP file by its name");
    if (leadsOut(root_ / path)) {
      listing_.unusable.emplace_back(path,
                                     "is a link that leads out of the folder; set data.links = "
                                     "\"anywhere\" if that is meant");
      return;
    }
    listing_.images[static_cast<std::size_t>(split)].push_back({path, label, 0});
  }

  /// A folder `train` with nothing but other splits next to it; `train` may also be the name of a
  /// class.
  [[nodiscard]] bool hasSplits() const {
    bool hasTrain = false;
    for (const fs::directory_entry& entry : contentOf(root_)) {
      std::error_code ignored;
      if (!entry.is_directory(ignored)) continue;
      const std::string name = entry.path().filename().string();
      hasTrain = hasTrain || name == "train";
      if (name != "train" && name != "validation" && name != "valid" && name != "val" &&
          name != "test") {
        return false;
      }
    }
    return hasTrain;
  }

  void listSplits() {
    const std::vector<std::string> trained = classesIn("train");
    noteClasses(trained);
    for (const std::string& name : trained) listClass("train/" + name, name, Split::Train);
    bool isAlone = true;
    for (const auto& [folder, split] :
         {std::pair{"validation", Split::Validation}, std::pair{"valid", Split::Validation},
          std::pair{"val", Split::Validation}, std::pair{"test", Split::Test}}) {
      if (!fs::is_directory(root_ / folder)) continue;
      isAlone = false;
      for (const std::string& name : classesIn(folder)) {
        const std::string path = std::string(folder) + "/" + name;
        if (!labels_.contains(name)) {
          throw FileError((root_ / path).string() + " is a class that " +
                          (root_ / "train").string() + " does not have");
        }
        listClass(path, name, split);
      }
    }
    if (isAlone) {
      throw FileError(root_.string() + " has a folder train and neither validation nor test: set " +
                      "data.folder to " + (root_ / "train").string() +
                      " to take a share of it with data.test_fraction");
    }
  }

  /// Names of the folders that are classes. \param place  below the root
  std::vector<std::string> classesIn(const std::string& place) {
    std::vector<std::string> names;
    for (const fs::directory_entry& entry : contentOf(root_ / place)) {
      const std::string name = entry.path().filename().string();
      std::error_code ignored;  // a link that leads nowhere is not a folder
      if (!entry.is_directory(ignored)) continue;
      if (!isPlain(name)) {
        throw FileError((root_ / place).string() +
                        " has a class whose name is not plain text: " + cleanUtf8(name));
      }
      if (entry.is_symlink(ignored) && leadsOut(entry.path())) {
        throw FileError(entry.path().string() + " leads out of " + root_.string() +
                        "; set data.links = \"anywhere\" if that is meant");
      }
      names.push_back(name);
    }
    if (names.empty()) {
      throw FileError((root_ / place).string() +
                      " has no sub-folders; there must be one for each class");
    }
    return names;
  }

  void noteClasses(const std::vector<std::string>& names) {
    listing_.classes = names;
    for (std::size_t i = 0; i < names.size(); ++i) labels_[names[i]] = static_cast<std::int64_t>(i);
  }

  [[nodiscard]] bool leadsOut(const fs::path& link) const {
    return options_.links == Links::Inside && isOutside(root_, link);
  }

  void listClass(const std::string& path, const std::string& name, std::optional<Split> split) {
    const std::size_t before = count_;
    listFolder(path, labels_.at(name), split, 1);
    if (count_ == before && split.value_or(Split::Train) == Split::Train)
      throw FileError((root_ / path).string() + " has no PNG, JPEG or WebP files");
  }

  void listFolder(const std::string& path, std::int64_t label, std::optional<Split> split,
                  int depth) {
    if (depth > kDeepest) {
      throw FileError((root_ / path).string() + " is more than " + std::to_string(kDeepest) +
                      " folders deep");
    }
    for (const fs::directory_entry& entry : contentOf(root_ / path)) {
      const std::string name = entry.path().filename().string();
      const std::string below = path + "/" + name;
      std::error_code ignored;  // a link that leads nowhere is not a folder
      const bool isLink = entry.is_symlink(ignored);
      if (entry.is_directory(ignored)) {
        if (isLink) {
          listing_.unusable.emplace_back(below, "is a link to a folder, which is not followed");
        } else {
          listFolder(below, label, split, depth + 1);
        }
        continue;
      }
      if (!isImageName(entry.path())) {
        const std::string ending = lowerCase(entry.path().extension().string());
        ++listing_.otherFiles[isPlain(ending) ? ending : "?"];
        continue;
      }
      if (!isPlain(name)) {
        listing_.unusable.emplace_back(cleanUtf8(below), "has a name that is not plain text");
      } else if (isLink && leadsOut(entry.path())) {
        listing_.unusable.emplace_back(below,
                                       "is a link that leads out of the folder; set data.links = "
                                       "\"anywhere\" if that is meant");
      } else {
        const Split into = split ? *split : splitOf(below, options_);
        listing_.images[static_cast<std::size_t>(into)].push_back({below, label, 0});
      }
      if (++count_ > kMostImages)
        throw FileError(root_.string() + " has more than " + formatCount(kMostImages) + " images");
    }
  }

  ListingOptions options_;
  fs::path root_;
  Listing listing_;
  std::map<std::string, std::int64_t> labels_;
  std::size_t count_ = 0;  // images seen, unusable ones too
};

}  // namespace

bool isImageName(const fs::path& file) {
  constexpr std::array kEndings{".png", ".jpg", ".jpeg", ".webp"};
  return std::find(kEndings.begin(), kEndings.end(), lowerCase(file.extension().string())) !=
         kEndings.end();
}

bool isOutside(const fs::path& folder, const fs::path& path) {
  std::error_code error;
  const fs::path target = fs::canonical(path, error);
  if (error) return false;
  const fs::path base = fs::canonical(folder);
  return std::mismatch(base.begin(), base.end(), target.begin(), target.end()).first != base.end();
}

Listing listImages(const fs::path& folder, const ListingOptions& options) {
  return Walk(folder, options).list();
}

CaptionedListing listCaptions(const fs::path& folder, const fs::path& lists, Links links) {
  ListingOptions options{.links = links, .lists = lists};
  return Walk(folder, options).listCaptioned();
}

Split splitOf(const std::string& path, const ListingOptions& options) {
  // 52 bits: every such number is a double.
  const std::string hash = sha256OfText(path).substr(0, 13);
  const double place = static_cast<double>(std::stoull(hash, nullptr, 16)) / 4503599627370496.0;
  if (place < options.testFraction) return Split::Test;
  if (place < options.testFraction + options.validationFraction) return Split::Validation;
  return Split::Train;
}

}  // namespace vitrine::image_folder
