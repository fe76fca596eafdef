#include "tests/app/program.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <fstream>
#include <random>
#include <sstream>
#include <utility>

#include "core/base/program.h"
#include "tests/support/child.h"
#include "tests/support/wait_until.h"

namespace vitrine::test {

namespace fs = std::filesystem;

namespace {

fs::path newName(const std::string& prefix) {
  static std::atomic<int> count{0};
  return fs::temp_directory_path() /
         (prefix + std::to_string(::getpid()) + "-" + std::to_string(count++));
}

std::vector<std::string> environment() {
  std::vector<std::string> all{"XDG_DATA_HOME=" + (sharedFolder() / "home").string(),
                               "XDG_CACHE_HOME=" + (sharedFolder() / "cache").string(),
                               "XDG_CONFIG_HOME=" + (sharedFolder() / "config").string(),
                               "VITRINE_DEVICE_LOCKS=" + deviceLocks(), "OMP_NUM_THREADS=1"};
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string text = *entry;
    const bool isOurs = text.rfind("VITRINE_", 0) == 0 && text.rfind("VITRINE_CPU=", 0) != 0;
    if (!isOurs && text.rfind("XDG_", 0) != 0) all.push_back(text);
    // A test's own plugins, not those of the user who runs the tests.
    const std::string tested = "TESTED_PLUGIN_PATH=";
    if (text.starts_with(tested))
      all.push_back("VITRINE_PLUGIN_PATH=" + text.substr(tested.size()));
  }
  return all;
}

}  // namespace

Json Ended::json() const {
  Json value = Json::parse(out, nullptr, false);
  EXPECT_FALSE(value.is_discarded()) << "stdout is not JSON: " << out << "\nstderr: " << err;
  return value;
}

Program::Program(const std::vector<std::string>& arguments, const std::string& input)
    : out_(newName("vitrine-out-")), err_(newName("vitrine-err-")) {
  std::vector<std::string> words{VITRINE_PROGRAM};
  words.insert(words.end(), arguments.begin(), arguments.end());
  const fs::path in = newName("vitrine-in-");
  writeText(in, input);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, in.c_str(), O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, 1, out_.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  posix_spawn_file_actions_addopen(&actions, 2, err_.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  const std::vector<std::string> variables = environment();
  const int failed = ::posix_spawn(&pid_, VITRINE_PROGRAM, &actions, nullptr,
                                   execPointers(words).data(), execPointers(variables).data());
  posix_spawn_file_actions_destroy(&actions);
  fs::remove(in);  // the program has it open
  EXPECT_EQ(failed, 0) << VITRINE_PROGRAM;
  if (failed != 0) pid_ = -1;
}

Program::~Program() {
  if (pid_ > 0) {
    signalProcess(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  std::error_code error;
  fs::remove(out_, error);
  fs::remove(err_, error);
}

void Program::signal(int number) const { signalProcess(pid_, number); }

bool Program::hasTaken(int number) const {
  std::istringstream status(fileOfSystem("status"));
  for (std::string line; std::getline(status, line);) {
    if (!line.starts_with("SigPnd:") && !line.starts_with("ShdPnd:")) continue;
    if ((std::stoull(line.substr(7), nullptr, 16) >> (number - 1) & 1) != 0) return false;
  }
  return true;
}

std::string Program::fileOfSystem(const std::string& name) const {
  return readText("/proc/" + std::to_string(pid_) + "/" + name);
}

bool Program::waitForError(const std::string& text) const {
  const auto isSaid = [&] { return readText(err_).find(text) != std::string::npos; };
  const auto hasEnded = [&] {
    siginfo_t info{};
    return ::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
           info.si_pid == pid_;
  };
  return waitUntil([&] { return isSaid() || hasEnded(); }) && isSaid();
}

Ended Program::wait() {
  return {
      .code = exitCodeOf(std::exchange(pid_, -1)), .out = readText(out_), .err = readText(err_)};
}

Variable::Variable(const char* name, const std::optional<std::string>& value) : name_(name) {
  if (const char* before = std::getenv(name)) before_ = before;
  set(value);
}

Variable::~Variable() { set(before_); }

void Variable::set(const std::optional<std::string>& value) const {
  value ? ::setenv(name_, value->c_str(), /*replace=*/1) : ::unsetenv(name_);
}

std::string deviceLocks() { return sharedFolder().string() + "-" + std::to_string(::getpid()); }

Ended vitrine(const std::vector<std::string>& arguments, const std::string& input) {
  return Program(arguments, input).wait();
}

fs::path sharedFolder() { return VITRINE_APP_DATA; }
std::string sharedDatabase() { return (sharedFolder() / "runs.sqlite").string(); }

Ended onShared(std::vector<std::string> words) {
  words.insert(words.end(), {"--db", sharedDatabase()});
  return vitrine(words);
}

std::string sharedExperiment() { return (sharedFolder() / "tiny.toml").string(); }
std::string sharedSingle() { return (sharedFolder() / "one.toml").string(); }

std::string undividedCells() {
  return R"(title = "Cells"
[model]
architecture = "visionllama_pyramid"
preset = "visionllama/pyramid_demo"
gsa_reduction = [4, 1]
[task]
name = "classification"
[data]
dataset = "idx"
folder = ")" + (sharedFolder() / "images").string() +
         "\"\n";
}

Scratch::Scratch() : folder_(newName("vitrine-scratch-")) { fs::create_directories(folder_); }
Scratch::Scratch(const Scratch& other) : Scratch() {
  fs::copy(other.folder_, folder_, fs::copy_options::recursive);
}
Scratch::~Scratch() {
  std::error_code error;
  fs::remove_all(folder_, error);
}

Copy::Copy() {
  // The programs are gone, so nothing is left in the log beside the file.
  fs::copy_file(sharedDatabase(), database());
  fs::copy(sharedFolder() / "runs.files", path("runs.files"), fs::copy_options::recursive);
}

Ended Copy::run(std::vector<std::string> words) const {
  words.insert(words.end(), {"--db", database()});
  return vitrine(words);
}

namespace {

void writeBig(std::ofstream& stream, int value) {
  for (const int shift : {24, 16, 8, 0}) stream.put(static_cast<char>((value >> shift) & 255));
}

void writeSplit(const fs::path& folder, const std::string& name, int count, unsigned seed) {
  std::mt19937 random(seed);
  std::ofstream images(folder / (name + "-images-idx3-ubyte"), std::ios::binary);
  std::ofstream labels(folder / (name + "-labels-idx1-ubyte"), std::ios::binary);
  writeBig(images, 0x803);
  for (const int value : {count, 8, 8}) writeBig(images, value);
  writeBig(labels, 0x801);
  writeBig(labels, count);
  for (int i = 0; i < count; ++i) {
    const int label = i % 4;
    labels.put(static_cast<char>(label));
    for (int pixel = 0; pixel < 64; ++pixel)
      images.put(static_cast<char>(10 + 60 * label + static_cast<int>(random() % 40)));
  }
}

}  // namespace

void writeImages(const fs::path& folder, int train, int test) {
  fs::create_directories(folder);
  writeSplit(folder, "train", train, 1);
  writeSplit(folder, "t10k", test, 2);
}

void writeText(const fs::path& file, const std::string& text) {
  std::ofstream(file, std::ios::binary) << text;
}

std::string readText(const fs::path& file) {
  std::ostringstream text;
  text << std::ifstream(file, std::ios::binary).rdbuf();
  return text.str();
}

}  // namespace vitrine::test
