// A Gallery over a database with the images of two runs.
#pragma once

#include <gmock/gmock.h>

#include <QLineEdit>
#include <QTest>
#include <QToolButton>
#include <memory>
#include <string>
#include <vector>

#include "tests/ui/support/fake_workbench.h"
#include "tests/ui/support/find.h"
#include "tests/ui/support/qt_environment.h"
#include "tests/ui/support/soon.h"
#include "ui/gallery/contact_sheet.h"
#include "ui/gallery/gallery_page.h"
#include "ui/workbench/local_edits.h"

namespace vitrine::ui {

/// Stores what is typed, as the window does.
class StoringWorkbench : public FakeWorkbench {
 public:
  void edit(std::int64_t run, store::RunField field, const std::string& text, std::int64_t basedOn,
            QObject* context, const std::function<void(const EditOutcome&)>& onOutcome) override {
    edits_.edit(run, field, text, basedOn, context, onOutcome);
  }

 private:
  LocalEdits edits_{store()};
};

class Gallery : public ::testing::Test {
 protected:
  /// A picture of one colour; returns its id.
  std::int64_t add(std::int64_t run, std::int64_t step, std::uint64_t seed, int grey = 100,
                   const Json& recipe = {{"sampler", "heun"}, {"class", 3}}) {
    const std::vector<std::uint8_t> pixels(8 * 8, static_cast<std::uint8_t>(grey));
    GeneratedImage image = generatedImage(pixels, 8, 8, 1);
    image.step = step;
    image.seed = seed;
    image.recipe = recipe;
    return workbench_.store().addImage(run, image);
  }
  /// Two runs, steps 100 and 400, seeds 0 to 4.
  void fill() {
    first_ = workbench_.addRun("wide", Json::object());
    second_ = workbench_.addRun("narrow", Json::object());
    workbench_.selection().setRuns({first_}, first_);
    for (const std::int64_t run : {first_, second_})
      for (const std::int64_t step : {100, 400})
        for (std::uint64_t seed = 0; seed < 5; ++seed)
          add(run, step, seed,
              static_cast<int>(10 * seed + static_cast<std::uint64_t>(step) / 10 +
                               static_cast<std::uint64_t>(run)));
  }
  std::unique_ptr<GalleryPage> page(QSize size = {1000, 700}) {
    auto made = std::make_unique<GalleryPage>(workbench_);
    made->resize(size);
    bringUp(*made);
    made->waitUntilIdle();
    made->sheet().setFocus();
    return made;
  }
  std::unique_ptr<GalleryPage> filledPage() {
    fill();
    return page();
  }
  static void click(GalleryPage& page, int index, Qt::KeyboardModifiers keys = {}) {
    QTest::mouseClick(page.sheet().viewport(), Qt::LeftButton, keys,
                      page.sheet().placeOf(index).center());
    page.waitUntilIdle();
  }
  static void type(GalleryPage& page, const QString& text) {
    auto* field = page.findChild<QLineEdit*>();
    field->setFocus();
    field->selectAll();
    QTest::keyClicks(field, text);
    QTest::keyClick(field, Qt::Key_Return);
    page.waitUntilIdle();
  }
  static std::string texts(const QWidget& widget) { return labelsIn(widget).toStdString(); }
  /// Decoded pictures, small and whole ones together.
  static qsizetype pictureBytes(const GalleryPage& page) {
    qsizetype bytes = 0;
    for (const Thumbnails* pictures : page.findChildren<Thumbnails*>()) bytes += pictures->bytes();
    return bytes;
  }
  static void press(GalleryPage& page, const char* text) {
    ui::press<QToolButton>(page, text);
    page.waitUntilIdle();
  }

  StoringWorkbench workbench_;
  std::int64_t first_ = 0, second_ = 0;
};

}  // namespace vitrine::ui
