// The layers of this tree. A new folder is added here, as low as what includes it allows.
#include "tests/structure/layers.h"

namespace vitrine::structure {

const Table& treeTable() {
  static const Table table{
      .layers =
          {
              {"", {{"core"}, {"plugins", "ui"}, {"app"}}},
              {"app", {{"studio", "vitrine"}}},
              {"app/vitrine", {{"cli"}, {"report"}, {"run"}, {"log", "serve"}, {"verbs"}, {"."}}},
              {"core",
               {
                   {"base"},
                   {"config", "files", "kernels", "live"},
                   {"artifact"},
                   {"eval", "model", "text"},
                   {"run"},
                   {"data", "nn", "store"},
                   {"diffusion", "jobs", "plugin", "remote"},
                   {"train"},
               }},
              {"core/config", {{"toml"}, {"."}, {"edit", "papers"}}},
              {"core/kernels", {{"cpu"}, {"."}}},
              {"core/nn", {{"position"}, {"."}}},
              {"core/train", {{"update"}, {"."}}},
              {"plugins", {{"*"}}},
              {"plugins/analyses", {{"*"}}},
              {"plugins/datasets", {{"*"}}},
              {"plugins/tasks", {{"*"}}},
              {"ui",
               {
                   {"kit"},
                   {"figures", "form"},
                   {"workbench"},
                   {"artifacts", "attention", "calibration", "compare", "configure", "gallery",
                    "live", "monitor", "playground", "plugins", "queue", "runs", "spectra", "sql",
                    "start"},
                   {"shell"},
               }},
              {"ui/figures", {{"."}, {"cues"}}},
              {"ui/kit", {{"series"}, {"."}}},
              {"ui/configure", {{"form"}, {"plan"}, {"."}}},
              {"ui/workbench", {{"."}, {"analyses", "claims", "sampling"}}},
          },
      .libraries =
          {
              {"foundation",
               {"core/base", "core/files", "core/config", "core/artifact", "core/run", "core/live",
                "core/remote/frames.h", "core/remote/frames.cpp"},
               {}},
              {"store", {"core/store", "core/jobs", "core/remote"}, {"foundation"}},
              {"engine",
               {"core/kernels", "core/model", "core/nn", "core/data", "core/eval", "core/train",
                "core/plugin", "core/diffusion", "core/text"},
               {"foundation"}},
              {"plugins", {"plugins"}, {"foundation", "engine"}},
              {"window", {"ui", "app/studio"}, {"foundation", "store"}},
              {"program", {"app/vitrine"}, {"foundation", "store", "engine"}},
          },
      .exceptions = {},
  };
  return table;
}

}  // namespace vitrine::structure
