// A window over a sample database with short curves.
#pragma once

#include <gtest/gtest.h>

#include "tests/ui/support/qt_test.h"
#include "ui/shell/main_window.h"

namespace vitrine::ui {

struct StudioWindow : ::testing::Test {
  SampleStudio studio{SampleOptions{0, 50}};
  MainWindow window{studio.workbench};
};

}  // namespace vitrine::ui
