// Two cards as the driver would tell of them; the second one knows no temperature.
#include <cstdio>

#pragma GCC visibility push(default)
extern "C" {
int nvmlInit_v2() { return 0; }
int nvmlShutdown() { return 0; }
int nvmlDeviceGetCount_v2(unsigned int* count) {
  *count = 2;
  return 0;
}
int nvmlDeviceGetHandleByIndex_v2(unsigned int index, void** card) {
  static unsigned int kCards[] = {0, 1};
  *card = &kCards[index];
  return 0;
}
int nvmlDeviceGetName(void*, char* text, unsigned int length) {
  std::snprintf(text, length, "NVIDIA H100 80GB HBM3");
  return 0;
}
int nvmlDeviceGetUUID(void* card, char* text, unsigned int length) {
  std::snprintf(text, length, "GPU-%u", *static_cast<unsigned int*>(card));
  return 0;
}
int nvmlDeviceGetMemoryInfo(void*, unsigned long long* memory) {
  memory[0] = 80'000'000'000;  // total, free, used
  memory[1] = 60'000'000'000;
  memory[2] = 20'000'000'000;
  return 0;
}
int nvmlDeviceGetUtilizationRates(void*, unsigned int* percent) {
  percent[0] = 97;
  percent[1] = 40;
  return 0;
}
int nvmlDeviceGetTemperature(void* card, int, unsigned int* degrees) {
  *degrees = 54;
  return *static_cast<unsigned int*>(card) == 0 ? 0 : 3;  // not supported
}
}
#pragma GCC visibility pop
