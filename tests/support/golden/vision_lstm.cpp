#include "tests/support/golden/vision_lstm.h"

#include <ATen/ATen.h>
#include <zlib.h>

#include <algorithm>
#include <fstream>
#include <set>

#include "core/config/experiment.h"
#include "core/kernels/mlstm.h"
#include "core/model/build_device.h"
#include "core/model/weights.h"
#include "plugins/vision_lstm/block.h"
#include "plugins/vision_lstm/state.h"

namespace vitrine::testing {

namespace {

using namespace vitrine::vision_lstm;
using kernels::GateKind, kernels::LastState, kernels::MlstmForm, kernels::MlstmInput;
using kernels::MlstmOptions, kernels::MlstmOutput, kernels::Normaliser, kernels::NormaliserGradient;

/// A cell and the leaves that its gradients are of, under the case's names.
struct Cell {
  MlstmInput input;
  std::vector<std::pair<std::string, at::Tensor>> leaves;
};

Cell cellOf(const GoldenCase& golden, at::ScalarType type = at::kFloat) {
  Cell cell;
  const auto leaf = [&](const char* name) {
    const auto found = golden.io.find(std::string("input/") + name);
    if (found == golden.io.end()) return at::Tensor();
    cell.leaves.emplace_back(name, found->second.to(type).clone().requires_grad_(true));
    return cell.leaves.back().second;
  };
  cell.input.q = leaf("q"), cell.input.k = leaf("k"), cell.input.v = leaf("v");
  cell.input.inputGate = leaf("i"), cell.input.forgetGate = leaf("f");
  cell.input.start = {leaf("C0"), leaf("n0"), leaf("m0")};
  // A state without a stabiliser is the memory itself.
  if (cell.input.start.memory.defined() && !cell.input.start.stabiliser.defined())
    cell.input.start.stabiliser = at::zeros(cell.input.q.sizes().slice(0, 2), type);
  return cell;
}

MlstmOptions optionsOf(const GoldenCase& golden, MlstmForm form) {
  requireKnown(golden.settings(), "model",
               {"batch", "heads", "tokens", "head_dim", "forget_gate", "input_gate", "eps"});
  MlstmOptions options;
  const auto gate = [&](const char* name) {
    return counterpartOf<GateKind>(golden.settings(), name,
                                   {{"sigmoid", GateKind::Sigmoid}, {"exp", GateKind::Exp}});
  };
  options.forgetGate = gate("forget_gate");
  options.inputGate = gate("input_gate");
  options.eps = golden.settings().at("eps");
  options.form = form;
  return options;
}

MlstmInput inDouble(const MlstmInput& in) {
  const auto wide = [](const at::Tensor& tensor) {
    return tensor.defined() ? tensor.detach().to(at::kDouble) : tensor;
  };
  return {
      wide(in.q),          wide(in.k),
      wide(in.v),          wide(in.inputGate),
      wide(in.forgetGate), {wide(in.start.memory), wide(in.start.sum), wide(in.start.stabiliser)}};
}

/// h, loss and gradients below `prefix` and `gradients`.
void addPass(const GoldenCase& golden, const MlstmOptions& options, const std::string& prefix,
             const std::string& gradients, Tensors& pass) {
  const Cell cell = cellOf(golden);
  const at::Tensor h = kernels::mlstm(cell.input, options).h;
  const at::Tensor loss = (h * golden.io.at("input/upstream")).sum();
  // Its terms cancel each other: what is left of them is known in float64 alone.
  const at::Tensor exact = kernels::mlstm(inDouble(cell.input), options).h;
  pass[prefix + "h"] = h.detach();
  pass[prefix + "loss"] = (exact * golden.io.at("input/upstream")).sum().detach();
  loss.backward();
  for (const auto& [name, leaf] : cell.leaves) pass[gradients + "input/" + name] = leaf.grad();
}

/// `value` without its division by exp(m). \param m  of the first dimensions of `value`
at::Tensor undivided(const at::Tensor& value, at::Tensor m) {
  while (m.dim() < value.dim()) m = m.unsqueeze(-1);
  return value.to(at::kDouble) * m.to(at::kDouble).exp();
}

/// The states of the recurrence from m_0 = 0, token by token through the running state. References
/// with a sigmoid input gate have no m; their states are the same for both normalisers.
void addStates(const GoldenCase& golden, MlstmOptions options, Tensors& pass) {
  const at::NoGradGuard noGradient;
  MlstmInput input = cellOf(golden).input;
  const std::int64_t batch = input.q.size(0), heads = input.q.size(1), tokens = input.q.size(2),
                     width = input.q.size(3);
  if (!input.start.memory.defined()) {
    input.start = {at::zeros({batch, heads, width, input.v.size(3)}),
                   at::zeros({batch, heads, width}), at::zeros({batch, heads})};
  }
  options.lastState = LastState::Keep;
  const bool hasStabiliser = options.inputGate == GateKind::Exp;
  const auto asStored = [&](const at::Tensor& value, const at::Tensor& m) {
    return hasStabiliser ? value : undivided(value, m);
  };
  const MlstmOutput whole = kernels::mlstm(input, options);
  const at::Tensor signedSum = asStored(whole.signedSum, whole.stabiliser),
                   memory = asStored(whole.last.memory, whole.last.stabiliser),
                   sum = asStored(whole.last.sum, whole.last.stabiliser);
  if (hasStabiliser) pass["output/m"] = whole.stabiliser;
  for (const std::string prefix : {"output/", "output/normalised/", "output/plain/"}) {
    pass[prefix + "signed_sum"] = signedSum;
    pass[prefix + "C_last"] = memory;
    pass[prefix + "n_last"] = sum;
  }
  if (!golden.io.contains("output/n")) return;
  std::vector<at::Tensor> sums;
  MlstmInput step = input;
  for (std::int64_t t = 0; t < tokens; ++t) {
    step.q = input.q.narrow(2, t, 1), step.k = input.k.narrow(2, t, 1);
    step.v = input.v.narrow(2, t, 1);
    step.inputGate = input.inputGate.narrow(2, t, 1);
    step.forgetGate = input.forgetGate.narrow(2, t, 1);
    step.start = kernels::mlstm(step, options).last;
    sums.push_back(asStored(step.start.sum, step.start.stabiliser));
  }
  pass["output/n"] = at::stack(sums, 2);
}

std::vector<Tensors> cells(const GoldenCase& golden) {
  std::vector<Tensors> passes;
  struct Form {
    MlstmForm form;
    std::int64_t chunk;
  };
  // As chosen by length, and in chunks that pass a memory on: of one token, of sizes that divide
  // the length and that do not, of the size that long sequences take.
  for (const Form& each :
       {Form{MlstmForm::Recurrent, 0}, Form{MlstmForm::Parallel, 0}, Form{MlstmForm::Chunkwise, 0},
        Form{MlstmForm::Chunkwise, 1}, Form{MlstmForm::Chunkwise, 7},
        Form{MlstmForm::Chunkwise, 16}, Form{MlstmForm::Chunkwise, 64}}) {
    Tensors pass;
    MlstmOptions options = optionsOf(golden, each.form);
    options.chunk = each.chunk;
    addStates(golden, options, pass);
    if (options.inputGate == GateKind::Sigmoid) {
      addPass(golden, options, "output/normalised/", "grad/normalised/", pass);
      options.normaliser = Normaliser::None;
      addPass(golden, options, "output/plain/", "grad/plain/", pass);
    } else {
      options.normaliserGradient = NormaliserGradient::Ignored;
      addPass(golden, options, "output/", "grad_normaliser_ignored/", pass);
      options.normaliserGradient = NormaliserGradient::Exact;
      addPass(golden, options, "output/", "grad/", pass);
      options.eps = 1e-6;
      if (!golden.io.contains("input/C0"))
        pass["output/h_eps1e-6"] = kernels::mlstm(cellOf(golden).input, options).h.detach();
    }
    passes.push_back(std::move(pass));
  }
  return passes;
}

/// Parameters of a module take the case's values and receive gradients.
template <class Module>
std::shared_ptr<Module> filled(std::shared_ptr<Module> module, const GoldenCase& golden) {
  const at::NoGradGuard noGradient;
  for (const auto& [name, value] : readTensors(golden.weights()))
    module->named_parameters()[name].copy_(value);
  return module;
}

void addGradients(torch::nn::Module& module, const at::Tensor& input, const std::string& name,
                  const at::Tensor& loss, Tensors& pass) {
  loss.backward();
  pass["output/loss"] = loss.detach();
  pass["grad/input/" + name] = input.grad();
  for (const auto& item : module.named_parameters()) pass[item.key()] = item.value().grad();
}

Tensors operators(const GoldenCase& golden) {
  const Json& given = golden.settings();
  requireKnown(given, "model",
               {"channels", "conv_kernel", "grid", "qkv_block", "heads", "head_dim", "eps"});
  const bool hasHeads = golden.io.contains("input/h");
  const std::string inputName = hasHeads ? "h" : "x";
  if (!golden.io.contains("input/" + inputName)) throw Unmapped("no operator here takes this");
  at::Tensor x = golden.io.at("input/" + inputName).clone().requires_grad_(true);
  Tensors pass;
  const auto one = [&](auto module, const at::Tensor& y) {
    pass["output/y"] = y.detach();
    addGradients(*module, x, inputName, (y * golden.io.at("input/upstream_y")).sum(), pass);
  };
  if (hasHeads) {
    const std::int64_t heads = given.at("heads"), width = given.at("head_dim");
    const auto norm = filled(
        std::make_shared<HeadNorm>(heads * width, given.at("eps"), nn::Bias::Present), golden);
    one(norm, norm->forward(x).unflatten(2, {heads, width}).transpose(1, 2));
  } else if (given.contains("grid")) {
    const auto convolution =
        filled(std::make_shared<DepthwiseConvolution>(Convolution::Grid, given.at("channels"),
                                                      given.at("conv_kernel")),
               golden);
    const Grid grid{given.at("grid").at(0), given.at("grid").at(1)};
    at::Tensor loss = at::zeros({});
    for (int i = 0; i < 8; ++i) {
      const auto traversal = static_cast<Traversal>(i);
      std::string name = nameOf(traversal);
      name[3] = '_';
      if (!golden.io.contains("input/upstream_" + name)) continue;
      const std::vector<std::int64_t> order = scanOrder(grid, traversal);
      const at::Tensor y =
          convolution->forward(x.index_select(1, at::tensor(order)), scanGrid(grid, traversal))
              .index_select(1, at::tensor(inverseOf(order)));
      pass["output/" + name] = y.detach();
      loss = loss + (y * golden.io.at("input/upstream_" + name)).sum();
    }
    addGradients(*convolution, x, inputName, loss, pass);
  } else if (given.contains("conv_kernel")) {
    const auto convolution =
        filled(std::make_shared<DepthwiseConvolution>(Convolution::Causal1d, given.at("channels"),
                                                      given.at("conv_kernel")),
               golden);
    one(convolution, convolution->forward(x, {1, x.size(1)}));
  } else if (given.contains("qkv_block")) {
    const auto map = filled(std::make_shared<HeadwiseLinear>(
                                given.at("channels"), given.at("qkv_block"), nn::Bias::Present),
                            golden);
    one(map, map->forward(x));
  } else {
    const auto norm = filled(
        std::make_shared<OffsetNorm>(given.at("channels"), given.at("eps"), nn::Bias::Present),
        golden);
    one(norm, norm->forward(x));
  }
  return pass;
}

Json readJson(const std::filesystem::path& file) {
  std::ifstream stream(file);
  return Json::parse(stream);
}

/// A gzip file's text.
std::string unpacked(const std::filesystem::path& file) {
  gzFile from = gzopen(file.c_str(), "rb");
  std::string text;
  std::vector<char> buffer(65536);
  for (int count = 0; from != nullptr && (count = gzread(from, buffer.data(), 65536)) > 0;)
    text.append(buffer.data(), static_cast<std::size_t>(count));
  if (from != nullptr) gzclose(from);
  return text;
}

Compared equal(const std::string& name, bool isEqual) {
  return {name, isEqual ? 0.0 : 1.0, 0, isEqual ? "" : "another one", true};
}

std::vector<Compared> traversals(const Json& table) {
  std::vector<Compared> lines;
  for (const Json& item : table) {
    const Grid grid{item.at("grid").at(0), item.at("grid").at(1)};
    const std::size_t before = lines.size();
    for (int i = 0; i < 8; ++i) {
      const auto traversal = static_cast<Traversal>(i);
      if (item.at("direction") != nameOf(traversal)) continue;
      const std::vector<std::int64_t> order = scanOrder(grid, traversal);
      const Grid seen = scanGrid(grid, traversal);
      const std::string name = item.at("grid").dump() + " " + nameOf(traversal);
      lines.push_back(equal(name + " order", item.at("order") == Json(order)));
      lines.push_back(equal(name + " inverse", item.at("inverse") == Json(inverseOf(order))));
      lines.push_back(equal(name + " grid", item.at("scan_grid") == Json{seen.rows, seen.columns}));
    }
    if (lines.size() == before)
      throw Unmapped("the direction " + item.at("direction").dump() + " has no counterpart");
  }
  return lines;
}

/// A resolved table of the architecture.
Config resolved(Json values) {
  if (const auto problems = resolveItem(makeSchema(), "model", values); !problems.empty())
    throw Unmapped(problems.front().sentence());
  return Config(values);
}

std::vector<Compared> multiplyAdds(const Json& table) {
  std::vector<Compared> lines;
  for (const Json& item : table) {
    requireKnown(item, "flops",
                 {"model", "image_size", "tokens", "dim", "depth", "patch", "heads", "chunk",
                  "multiply_adds"});
    const Json& wanted = item.at("multiply_adds");
    const bool isNano = item.at("model").get<std::string>().starts_with("nano");
    const Config config = resolved({{"image_size", item.at("image_size")},
                                    {"patch", item.at("patch")},
                                    {"dim", item.at("dim")},
                                    {"depth", item.at("depth")},
                                    {"heads", item.at("heads")},
                                    {"in_channels", isNano ? 1 : 3},
                                    {"num_classes", isNano ? 10 : 1000}});
    const ScopedBuildDevice meta(at::kMeta);
    const VisionLstm model(readConfig(config), 0);
    std::map<std::string, double> sums;
    double base = 0;
    for (const BlockCost& part : model.cost()) {
      const std::string kind = part.name.substr(part.name.rfind('.') + 1);
      if (kind != "mlstm_cell") base += part.macs;
      sums[kind] += part.macs;
    }
    const std::string name =
        item.at("model").get<std::string>() + " " + item.at("image_size").dump() + " ";
    const auto compare = [&](const std::string& what, double ours, double theirs) {
      lines.push_back({name + what, std::abs(ours - theirs), 1e-12 * theirs, "", true});
    };
    for (const auto& [part, value] : wanted.at("components").items())
      compare(part, sums[part], value);
    compare("base", base, wanted.at("base"));
    const CellCount count{item.at("tokens"), 2 * item.at("dim").get<std::int64_t>(),
                          item.at("heads"), item.at("chunk")};
    const double depth = item.at("depth");
    for (const auto& [way, value] : wanted.at("cell").items()) {
      compare(way, depth * cellMacs(way, count), value);
      compare(way + " total", base + depth * cellMacs(way, count), wanted.at("total").at(way));
    }
  }
  return lines;
}

/// "v1-Tplus-224", "nano-48x4-28"
Json tableOf(const std::string& model) {
  const std::size_t dash = model.find('-'), last = model.rfind('-');
  const std::string version = model.substr(0, dash), size = model.substr(dash + 1, last - dash - 1);
  const int side = std::stoi(model.substr(last + 1));
  if (version == "nano") {
    return {{"image_size", side},     {"patch", 4},
            {"in_channels", 1},       {"num_classes", 10},
            {"dim", std::stoi(size)}, {"depth", std::stoi(size.substr(size.find('x') + 1))}};
  }
  std::string preset = "vision_lstm/" + std::string(version == "v1" ? "v1_" : "");
  preset += static_cast<char>(std::tolower(size.front()));
  if (size.ends_with("plus")) preset += "_plus";
  const Schema schema = makeSchema();
  const auto* found = schema.preset(preset);
  if (found == nullptr) throw Unmapped("the size " + model + " has no counterpart");
  Json values = found->values;
  values["image_size"] = side;
  return values;
}

std::vector<Compared> parameters(const Json& table) {
  std::vector<Compared> lines;
  for (const auto& [name, wanted] : table.items()) {
    const ScopedBuildDevice meta(at::kMeta);
    VisionLstm model(readConfig(resolved(tableOf(name))), 0);
    lines.push_back(
        {name + " total",
         std::abs(static_cast<double>(parameterCount(model)) - wanted.at("total").get<double>()), 0,
         "", true});
    std::int64_t counted = 0;
    for (const BlockCost& part : model.cost()) counted += part.parameters;
    lines.push_back(equal(name + " cost table", counted == wanted.at("total")));
    // Every public name is one of ours, of the same shape.
    WeightSource source;
    for (const Json& item : wanted.at("parameters"))
      source.add(item.at(0), item.at(1), [] { return at::Tensor(); }, {item.at(0)});
    model.transform(source);
    std::set<std::string> left;
    for (const std::string& each : source.names()) left.insert(each);
    for (const auto& [own, tensor] : namedTensors(model)) {
      const bool isThere = source.has(own) && source.shape(own) == tensor.sizes().vec();
      if (!isThere) lines.push_back({name + " " + own, 1, 0, "no public name gives it", true});
      left.erase(own);
    }
    lines.push_back(equal(name + " names", left.empty()));
  }
  return lines;
}

}  // namespace

bool isVisionLstmRule(const GoldenCase& golden) {
  const std::string architecture = golden.json.value("architecture", "");
  return architecture == "mlstm_cell" ||
         (architecture == "op" &&
          golden.json.value("source", "").find("vision-lstm") != std::string::npos);
}

std::vector<Tensors> runVisionLstmRule(const GoldenCase& golden) {
  if (golden.json.value("architecture", "") == "mlstm_cell") return cells(golden);
  return {operators(golden)};
}

std::vector<Compared> compareCellForms(const GoldenCase& golden) {
  const auto passOf = [&](MlstmForm form, std::int64_t chunk) {
    MlstmOptions options = optionsOf(golden, form);
    options.chunk = chunk;
    const Cell cell = cellOf(golden, at::kDouble);
    const at::Tensor h = kernels::mlstm(cell.input, options).h;
    (h * golden.io.at("input/upstream").to(at::kDouble)).sum().backward();
    Tensors pass{{"h", h.detach()}};
    for (const auto& [name, leaf] : cell.leaves) pass["grad/" + name] = leaf.grad();
    return pass;
  };
  const Tensors recurrent = passOf(MlstmForm::Recurrent, 0);
  double most = 0;
  for (const auto& [name, tensor] : recurrent) {
    if (name != "h") most = std::max(most, tensor.abs().max().item<double>());
  }
  std::vector<Compared> lines;
  const auto compare = [&](const std::string& form, const Tensors& pass) {
    for (const auto& [name, tensor] : recurrent) {
      // Some gradients are nearly zero: they are measured against the largest.
      const Allowance allowance{0, 0, 1e-12, name == "h" ? 1e-30 : 0.01 * most};
      lines.push_back(
          compareTensors("float64 " + name + ", " + form, pass.at(name), tensor, allowance));
    }
  };
  compare("parallel", passOf(MlstmForm::Parallel, 0));
  for (const std::int64_t chunk :
       {std::int64_t{1}, std::int64_t{16}, std::int64_t{64}, golden.io.at("input/q").size(2)})
    compare("chunks of " + std::to_string(chunk), passOf(MlstmForm::Chunkwise, chunk));
  return lines;
}

std::optional<std::vector<Compared>> compareVisionLstmTable(const std::filesystem::path& folder) {
  namespace fs = std::filesystem;
  if (fs::exists(folder / "io.safetensors") ||
      readJson(folder / "case.json").value("architecture", "") != "vision_lstm")
    return std::nullopt;
  if (fs::exists(folder / "traversals.json"))
    return traversals(readJson(folder / "traversals.json"));
  if (fs::exists(folder / "flops.json")) return multiplyAdds(readJson(folder / "flops.json"));
  if (fs::exists(folder / "parameters.json.gz"))
    return parameters(Json::parse(unpacked(folder / "parameters.json.gz")));
  return std::nullopt;
}

}  // namespace vitrine::testing
