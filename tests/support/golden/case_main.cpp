// golden_case FOLDER...: runs reference cases it may never have seen and prints every tensor
// compared.
//
// A folder is one case (case.json, io.safetensors, and where there are any weights.safetensors and
// grads.safetensors) or holds such folders. What has no counterpart here, or an option that none
// has, is said with its reason. Exit status: 0 every mapped tensor agrees, 1 one does not or a case
// cannot be read, 2 bad usage, 3 nothing could be compared. With --strict a case of which nothing
// is compared is a failure, too.
#include <ATen/ATen.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <stdexcept>

#include "core/base/error.h"
#include "plugins/autoencoder/architectures.h"
#include "plugins/baselines/diffusion_transformers.h"
#include "plugins/illama/illama.h"
#include "plugins/llamafusion/architectures.h"
#include "plugins/vision_lstm/vision_lstm.h"
#include "plugins/visionllama/architectures.h"
#include "plugins/visionllama/rope_settings.h"
#include "plugins/visionllama_diffusion/rotary_diffusion.h"
#include "plugins/vit/vit.h"
#include "tests/support/golden/augment.h"
#include "tests/support/golden/llamafusion.h"
#include "tests/support/golden/models.h"
#include "tests/support/golden/rules.h"
#include "tests/support/golden/variants.h"
#include "tests/support/golden/vision_lstm.h"

namespace {

namespace fs = std::filesystem;
using namespace vitrine::testing;
using vitrine::Json;

/// The architectures that cases name. DeiT's plain models are ViTs.
const vitrine::Architecture* architectureOf(const GoldenCase& golden) {
  static const vitrine::vit::VitArchitecture vit;
  static const vitrine::illama::IllamaArchitecture illama;
  static const vitrine::autoencoder::KlArchitecture autoencoderKl;
  static const vitrine::autoencoder::TaesdArchitecture taesd;
  const std::string name = golden.json.value("architecture", "");
  if (name == "vit" || name == "deit") return &vit;
  if (name == "illama") return &illama;
  static const vitrine::visionllama::PlainArchitecture plain;
  static const vitrine::visionllama::PyramidArchitecture pyramid;
  static const vitrine::visionllama::DensePyramidArchitecture dense;
  static const vitrine::visionllama::VitDetArchitecture vitdet;
  if (name == "visionllama_plain") return &plain;
  if (name == "visionllama_pyramid") return &pyramid;
  if (name == "visionllama_pyramid_dense") return &dense;
  if (name == "visionllama_vitdet") return &vitdet;
  if (name == "autoencoder_kl") return &autoencoderKl;
  if (name == "taesd") return &taesd;
  static const vitrine::baselines::DitArchitecture dit;
  static const vitrine::baselines::SitArchitecture sit;
  static const vitrine::visionllama_diffusion::DitLlamaArchitecture ditLlama;
  static const vitrine::visionllama_diffusion::SitLlamaArchitecture sitLlama;
  if (name == "dit") return &dit;
  if (name == "sit") return &sit;
  if (name == "dit_llama") return &ditLlama;
  if (name == "sit_llama") return &sitLlama;
  static const vitrine::llamafusion::LlamaArchitecture llama;
  if (name == "llama") return &llama;
  static const vitrine::vision_lstm::VisionLstmArchitecture visionLstm;
  if (name == "vision_lstm") return &visionLstm;
  return nullptr;
}

/// The soft mask's factor at every step of the schedules a case names, and its mean over each
/// epoch.
Tensors maskSchedules(const Json& cases) {
  using vitrine::illama::MaskSchedule;
  Tensors pass;
  for (const Json& given : cases) {
    const std::int64_t perEpoch = given.at("niter_per_ep"), epochs = given.at("epochs");
    const std::int64_t cutoff = given.at("cutoff_epoch").get<std::int64_t>() * perEpoch;
    const double start = given.at("soft_mask_rate");
    const bool isLinear = given.at("schedule") == "linear", moves = given.at("mode") == "soft";
    std::vector<double> alphas;
    for (std::int64_t step = 0; step < epochs * perEpoch; ++step) {
      alphas.push_back(
          moves ? vitrine::illama::maskAlphaAt(
                      isLinear ? MaskSchedule::Linear : MaskSchedule::Constant, start, cutoff, step)
                : start);
    }
    const std::string name = given.at("name");
    pass["output/alpha_" + name] = at::tensor(alphas, at::kDouble);
    pass["output/epoch_mean_" + name] =
        pass["output/alpha_" + name].view({epochs, perEpoch}).mean(1);
  }
  return pass;
}

/// Positions of keys as the released pyramid computes them: gsa/<rows>x<columns>_r<cell>.
void addReleasedKeys(const GoldenCase& golden, Tensors& pass) {
  for (const auto& [name, expected] : golden.io) {
    long rows = 0, columns = 0, cell = 0;
    const bool isOne =
        name.ends_with("/repo_row_col") &&
        std::sscanf(name.c_str(), "gsa/%ldx%ld_r%ld/", &rows, &columns, &cell) == 3 && cell > 0;
    if (isOne)
      pass[name] = vitrine::visionllama::keyPositions(vitrine::visionllama::KeyPlaces::Released,
                                                      {rows / cell, columns / cell}, cell, columns);
  }
}

std::vector<Tensors> run(const GoldenCase& golden) {
  const vitrine::Architecture* architecture = architectureOf(golden);
  if (golden.io.contains("output/alpha_" +
                         golden.json.value("/parameters/cases/0/name"_json_pointer, "")))
    return {maskSchedules(golden.settings().at("cases"))};
  if (isFusionCase(golden)) return runFusionCase(golden);
  if (isVisionLstmRule(golden)) return runVisionLstmRule(golden);
  if (architecture == nullptr || !fs::exists(golden.weights())) {
    try {
      return runAugmentationCase(golden);
    } catch (const Unmapped&) {
      std::vector<Tensors> passes = runRuleCase(golden);
      if (golden.json.value("architecture", "") == "rope_tables")
        addReleasedKeys(golden, passes.front());
      return passes;
    }
  }
  if (hasVariants(golden)) return runVariants(golden, *architecture);
  return runModelCase(golden, *architecture);
}

struct Counts {
  int cases = 0, compared = 0, missed = 0, unmapped = 0;
  int unknown = 0;  ///< cases of which nothing was compared
};

void report(const std::string& name, const Compared& line, bool isQuiet, Counts& counts) {
  ++counts.compared;
  counts.missed += line.isMiss();
  if (!line.isMiss() && isQuiet) return;
  std::printf("%-8s  %s %s: error %.3g, allowed %.3g%s%s\n", line.isMiss() ? "MISS" : "ok",
              name.c_str(), line.tensor.c_str(), line.error, line.allowed,
              line.problem.empty() ? "" : ", ", line.problem.c_str());
}

/// A case of half-precision numbers is none of those that the tolerances here are for.
void requireFullPrecision(const GoldenCase& golden) {
  const auto dtype = golden.json.find("dtype");
  if (dtype != golden.json.end() && dtype->dump().find("float16") != std::string::npos)
    throw Unmapped("dtype = " + dtype->dump() + " has no counterpart");
}

void compareFolder(const fs::path& folder, bool isQuiet, Counts& counts) {
  if (const auto lines = compareVisionLstmTable(folder)) {
    for (const Compared& line : *lines) report(folder.filename().string(), line, isQuiet, counts);
    return;
  }
  const GoldenCase golden = readGoldenCase(folder);
  std::vector<Tensors> passes;
  try {
    requireFullPrecision(golden);
    passes = run(golden);
  } catch (const Unmapped& reason) {
    std::printf("unmapped  %s: %s\n", golden.name().c_str(), reason.what());
  } catch (const vitrine::ConfigError& refusal) {  // weights of another model, a refused option
    std::printf("unmapped  %s: %s\n", golden.name().c_str(), refusal.what());
  } catch (const Json::exception& reason) {
    std::printf("unmapped  %s: case.json describes another kind of model: %s\n",
                golden.name().c_str(), reason.what());
  } catch (const std::out_of_range& reason) {
    std::printf("unmapped  %s: a tensor that its family has is missing: %s\n",
                golden.name().c_str(), reason.what());
  }
  if (golden.json.value("architecture", "") == "mlstm_cell" && !passes.empty()) {
    for (const Compared& line : compareCellForms(golden))
      report(golden.name(), line, isQuiet, counts);
  }
  for (const Compared& line : compareCase(golden, passes)) {
    if (!line.isMapped) {
      ++counts.unmapped;
      if (!isQuiet && !passes.empty())
        std::printf("unmapped  %s %s\n", golden.name().c_str(), line.tensor.c_str());
      continue;
    }
    report(golden.name(), line, isQuiet, counts);
  }
}

/// What goes wrong in one case is said and counts as a miss; the others are run all the same.
void runCase(const fs::path& folder, bool isQuiet, Counts& counts) {
  ++counts.cases;
  const int before = counts.compared;
  try {
    compareFolder(folder, isQuiet, counts);
  } catch (const Unmapped& reason) {
    ++counts.unmapped;
    std::printf("unmapped  %s: %s\n", folder.c_str(), reason.what());
  } catch (const std::exception& error) {
    ++counts.missed;
    std::printf("MISS      %s: %s\n", folder.c_str(), error.what());
  }
  counts.unknown += counts.compared == before;
}

std::vector<fs::path> casesBelow(const fs::path& folder) {
  if (fs::exists(folder / "case.json")) return {folder};
  std::vector<fs::path> cases;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.path().filename() == "case.json") cases.push_back(entry.path().parent_path());
  }
  std::sort(cases.begin(), cases.end());
  return cases;
}

}  // namespace

int main(int count, char** words) {
  bool isQuiet = false, isStrict = false;
  Counts counts;
  try {
    std::vector<fs::path> cases;
    for (int i = 1; i < count; ++i) {
      if (std::strcmp(words[i], "--quiet") == 0) {
        isQuiet = true;
        continue;
      }
      if (std::strcmp(words[i], "--strict") == 0) {
        isStrict = true;
        continue;
      }
      if (!fs::is_directory(words[i])) {
        std::fprintf(stderr, "golden_case: %s is not a folder; give folders of cases\n", words[i]);
        return 2;
      }
      const std::vector<fs::path> found = casesBelow(words[i]);
      cases.insert(cases.end(), found.begin(), found.end());
    }
    if (cases.empty()) {
      std::fprintf(
          stderr,
          "usage: golden_case [--quiet] [--strict] FOLDER...   (folders with a case.json, or above "
          "such)\n");
      return 2;
    }
    for (const fs::path& folder : cases) runCase(folder, isQuiet, counts);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "golden_case: %s\n", error.what());
    return 1;
  }
  std::printf("%d cases, %d of them unknown: %d tensors compared, %d missed, %d unmapped\n",
              counts.cases, counts.unknown, counts.compared, counts.missed, counts.unmapped);
  if (counts.missed > 0 || (isStrict && counts.unknown > 0)) return 1;
  return counts.compared > 0 ? 0 : 3;
}
