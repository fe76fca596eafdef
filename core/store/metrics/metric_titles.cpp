#include "core/store/metrics/metric_titles.h"

#include <algorithm>
#include <array>

namespace vitrine::store {

namespace {

struct KnownQuantity {
  const char* key;
  const char* title;
  const char* subtitle;
  int decimals;
  bool followsPlan = false;
  const char* shortTitle = "";  ///< "": the title
};

constexpr std::array kKnown{
    KnownQuantity{"loss", "loss", "training objective", 4},
    KnownQuantity{"top1", "accuracy", "top-1", 4},
    KnownQuantity{"top5", "top-5 accuracy", "top-5", 4, false, "top-5"},
    KnownQuantity{"ece", "calibration error", "ECE, 15 bins", 4, false, "ECE"},
    KnownQuantity{"fid", "FID", "Fr\u00e9chet inception distance", 2},
    KnownQuantity{"miou", "mean IoU", "intersection over union", 4},
    KnownQuantity{"map", "mean AP", "average precision", 4},
    KnownQuantity{"learning_rate", "learning rate", "per step", 8, true},
    KnownQuantity{"mask_alpha", "mask factor", "1 bidirectional, 0 causal", 4, true},
    KnownQuantity{"gradient_norm", "gradient norm", "before clipping", 4},
    KnownQuantity{"loss_scale", "loss scale", "of float16", 0},
    KnownQuantity{"flops", "work", "FLOPs, cumulative", 0},
    KnownQuantity{"device_seconds", "device time", "s, cumulative", 1},
    KnownQuantity{"cpu", "CPU, training process", "of the cores it may use", 1},
    KnownQuantity{"resident_memory", "memory, training process", "MiB", 0},
    KnownQuantity{"gpu", "GPU", "share of the time it computes", 1},
    KnownQuantity{"gpu_memory", "GPU memory", "MiB", 0},
    KnownQuantity{"rank80", "rank at 80 %", "singular values", 2},
    KnownQuantity{"effective_rank", "effective rank", "singular values", 2},
    KnownQuantity{"stable_rank", "stable rank", "singular values", 2},
};

constexpr const char* kAveraged = "@ema";
constexpr const char* kRate = "_per_second";
constexpr const char* kAnalysis = "analysis";

bool isSplit(const std::string& family) {
  return family == "train" || family == "validation" || family == "test";
}

std::string capitalised(std::string text) {
  if (!text.empty() && text[0] >= 'a' && text[0] <= 'z') text[0] += 'A' - 'a';
  return text;
}

// "layer1/head2" is "layer 1, head 2".
std::string spaced(const std::string& part) {
  std::string text;
  for (const char c : part) {
    const bool isDigit = c >= '0' && c <= '9';
    if (isDigit && !text.empty() && text.back() >= 'a' && text.back() <= 'z') text += ' ';
    if (c == '/') {
      text += ", ";
    } else {
      text += c;
    }
  }
  return text;
}

}  // namespace

MetricTitle titleOf(const std::string& quantity) {
  MetricTitle made{.title = quantity};
  std::replace(made.title.begin(), made.title.end(), '_', ' ');
  made.shortTitle = made.title;
  for (const KnownQuantity& known : kKnown) {
    if (quantity != known.key) continue;
    made = {known.title, known.shortTitle, known.subtitle, known.decimals, true, known.followsPlan};
    if (made.shortTitle.empty()) made.shortTitle = made.title;
  }
  if (!made.isKnown && quantity.ends_with(kRate)) {
    const std::string unit = quantity.substr(0, quantity.size() - std::string(kRate).size());
    made = {"speed", "speed", unit + "/s", 0, true, false};
  }
  return made;
}

MetricName metricName(const std::string& metric) {
  MetricName name;
  std::string whole = metric;
  name.isAveraged = whole.ends_with(kAveraged);
  if (name.isAveraged) whole.resize(whole.size() - std::string(kAveraged).size());
  const auto slash = whole.find('/');
  if (slash == std::string::npos) {
    name.quantity = whole;
    return name;
  }
  name.split = whole.substr(0, slash);
  const auto next = whole.find('/', slash + 1);
  name.quantity = whole.substr(slash + 1, next == std::string::npos ? next : next - slash - 1);
  if (next != std::string::npos) name.part = whole.substr(next + 1);
  return name;
}

MetricTitle metricTitle(const std::string& metric, const std::string& declared) {
  MetricName name = metricName(metric);
  std::string place = isSplit(name.split) ? ", " + name.split : "";
  const bool isOfAnalysis = name.split == kAnalysis && !name.part.empty();
  if (isOfAnalysis) {  // analysis/ID/QUANTITY/PART...
    const MetricName inner = metricName(name.part);
    name.quantity = inner.split.empty() ? inner.quantity : inner.split;
    name.part = inner.split.empty() ? "" : name.part.substr(inner.split.size() + 1);
  }
  MetricTitle made = titleOf(name.quantity);
  if (!declared.empty()) {
    made.title = made.shortTitle = declared;
    made.isKnown = true;
  } else if (isOfAnalysis) {
    place = name.part.empty() ? "" : ", " + spaced(name.part);
  } else if (!name.part.empty()) {
    place = " (" + name.part + ")" + place;
  }
  if (name.isAveraged) place += ", averaged weights";
  made.title = capitalised(made.title) + place;
  made.shortTitle = capitalised(made.shortTitle) + place;
  return made;
}

}  // namespace vitrine::store
