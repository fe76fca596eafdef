#include "core/jobs/nvml.h"

#include <array>
#include <limits>

namespace vitrine::jobs {
namespace {

// The part of nvml.h that is used: its binary interface is stable.
struct CardMemory {
  unsigned long long total, free, used;
};
struct Utilisation {
  unsigned int gpu, memory;  // percent
};
using Card = void*;
using Simple = int (*)();
using GetCount = int (*)(unsigned int*);
using GetCard = int (*)(unsigned int, Card*);
using GetText = int (*)(Card, char*, unsigned int);
using GetMemory = int (*)(Card, CardMemory*);
using GetUtilisation = int (*)(Card, Utilisation*);
using GetTemperature = int (*)(Card, int, unsigned int*);

constexpr double kNvmlUnknown = std::numeric_limits<double>::quiet_NaN();
constexpr int kTemperatureOfChip = 0;

std::string cardText(GetText get, Card card) {
  std::array<char, 128> text{};
  if (get == nullptr || get(card, text.data(), text.size() - 1) != 0) return {};
  return text.data();
}

}  // namespace

template <typename Function>
Function Nvml::find(const char* name) {
  return reinterpret_cast<Function>(library_.resolve(name));
}

Nvml::Nvml(const QString& library) : library_(library) {
  if (!library_.load()) return;
  const auto init = find<Simple>("nvmlInit_v2");
  isThere_ = init != nullptr && init() == 0;
}

Nvml::~Nvml() {
  if (!isThere_) return;
  if (const auto end = find<Simple>("nvmlShutdown"); end != nullptr) end();
}

std::vector<GpuLoad> Nvml::read() {
  std::vector<GpuLoad> loads;
  if (!isThere_) return loads;
  const auto getCount = find<GetCount>("nvmlDeviceGetCount_v2");
  const auto getCard = find<GetCard>("nvmlDeviceGetHandleByIndex_v2");
  unsigned int cards = 0;
  if (getCount == nullptr || getCard == nullptr || getCount(&cards) != 0) return loads;
  const auto getMemory = find<GetMemory>("nvmlDeviceGetMemoryInfo");
  const auto getUtilisation = find<GetUtilisation>("nvmlDeviceGetUtilizationRates");
  const auto getTemperature = find<GetTemperature>("nvmlDeviceGetTemperature");
  for (unsigned int i = 0; i < cards; ++i) {
    Card card = nullptr;
    if (getCard(i, &card) != 0) continue;
    GpuLoad load;
    load.title = cardText(find<GetText>("nvmlDeviceGetName"), card);
    load.uuid = cardText(find<GetText>("nvmlDeviceGetUUID"), card);
    CardMemory memory{};
    if (getMemory != nullptr && getMemory(card, &memory) == 0) {
      load.usedBytes = static_cast<std::int64_t>(memory.used);
      load.totalBytes = static_cast<std::int64_t>(memory.total);
    }
    Utilisation utilisation{};
    const bool isBusyKnown = getUtilisation != nullptr && getUtilisation(card, &utilisation) == 0;
    load.utilisation = isBusyKnown ? utilisation.gpu / 100.0 : kNvmlUnknown;
    unsigned int degrees = 0;
    const bool isHeatKnown =
        getTemperature != nullptr && getTemperature(card, kTemperatureOfChip, &degrees) == 0;
    load.temperature = isHeatKnown ? degrees : kNvmlUnknown;
    loads.push_back(std::move(load));
  }
  return loads;
}

}  // namespace vitrine::jobs
