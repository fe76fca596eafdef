#include "core/plugin/loader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>

#include "core/base/error.h"
#include "core/plugin/plugin_settings.h"
#include "tests/support/refusal.h"

namespace vitrine {
namespace {

namespace fs = std::filesystem;
using test::Names;
using ::testing::AllOf, ::testing::ElementsAre, ::testing::Field, ::testing::IsEmpty;
using ::testing::SizeIs;

const fs::path kFixtures = VITRINE_FIXTURE_FOLDER;

/// A folder with plugin files of its own, and a data home in which nothing is trusted yet.
class Loader : public ::testing::Test {
 protected:
  Loader() {
    ::umask(022);
    // A name of its own for each test: Qt remembers the files it has loaded.
    static int count = 0;
    folder_ = fs::temp_directory_path() /
              ("vitrine-loader-" + std::to_string(::getpid()) + "-" + std::to_string(count++));
    fs::remove_all(folder_);
    fs::create_directories(folder_ / "first");
    fs::create_directories(folder_ / "second");
    ::setenv("XDG_DATA_HOME", (folder_ / "data").c_str(), 1);
    ::setenv("XDG_CONFIG_HOME", (folder_ / "config").c_str(), 1);
    ::setenv("VITRINE_TEST_CANARY", (folder_ / "canary").c_str(), 1);
  }
  ~Loader() override { fs::remove_all(folder_); }

  fs::path put(const std::string& name, const std::string& where = "first") {
    const fs::path file = folder_ / where / (name + ".so");
    fs::copy_file(kFixtures / (name + ".so"), file);
    return file;
  }
  LoadedPlugins load() { return loadPlugins(registry_, {folder_ / "first", folder_ / "second"}); }
  std::vector<std::string> ids() { return registry_.catalog().ids(ItemKind::Analysis); }
  bool hasRunCode() const { return fs::exists(folder_ / "canary"); }

  fs::path folder_;
  Registry registry_;
};

/// Matches a refusal of this code whose sentence names every one of `items`.
template <class... Items>
auto Refusal(RefusalCode code, const Items&... items) {
  return AllOf(Field("code", &PluginRefusal::code, code),
               Field("error", &PluginRefusal::error, Names(items...)));
}

TEST_F(Loader, RegistersWhatAPluginBrings) {
  put("good");
  const LoadedPlugins result = load();
  EXPECT_THAT(result.refused, IsEmpty());
  ASSERT_THAT(result.loaded, SizeIs(1));
  EXPECT_EQ(result.loaded[0].id, "good");
  EXPECT_EQ(result.loaded[0].version, "1.2.3");
  EXPECT_TRUE(result.loaded[0].isBuiltIn);
  EXPECT_THAT(ids(), ElementsAre("good_own", "good_item"));
  EXPECT_EQ(registry_.catalog().items[0].plugin, "good");
}

TEST_F(Loader, LeavesOutADisabledPluginAndSaysSo) {
  put("good");
  disablePlugin({"good", {"analysis/good_item"}});
  const LoadedPlugins result = load();
  EXPECT_THAT(result.loaded, IsEmpty());
  EXPECT_FALSE(hasRunCode());
  EXPECT_THAT(result.refused, ElementsAre(Refusal(RefusalCode::Disabled, "good")));
  EXPECT_EQ(test::refusal<NotFoundError>([&] { (void)registry_.analysis("good_item"); }),
            "the analysis 'good_item' is of the plugin 'good', which is disabled; run "
            "`vitrine plugins --enable good`");
  EXPECT_TRUE(enablePlugin("good"));
  EXPECT_FALSE(enablePlugin("good"));
  EXPECT_THAT(load().loaded, SizeIs(1));
}

TEST_F(Loader, LoadsEverythingWhenTheSettingsAreDamagedAndSaysWhere) {
  put("good");
  fs::create_directories(folder_ / "config/vitrine");
  std::ofstream(folder_ / "config/vitrine/plugins.toml") << "disabled = [\"good\"]\n[[\n";
  const LoadedPlugins result = load();
  EXPECT_THAT(result.loaded, SizeIs(1));
  EXPECT_THAT(result.refused, ElementsAre(Refusal(RefusalCode::BadSettings, "line 2")));
  std::ofstream(folder_ / "config/vitrine/plugins.toml") << "disabled = [\"good\"]\n";
  EXPECT_EQ(disabledPlugins().at(0).id, "good") << "as one writes it by hand";
}

TEST_F(Loader, SaysThatAFileIsNotAFolderOfPlugins) {
  const LoadedPlugins result = loadPlugins(registry_, {folder_ / "second", put("good")});
  EXPECT_THAT(result.loaded, IsEmpty());
  EXPECT_THAT(result.refused, ElementsAre(Refusal(RefusalCode::Unreadable, "good.so", "folder")));
}

TEST_F(Loader, ReadsAManifestWithoutRunningAnyCodeOfTheFile) {
  const PluginManifest manifest = readManifest(put("twin"));
  EXPECT_EQ(manifest.id, "twin");
  EXPECT_EQ(manifest.interface, "org.vitrine.Plugin/3");
  EXPECT_EQ(manifest.torch, VITRINE_TORCH_VERSION);
  EXPECT_EQ(manifest.compiler, VITRINE_COMPILER);
  EXPECT_THAT(manifest.sha256, SizeIs(64));
  EXPECT_FALSE(hasRunCode());
}

TEST_F(Loader, RefusesAPluginOfAnotherInterfaceVersionWithBothVersions) {
  put("other_interface");
  EXPECT_THAT(load().refused, ElementsAre(Refusal(RefusalCode::OtherInterface,
                                                  "org.vitrine.Plugin/1", "org.vitrine.Plugin/3")));
  EXPECT_FALSE(hasRunCode());
}

TEST_F(Loader, RefusesAPluginBuiltWithAnotherLibTorchWithBothVersions) {
  put("other_torch");
  EXPECT_THAT(load().refused,
              ElementsAre(Refusal(RefusalCode::OtherTorch, "1.13.1", VITRINE_TORCH_VERSION)));
  EXPECT_FALSE(hasRunCode());
}

TEST_F(Loader, RefusesAPluginBuiltWithAnotherCompilerWithBothVersions) {
  put("other_compiler");
  EXPECT_THAT(load().refused,
              ElementsAre(Refusal(RefusalCode::OtherCompiler, "Clang 19.1.0", VITRINE_COMPILER)));
  EXPECT_FALSE(hasRunCode());
}

TEST_F(Loader, RefusesAPluginOfAnotherProgram) {
  put("other_program");
  EXPECT_THAT(load().refused,
              ElementsAre(Refusal(RefusalCode::OtherProgram, "org.example.Brush/1")));
}

TEST_F(Loader, RefusesAFileThatIsNoPlugin) {
  std::ofstream(folder_ / "first/text.so") << "not a library\n";
  fs::copy_file(kFixtures / "helper/libfixture_helper.so", folder_ / "first/library.so");
  EXPECT_THAT(load().refused, ElementsAre(Refusal(RefusalCode::NotAPlugin, "library.so"),
                                          Refusal(RefusalCode::NotALibrary, "text.so")));
}

TEST_F(Loader, RefusesAFileThatIsCutAtAnyLength) {
  const fs::path file = put("good");
  const auto whole = fs::file_size(file);
  for (int part = 1; part < 8; ++part) {
    fs::resize_file(file, whole);
    fs::copy_file(kFixtures / "good.so", file, fs::copy_options::overwrite_existing);
    fs::resize_file(file, whole * static_cast<std::uintmax_t>(part) / 8);
    const LoadedPlugins result = load();
    EXPECT_THAT(result.loaded, IsEmpty()) << part << " eighths";
    EXPECT_THAT(result.refused, ElementsAre(Refusal(RefusalCode::CutShort))) << part << " eighths";
  }
  EXPECT_THAT(ids(), IsEmpty());
}

TEST_F(Loader, RefusesAPluginWhoseDependencyIsMissingAndNamesIt) {
  put("needs_helper");  // without the folder `helper` beside it
  EXPECT_THAT(load().refused,
              ElementsAre(Refusal(RefusalCode::NotLoadable, "libfixture_helper.so")));
}

TEST_F(Loader, RefusesASecondPluginThatBringsTheSameItemAndKeepsNothingOfIt) {
  put("good");
  put("twin");
  const LoadedPlugins result = load();
  ASSERT_THAT(result.loaded, SizeIs(1));
  EXPECT_THAT(result.refused,
              ElementsAre(Refusal(RefusalCode::NotRegistered, "good_item", "good", "twin")));
  EXPECT_THAT(ids(), ElementsAre("good_own", "good_item"));
}

TEST_F(Loader, KeepsTheOthersWorkingAndSaysEachRefusalInOneSentence) {
  for (const char* name : {"good", "twin", "other_interface", "other_program", "other_torch",
                           "other_compiler", "needs_helper"}) {
    put(name);
  }
  const LoadedPlugins result = load();
  ASSERT_THAT(result.loaded, SizeIs(1));
  EXPECT_EQ(result.loaded[0].id, "good");
  EXPECT_THAT(result.refused, SizeIs(6));
  for (const PluginRefusal& refusal : result.refused) {
    EXPECT_EQ(refusal.error.find('\n'), std::string::npos) << refusal.error;
    EXPECT_THAT(refusal.error, Names(refusal.plugin.file));
  }
}

TEST_F(Loader, RefusesAFileThatOthersCanWrite) {
  const fs::path file = put("good");
  fs::permissions(file, fs::perms::others_write, fs::perm_options::add);
  EXPECT_THAT(load().refused, ElementsAre(Refusal(RefusalCode::Unsafe, file.string())));
  EXPECT_FALSE(hasRunCode());
}

TEST_F(Loader, RefusesAFolderThatOthersCanWrite) {
  put("good");
  fs::permissions(folder_ / "first", fs::perms::others_write, fs::perm_options::add);
  EXPECT_THAT(load().refused,
              ElementsAre(Refusal(RefusalCode::Unsafe, (folder_ / "first").string())));
  EXPECT_FALSE(hasRunCode());
}

TEST_F(Loader, RefusesALinkToAFileInAFolderThatOthersCanWrite) {
  const fs::path file = put("good", "second");
  fs::permissions(folder_ / "second", fs::perms::others_write, fs::perm_options::add);
  fs::create_symlink(file, folder_ / "first/link.so");
  const LoadedPlugins result = loadPlugins(registry_, {folder_ / "first"});
  EXPECT_THAT(result.loaded, IsEmpty());
  EXPECT_THAT(result.refused, ElementsAre(Refusal(RefusalCode::Unsafe)));
}

TEST_F(Loader, RefusesAFileThatItsGroupCanWriteUnlessThatIsTheUsersOwn) {
  const fs::path file = put("good");
  fs::permissions(file, fs::perms::group_write, fs::perm_options::add);
  if (::chown(file.c_str(), ::geteuid(), 65534) != 0) GTEST_SKIP() << "changing a group needs root";
  EXPECT_THAT(load().refused, ElementsAre(Refusal(RefusalCode::Unsafe, file.string())));
  EXPECT_FALSE(hasRunCode());
  ASSERT_EQ(::chown(file.c_str(), ::geteuid(), ::getegid()), 0);
  EXPECT_THAT(load().loaded, SizeIs(1));
}

TEST_F(Loader, RefusesAFileOrAFolderOfAnotherUser) {
  const fs::path file = put("good");
  for (const fs::path& path : {file, file.parent_path()}) {
    if (::chown(path.c_str(), 65534, ::getegid()) != 0)
      GTEST_SKIP() << "changing an owner needs root";
    EXPECT_THAT(load().refused, ElementsAre(Refusal(RefusalCode::Unsafe, path.string())));
    EXPECT_FALSE(hasRunCode());
    ASSERT_EQ(::chown(path.c_str(), ::geteuid(), ::getegid()), 0);
  }
}

TEST_F(Loader, RefusesAFolderThatOthersCanPutAnotherInPlaceOf) {
  put("good");
  fs::permissions(folder_, fs::perms::others_write, fs::perm_options::add);
  EXPECT_THAT(load().refused, ElementsAre(Refusal(RefusalCode::Unsafe, folder_.string())));
  EXPECT_FALSE(hasRunCode());
  fs::permissions(folder_, fs::perms::sticky_bit, fs::perm_options::add);
  EXPECT_THAT(load().loaded, SizeIs(1)) << "as below /tmp";
}

TEST_F(Loader, LoadsOutsideTheFirstFolderOnlyWhatIsTrusted) {
  const fs::path file = put("good", "second");
  EXPECT_THAT(load().refused, ElementsAre(Refusal(RefusalCode::NotTrusted, file.string())));
  EXPECT_EQ(toString(RefusalCode::NotTrusted), "not_trusted");
  EXPECT_FALSE(hasRunCode());

  trustPlugin(file);
  const LoadedPlugins after = load();
  EXPECT_THAT(after.refused, IsEmpty());
  ASSERT_THAT(after.loaded, SizeIs(1));
  EXPECT_FALSE(after.loaded[0].isBuiltIn);
}

TEST_F(Loader, AsksAgainWhenATrustedFileHasChangedByOneByte) {
  const fs::path file = put("good", "second");
  trustPlugin(file);
  std::ofstream(file, std::ios::app | std::ios::binary) << '\0';
  EXPECT_THAT(load().refused, ElementsAre(Refusal(RefusalCode::NotTrusted)));
}

TEST_F(Loader, BelievesNoListOfTrustThatOthersCanWrite) {
  trustPlugin(put("good", "second"));
  fs::permissions(folder_ / "data/vitrine/trusted_plugins", fs::perms::others_write,
                  fs::perm_options::add);
  EXPECT_THAT(load().loaded, IsEmpty());
}

TEST_F(Loader, TrustsNoFileThatWouldNotLoadAnyway) {
  EXPECT_THROW(trustPlugin(put("other_torch", "second")), PluginError);
  EXPECT_FALSE(fs::exists(folder_ / "data/vitrine/trusted_plugins"));
}

TEST_F(Loader, LooksInThreePlacesAndNeverInTheWorkingFolder) {
  ::setenv("VITRINE_PLUGIN_PATH", "/opt/one:relative:.:/opt/two", 1);
  const std::vector<fs::path> folders = pluginFolders();
  ::unsetenv("VITRINE_PLUGIN_PATH");
  EXPECT_THAT(folders, ElementsAre(fs::path(VITRINE_BINARY_DIR) / "lib/vitrine/plugins",
                                   folder_ / "data/vitrine/plugins", "/opt/one", "/opt/two"));
}

}  // namespace
}  // namespace vitrine
