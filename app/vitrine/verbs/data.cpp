// vitrine data: writes samples of a data set in a layout that other programs read.
#include "app/vitrine/cli/command_line.h"
#include "app/vitrine/cli/output.h"
#include "app/vitrine/run/engine.h"
#include "core/base/text.h"
#include "core/data/scene_files.h"

namespace vitrine::app {

int dataVerb(const Arguments& arguments) {
  CommandLine line("data",
                   {"vitrine data shape_segments --as coco --to shapes size=128 train_size=500",
                    "vitrine data shape_segments --as ade20k --to shapes --split test"});
  std::string id, format = "coco", folder, splitName = "train";
  std::int64_t limit = 0;
  std::vector<std::string> overrides;
  CLI::App& app = line.app();
  app.add_option("dataset", id, "a data set with masks: `vitrine plugins` lists them")
      ->required()
      ->type_name("ID");
  app.add_option("--as", format, "coco: images, boxes and masks in JSON; ade20k: folders of masks")
      ->check(CLI::IsMember({"coco", "ade20k"}));
  app.add_option("--to", folder, "folder to write into; created if it is missing")
      ->required()
      ->type_name("FOLDER");
  app.add_option("--split", splitName, "train, validation or test");
  app.add_option("--limit", limit, "samples at most, the first ones; 0: all")
      ->check(CLI::NonNegativeNumber);
  app.add_option("overrides", overrides, "keys of the data set: size=128")->type_name("KEY=VALUE");
  line.parse(arguments);

  const Split split = splitFromString(splitName);
  Engine engine;
  const DatasetSource& source = engine.registry.dataset(id);
  const auto dataset = source.open(Config(
      resolveOrThrow(source.card().schema, "data", Json::object(), parseOverrides(overrides))));
  const WrittenScenes written = format == "coco"
                                    ? writeCocoScenes(*dataset, split, limit, folder)
                                    : writeAde20kScenes(*dataset, split, limit, folder);
  if (line.wantsJson()) {
    print(Json{{"folder", folder},
               {"format", format},
               {"split", splitName},
               {"images", written.images},
               {"objects", written.objects}});
    return 0;
  }
  print(formatCount(written.images) + " images" +
        (format == "coco" ? " with " + formatCount(written.objects) + " objects" : "") +
        " are in " + folder + "\n");
  return 0;
}

}  // namespace vitrine::app
