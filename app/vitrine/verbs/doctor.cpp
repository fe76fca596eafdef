// vitrine doctor: what this machine has and lacks. Works without a database and without LibTorch.
#include <dlfcn.h>
#include <sys/statvfs.h>

#include <QtGlobal>
#include <cstdlib>
#include <filesystem>
#include <thread>

#include "app/vitrine/cli/open_store.h"
#include "app/vitrine/cli/output.h"
#include "core/base/cpu_path.h"
#include "core/base/error.h"
#include "core/base/joined.h"
#include "core/base/program.h"
#include "core/base/text.h"
#include "core/jobs/containment.h"
#include "core/jobs/device_load.h"

namespace vitrine::app {

namespace {

namespace fs = std::filesystem;

/// One line of the report: `ok` is null where there is nothing good or bad about it.
struct Finding {
  std::string name;
  Json ok;
  std::string text;
};

Finding compiler() {
  const std::string built = VITRINE_COMPILER;
  if (const auto here = outputOf({"c++", "-dumpfullversion"}))
    return {"compiler", true, "built with " + built + "; c++ here is " + *here};
  return {"compiler", false,
          "built with " + built + "; no c++ here: plugins cannot be built (apt-get install g++)"};
}

Finding qt() {
  return {"qt", true, std::string("Qt ") + qVersion() + " (built with " QT_VERSION_STR ")"};
}

Finding libtorch() {
  const fs::path library = fs::path(VITRINE_TORCH_LIBRARY);
  std::error_code error;
  if (!fs::exists(library, error)) {
    return {"libtorch", false,
            "LibTorch " VITRINE_TORCH_VERSION " is gone from " + library.parent_path().string() +
                "; ./vitrine sets it up again"};
  }
  return {"libtorch", true,
          "LibTorch " VITRINE_TORCH_VERSION " in " + library.parent_path().string()};
}

Finding cudaToolkit() {
  std::vector<std::string> candidates;
  for (const char* name : {"CUDAToolkit_ROOT", "CUDA_HOME", "CUDA_PATH"}) {
    if (const char* root = std::getenv(name)) candidates.push_back(std::string(root) + "/bin/nvcc");
  }
  candidates.emplace_back("nvcc");
  candidates.emplace_back("/usr/local/cuda/bin/nvcc");
  // The toolkit from PyPI lies next to torch, in nvidia/cu13 of the same environment.
  candidates.push_back((fs::path(VITRINE_TORCH_LIBRARY).parent_path().parent_path().parent_path() /
                        "nvidia/cu13/bin/nvcc")
                           .string());
  for (const std::string& candidate : candidates) {
    const auto text = outputOf({candidate, "--version"});
    if (!text) continue;
    const auto at = text->find("release ");
    const std::string version =
        at == std::string::npos ? "" : text->substr(at + 8, text->find(',', at) - at - 8);
    return {"cuda_toolkit", true, "CUDA " + version + " (" + candidate + ")"};
  }
  return {"cuda_toolkit", false,
          "none: the CUDA kernels cannot be built here; training on the CPU does not need it"};
}

Finding gpu() {
  void* driver = ::dlopen("libcuda.so.1", RTLD_NOW);
  if (driver == nullptr)
    return {"gpu", false, "none: there is no NVIDIA driver (libcuda.so.1); runs use the CPU"};
  const auto init = reinterpret_cast<int (*)(unsigned)>(::dlsym(driver, "cuInit"));
  const auto count = reinterpret_cast<int (*)(int*)>(::dlsym(driver, "cuDeviceGetCount"));
  const auto nameOf =
      reinterpret_cast<int (*)(char*, int, int)>(::dlsym(driver, "cuDeviceGetName"));
  if (init == nullptr || count == nullptr || nameOf == nullptr)
    return {"gpu", false, "none: libcuda.so.1 is not NVIDIA's driver"};
  int devices = 0;
  if (const int code = init(0); code != 0) {
    return {"gpu", false,
            "none: the driver answers with error " + std::to_string(code) +
                (code == 100 ? " (no device)" : "") + "; runs use the CPU"};
  }
  if (count(&devices) != 0 || devices == 0)
    return {"gpu", false, "none: the driver sees no device; runs use the CPU"};
  std::string names;
  for (int i = 0; i < devices; ++i) {
    char name[128] = {};
    nameOf(name, sizeof name - 1, i);
    names += (i > 0 ? ", " : "") + std::string("cuda:") + std::to_string(i) + " " + name;
  }
  return {"gpu", true, names};
}

Finding cudaKernels() {
#ifdef VITRINE_WITH_CUDA
  return {"cuda_kernels", true, "built"};
#else
  return {"cuda_kernels", nullptr, "not built (VITRINE_CUDA is off)"};
#endif
}

Finding sqlite() {
  if (!store::sqliteHasWalResetBug()) return {"sqlite", true, "SQLite " + store::sqliteVersion()};
  return {"sqlite", nullptr,
          "SQLite " + store::sqliteVersion() +
              " has the WAL-reset bug (3.7.0 to 3.51.2); writers take turns at a gate file, which "
              "avoids it"};
}

Finding openGl() {
  void* library = ::dlopen("libEGL.so.1", RTLD_NOW);
  if (library == nullptr) library = ::dlopen("libGL.so.1", RTLD_NOW);
  if (library == nullptr)
    return {"opengl", false, "no libEGL.so.1 or libGL.so.1; install libgl1-mesa-dri and libegl1"};
  const auto getDisplay = reinterpret_cast<void* (*)(void*)>(::dlsym(library, "eglGetDisplay"));
  const auto initialize =
      reinterpret_cast<unsigned (*)(void*, int*, int*)>(::dlsym(library, "eglInitialize"));
  const auto query =
      reinterpret_cast<const char* (*)(void*, int)>(::dlsym(library, "eglQueryString"));
  if (getDisplay == nullptr || initialize == nullptr || query == nullptr)
    return {"opengl", true, "libGL is installed"};
  ::setenv("EGL_PLATFORM", "surfaceless", 0);
  int major = 0, minor = 0;
  void* connection = getDisplay(nullptr);
  if (connection == nullptr || initialize(connection, &major, &minor) == 0) {
    return {"opengl", false,
            "libEGL is installed but cannot be initialised; install libgl1-mesa-dri"};
  }
  constexpr int kEglVendor = 0x3053;
  const char* vendor = query(connection, kEglVendor);
  return {"opengl", true,
          "EGL " + std::to_string(major) + "." + std::to_string(minor) +
              (vendor ? std::string(", ") + vendor : "")};
}

Finding display() {
  for (const char* name : {"WAYLAND_DISPLAY", "DISPLAY"}) {
    if (const char* value = std::getenv(name); value != nullptr && *value != '\0')
      return {"display", true, std::string(name) + "=" + value};
  }
  return {"display", nullptr, "none: Studio can draw pages to files with --screenshot"};
}

Finding disk(const fs::path& database) {
  fs::path folder = database.parent_path();
  while (!fs::exists(folder) && folder.has_relative_path()) folder = folder.parent_path();
  struct statvfs status {};
  if (::statvfs(folder.c_str(), &status) != 0)
    return {"disk", false, folder.string() + " cannot be inspected"};
  const double free = static_cast<double>(status.f_bavail) * static_cast<double>(status.f_frsize);
  return {"disk", free > 1e9,
          formatBytes(free) + " free for the database in " + folder.string() +
              (free > 1e9 ? "" : ": less than a few runs need")};
}

Finding machine() {
  return {"machine", nullptr,
          std::to_string(std::thread::hardware_concurrency()) + " CPU threads, " +
              formatBytes(jobs::readMemory().total) + " of memory"};
}

Finding cpu() {
  const std::string all = joined(cpuPathsHere(), [](CpuPath path) { return nameOf(path); });
  try {
    return {
        "cpu_path", true,
        std::string(nameOf(cpuPath())) + " (this processor has " + all + "; VITRINE_CPU chooses)"};
  } catch (const ConfigError& error) {
    return {"cpu_path", false, error.what()};
  }
}

Finding jobLimits() {
  return {"job_limits", nullptr, "memory and processes of a run: " + jobs::describeContainment()};
}

}  // namespace

int doctorVerb(const Arguments& arguments) {
  CommandLine line("doctor", {"vitrine doctor", "vitrine doctor --json"});
  line.parse(arguments);
  const std::vector<Finding> findings{
      compiler(), qt(),     libtorch(), cudaToolkit(), cudaKernels(),
      gpu(),      sqlite(), openGl(),   display(),     disk(databaseOf(line)),
      machine(),  cpu(),    jobLimits()};
  if (line.wantsJson()) {
    Json out = Json::object();
    out["vitrine"] = VITRINE_VERSION;
    for (const Finding& finding : findings)
      out[finding.name] = {{"ok", finding.ok}, {"text", finding.text}};
    out["sqlite"]["version"] = store::sqliteVersion();
    out["sqlite"]["wal_reset_bug"] = store::sqliteHasWalResetBug();
    print(out);
    return 0;
  }
  Table table{{"part", "", "what is there"}, {}};
  table.rows.push_back({"vitrine", "", VITRINE_VERSION});
  for (const Finding& finding : findings) {
    table.rows.push_back({finding.name,
                          finding.ok.is_null()     ? "-"
                          : finding.ok.get<bool>() ? "ok"
                                                   : "no",
                          finding.text});
  }
  print(table, Format::Text);
  return 0;
}

}  // namespace vitrine::app
