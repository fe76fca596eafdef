#include "plugins/datasets/image_folder/checked_images.h"

#include <sys/stat.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <chrono>
#include <exception>
#include <mutex>
#include <thread>
#include <unordered_map>

#include "core/base/error.h"
#include "core/base/log.h"
#include "core/base/sha256.h"
#include "core/base/text.h"
#include "core/base/user_folders.h"
#include "core/data/image_codec.h"
#include "core/data/sample.h"
#include "core/files/checkpoint_folder.h"
#include "core/files/image_header.h"

namespace vitrine::image_folder {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostNamed = 200;
constexpr std::size_t kLargestCache = std::size_t{1} << 30;  // bytes
constexpr unsigned kMostThreads = 16;

struct Finding {
  std::string path, stamp, why;  // why: "" when the image is usable
  std::uint64_t pixels = 0;
};

/// "" when the image can be used. \throws Error  failures that are not the file's
std::string whyUnusable(const fs::path& folder, Finding& finding, Verify verify,
                        SampleValue& scratch) {
  const std::string& path = finding.path;
  try {
    const std::string content = readTextFile(folder / path, kLargestImageFile);
    const auto bytes = std::as_bytes(std::span(content));
    const ImageHeader header = inspectImage(bytes, "");
    if (verify == Verify::Decode) decodeImage(bytes, "", 3, scratch);
    finding.pixels = static_cast<std::uint64_t>(header.height * header.width);
    return "";
  } catch (const FileError& problem) {
    // Sentences of the file system begin with the whole path.
    std::string why = problem.what();
    const std::string place = (folder / path).string();
    if (why.starts_with(place)) {
      why.erase(0, place.size());
      finding.stamp.clear();  // a permission that is given later leaves the stamp as it is
    }
    why.erase(0, std::min(why.size(), why.find_first_not_of(' ')));
    return why;
  }
}

/// Findings of earlier times: one line each, "stamp TAB path TAB why TAB pixels".
class Cache {
 public:
  Cache(const fs::path& folder, const CheckOptions& options) {
    if (options.cacheFolder.empty()) return;
    std::error_code error;
    const fs::path real = fs::canonical(folder, error);
    file_ = options.cacheFolder / (sha256OfText(real.string()).substr(0, 32) + ".txt");
    const ImageLimits limits;
    title_ = "vitrine images 2, " +
             std::string(options.verify == Verify::Decode ? "decoded" : "structure") + ", " +
             std::to_string(limits.pixels) + " pixels, " + real.string();
    if (!fs::exists(file_, error)) return;
    std::vector<std::string> lines;
    try {
      lines = split(readTextFile(file_, kLargestCache), '\n');
    } catch (const FileError&) {
      return;  // an unreadable cache only costs time
    }
    if (lines.empty() || lines.front() != title_) return;
    for (std::size_t i = 1; i < lines.size(); ++i) {
      const std::vector<std::string> parts = split(lines[i], '\t');
      Finding finding{"", "", "", 0};
      if (parts.size() != 4) continue;
      const auto number =
          std::from_chars(parts[3].data(), parts[3].data() + parts[3].size(), finding.pixels);
      if (number.ec != std::errc()) continue;
      finding.stamp = parts[0];
      finding.why = parts[2];
      known_.emplace(parts[1], std::move(finding));
    }
  }

  /// True when `finding` could be filled in from its path and stamp.
  [[nodiscard]] bool recall(Finding& finding) const {
    const auto found = known_.find(finding.path);
    if (found == known_.end() || finding.stamp.empty() || found->second.stamp != finding.stamp)
      return false;
    finding.why = found->second.why;
    finding.pixels = found->second.pixels;
    return true;
  }

  void keep(const fs::path& folder, const std::vector<Finding>& findings) {
    if (file_.empty()) return;
    std::string text = title_ + "\n";
    const auto add = [&text](const std::string& path, const Finding& finding) {
      std::string why = finding.why;
      std::replace_if(
          why.begin(), why.end(), [](char c) { return c == '\t' || c == '\n'; }, ' ');
      text +=
          finding.stamp + "\t" + path + "\t" + why + "\t" + std::to_string(finding.pixels) + "\n";
    };
    for (const Finding& finding : findings) {
      known_.erase(finding.path);
      if (!finding.stamp.empty()) add(finding.path, finding);
    }
    // Images that another list of the same folder has.
    for (const auto& [path, finding] : known_) {
      if (stampOf(folder / path) == finding.stamp) add(path, finding);
    }
    std::error_code error;
    fs::create_directories(file_.parent_path(), error);
    try {
      writeFileAtomically(file_, text);
    } catch (const FileError& problem) {
      log::warning(std::string("the images will be checked again next time: ") + problem.what());
    }
  }

 private:
  fs::path file_;
  std::string title_;
  std::unordered_map<std::string, Finding> known_;  // by path
};

/// Looks at every file that `cache` does not know, on all cores. Returns how many that were.
std::size_t lookAt(const fs::path& folder, const CheckOptions& options, const Cache& cache,
                   std::vector<Finding>& findings) {
  std::atomic<std::size_t> next{0}, looked{0};
  std::mutex mutex;
  std::exception_ptr failure;
  auto shown = std::chrono::steady_clock::now();
  const auto work = [&] {
    SampleValue scratch;
    try {
      for (std::size_t i = next++; i < findings.size(); i = next++) {
        Finding& finding = findings[i];
        finding.stamp = stampOf(folder / finding.path);
        if (cache.recall(finding)) continue;
        finding.why = whyUnusable(folder, finding, options.verify, scratch);
        const std::size_t done = ++looked;
        if (done % 256 != 0) continue;
        const std::lock_guard lock(mutex);
        if (const auto now = std::chrono::steady_clock::now();
            now - shown > std::chrono::seconds(5)) {
          log::info("checking the images of " + folder.string() + ": " + formatCount(done) +
                    " looked at, " + formatCount(findings.size()) + " in all; this is done once");
          shown = now;
        }
      }
    } catch (...) {
      const std::lock_guard lock(mutex);
      if (!failure) failure = std::current_exception();
      next = findings.size();
    }
  };
  const std::size_t threads = std::clamp<std::size_t>(
      findings.size() / 16, 1, std::clamp(std::thread::hardware_concurrency(), 1u, kMostThreads));
  {
    std::vector<std::jthread> workers;
    for (std::size_t i = 1; i < threads; ++i) workers.emplace_back(work);
    work();
  }
  if (failure) std::rethrow_exception(failure);
  return looked;
}

}  // namespace

std::string stampOf(const fs::path& file) {
  struct stat info {};
  if (::stat(file.c_str(), &info) != 0) return "";
  return std::to_string(info.st_size) + " " + std::to_string(info.st_mtim.tv_sec) + "." +
         std::to_string(info.st_mtim.tv_nsec) + " " + std::to_string(info.st_ino);
}

std::string fingerprintOf(std::span<const fs::path> files) {
  Sha256 sum;
  for (const fs::path& file : files) {
    const std::string line = file.string() + "\t" + stampOf(file) + "\n";
    sum.update(std::as_bytes(std::span(line)));
  }
  return sum.finish();
}

void keepUsable(const fs::path& folder, const CheckOptions& options, Listing& listing) {
  std::vector<Finding> findings;
  for (const auto& images : listing.images) {
    for (const ListedImage& image : images) findings.push_back({image.path, "", "", 0});
  }
  const std::size_t all = findings.size() + listing.unusable.size();
  Cache cache(folder, options);
  if (lookAt(folder, options, cache, findings) > 0) cache.keep(folder, findings);
  auto finding = findings.cbegin();
  for (auto& images : listing.images) {
    for (ListedImage& image : images) image.pixels = (finding++)->pixels;
  }

  std::unordered_map<std::string, std::string> whyOf;
  for (Finding& each : findings) {
    if (each.why.empty()) continue;
    listing.unusable.emplace_back(each.path, each.why);
    whyOf.emplace(std::move(each.path), std::move(each.why));
  }
  std::sort(listing.unusable.begin(), listing.unusable.end());
  const auto names = [&](std::size_t most) {
    std::string text;
    for (std::size_t i = 0; i < listing.unusable.size() && i < most; ++i)
      text += "; " + listing.unusable[i].first + " " + listing.unusable[i].second;
    return text;
  };
  const std::size_t bad = listing.unusable.size();
  if (static_cast<double>(bad) > options.badLimit * static_cast<double>(all)) {
    throw FileError(folder.string() + ": " + formatCount(bad) + " of " + formatCount(all) +
                    " images cannot be used, above data.bad_limit = " +
                    formatReal(options.badLimit) + names(5));
  }
  for (std::size_t split = 0; split < listing.images.size(); ++split) {
    std::vector<ListedImage>& images = listing.images[split];
    if (images.empty()) continue;
    std::erase_if(images, [&](const ListedImage& image) { return whyOf.contains(image.path); });
    if (images.empty()) {
      throw FileError(folder.string() + ": none of the images of the " +
                      toString(static_cast<Split>(split)) + " split can be used" + names(5));
    }
  }
  if (bad == 0) return;
  log::warning(folder.string() + ": " + formatCount(bad) + " of " + formatCount(all) +
               " images cannot be used and are left out");
  for (std::size_t i = 0; i < bad && i < kMostNamed; ++i)
    log::warning("left out: " + listing.unusable[i].first + " " + listing.unusable[i].second);
  if (bad > kMostNamed) log::warning("left out: " + formatCount(bad - kMostNamed) + " more");
}

fs::path userCacheFolder() {
  const fs::path folder = userFolder(UserFolder::Cache);
  return folder.empty() ? folder : folder / "image_folder";
}

}  // namespace vitrine::image_folder
