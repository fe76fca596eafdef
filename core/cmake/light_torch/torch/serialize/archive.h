/// \file
/// Read instead of LibTorch's header of the same name where headers are precompiled.
/// torch/nn/module.h includes that one for the archives of Module::save() and load(), which Vitrine
/// does not call. With it comes TorchScript: a fifth of the time of an empty file that sees a
/// module, and a quarter of the time of precompiling. A file that needs the archives includes them
/// itself.
#pragma once

namespace torch::serialize {

class InputArchive;
class OutputArchive;

}  // namespace torch::serialize
