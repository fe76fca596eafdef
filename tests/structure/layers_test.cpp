// The checker itself: that it sees what it is for.
#include "tests/structure/layers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace vitrine::structure {
namespace {

using ::testing::ElementsAre, ::testing::IsEmpty, ::testing::StartsWith;

Table smallTable() {
  return {.layers = {{"", {{"core"}, {"plugins", "ui"}}},
                     {"core", {{"base"}, {"store", "nn"}, {"train"}}},
                     {"core/base", {{"."}, {"edit"}}},
                     {"plugins", {{"*"}}},
                     {"ui", {{"kit"}, {"queue", "start"}, {"shell"}}}},
          .libraries = {{"foundation", {"core/base"}, {}},
                        {"store", {"core/store"}, {"foundation"}},
                        {"engine", {"core/nn", "core/train"}, {"foundation"}},
                        {"plugins", {"plugins"}, {"foundation", "engine"}},
                        {"window", {"ui"}, {"foundation", "store"}}},
          .exceptions = {}};
}

std::vector<std::string> of(const std::string& from, const std::string& to) {
  return violations({{from, to}}, smallTable());
}

TEST(QuotedIncludes, AreReadAsTheCompilerReadsThem) {
  EXPECT_THAT(quotedIncludes("#include \"a/b.h\"\n"
                             "  #  include\t\"c.h\"  // why\n"
                             "#include <vector>\n"
                             "// #include \"comment.h\"\n"
                             "#define X \"d.h\"\n"
                             "#include \"last.h\""),
              ElementsAre("a/b.h", "c.h", "last.h"));
}

TEST(Layers, AllowWhatIsBelowAndTheOwnFolder) {
  EXPECT_THAT(of("ui/shell/window.cpp", "ui/queue/page.h"), IsEmpty());
  EXPECT_THAT(of("ui/shell/window.cpp", "ui/kit/theme.h"), IsEmpty());
  EXPECT_THAT(of("ui/shell/window.cpp", "ui/shell/window.h"), IsEmpty());
  EXPECT_THAT(of("ui/queue/page.cpp", "core/store/store.h"), IsEmpty());
}

TEST(Layers, RefuseAnIncludeUpwards) {
  EXPECT_THAT(of("ui/kit/theme.cpp", "ui/shell/window.h"),
              ElementsAre("ui/kit/theme.cpp includes ui/shell/window.h: 'ui/shell' is above "
                          "'ui/kit'. Move what both need to a lower layer, or pass an interface."));
  EXPECT_THAT(of("core/base/text.h", "ui/kit/theme.h"),
              ElementsAre(StartsWith("core/base/text.h includes ui/kit/theme.h: 'ui' is above ")));
}

TEST(Layers, RefuseAnIncludeSideways) {
  EXPECT_THAT(of("ui/start/page.cpp", "ui/queue/page.h"),
              ElementsAre(StartsWith("ui/start/page.cpp includes ui/queue/page.h: 'ui/queue' is "
                                     "beside 'ui/start'. ")));
  EXPECT_THAT(of("plugins/a/a.cpp", "plugins/b/b.h"),
              ElementsAre(StartsWith("plugins/a/a.cpp includes plugins/b/b.h: 'plugins/b' is "
                                     "beside 'plugins/a'. ")));
}

TEST(Layers, HoldInsideAFolderToo) {
  EXPECT_THAT(of("core/base/edit/patch.cpp", "core/base/text.h"), IsEmpty());
  EXPECT_THAT(of("core/base/text.cpp", "core/base/edit/patch.h"),
              ElementsAre(StartsWith("core/base/text.cpp includes core/base/edit/patch.h: "
                                     "'core/base/edit' is above 'core/base/.'. ")));
}

TEST(Layers, RefuseALibraryThatIsNotLinked) {
  EXPECT_THAT(of("ui/queue/page.cpp", "core/nn/norm.h"),
              ElementsAre("ui/queue/page.cpp includes core/nn/norm.h: window does not link "
                          "engine."));
  EXPECT_THAT(of("core/train/trainer.cpp", "core/store/store.h"),
              ElementsAre("core/train/trainer.cpp includes core/store/store.h: engine does not "
                          "link store."));
}

TEST(Layers, AskForTheLayerOfANewFolder) {
  EXPECT_THAT(of("ui/gallery/page.cpp", "ui/kit/theme.h"),
              ElementsAre("ui/gallery/page.cpp includes ui/kit/theme.h: 'ui/gallery' has no "
                          "layer yet: add it to tests/structure/table.cpp."));
}

TEST(Layers, TakeAnExceptionAsLongAsItIsNeeded) {
  Table table = smallTable();
  table.exceptions = {{"ui/kit/theme", "ui/shell/", "a test"}};
  EXPECT_THAT(violations({{"ui/kit/theme.cpp", "ui/shell/window.h"}}, table), IsEmpty());
  EXPECT_THAT(violations({{"ui/kit/icons.cpp", "ui/shell/window.h"}}, table),
              ElementsAre(StartsWith("ui/kit/icons.cpp includes ui/shell/window.h: "),
                          "The exception for ui/kit/theme and ui/shell/ is not needed any more: "
                          "take it out of tests/structure/table.cpp."));
}

TEST(Drawing, NamesTheExceptions) {
  Table table = smallTable();
  table.exceptions = {{"ui/kit/theme", "ui/shell/", "a test"}};
  EXPECT_EQ(drawing({{"ui/kit/theme.cpp", "ui/shell/window.h"}}, table),
            "ui/shell\n\nui/kit\n\nAgainst the layers: ui/kit/theme -> ui/shell/\n");
}

TEST(Drawing, ShowsRoomsFromTheTopWithoutArrowsThatFollow) {
  EXPECT_EQ(drawing({{"ui/shell/window.cpp", "ui/start/page.h"},
                     {"ui/shell/window.cpp", "ui/kit/theme.h"},
                     {"ui/start/page.cpp", "ui/kit/theme.h"},
                     {"ui/start/page.cpp", "core/base/edit/patch.h"},
                     {"core/base/edit/patch.cpp", "core/base/text.h"},
                     {"plugins/a/a.cpp", "core/base/text.h"}},
                    smallTable()),
            "ui/shell        -> ui/start\n"
            "\n"
            "ui/start        -> core/base/edit ui/kit\n"
            "\n"
            "ui/kit\n"
            "\n"
            "plugins         -> core/base\n"
            "\n"
            "core/base/edit  -> core/base\n"
            "core/base\n");
}

}  // namespace
}  // namespace vitrine::structure
