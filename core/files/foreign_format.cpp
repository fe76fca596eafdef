#include "core/files/foreign_format.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>
#include <vector>

namespace vitrine::files {

namespace {

constexpr std::size_t kLookedAt = 1u << 16;  // bytes at each end

/// A file name as it may stand between the quotes of a line of Python.
std::string pythonText(const std::string& name) {
  std::string out;
  for (const char c : name.substr(0, 255)) {
    if (c == '\'' || c == '\\') out += '\\';
    out += c >= 0x20 && c < 0x7f ? c : '?';
  }
  return out;
}

/// Old pickles are text: "(dp0\n", "ccollections\nOrderedDict\n", "(lp1\n". All end in a full stop.
bool looksLikeTextPickle(std::string_view head) {
  constexpr std::array kBeginnings{"(dp",
                                   "(lp",
                                   "}q",
                                   "ccollections\n",
                                   "ctorch\n",
                                   "cnumpy",
                                   "c__builtin__\n",
                                   "c__main__\n",
                                   "cbuiltins\n",
                                   "cposix\n",
                                   "cos\n"};
  return std::any_of(kBeginnings.begin(), kBeginnings.end(),
                     [&](const char* beginning) { return head.starts_with(beginning); });
}

ForeignFormat pickle(std::string clause) {
  return {ForeignFormat::Kind::Pickle, std::move(clause)};
}
ForeignFormat other(std::string clause) { return {ForeignFormat::Kind::Other, std::move(clause)}; }

}  // namespace

std::optional<ForeignFormat> foreignFormat(const Descriptor& fd, const std::filesystem::path& file,
                                           std::uint64_t size) {
  std::vector<std::byte> bytes(static_cast<std::size_t>(std::min<std::uint64_t>(size, kLookedAt)));
  bytes.resize(readAt(fd, file, bytes, 0));
  const std::string_view head(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  const std::string name = pythonText(file.filename().string());
  const std::string saved = pythonText(file.stem().string()) + ".safetensors";
  const std::string ending = file.extension().string();
  const std::string convert =
      "; convert it once in Python: safetensors.torch.save_file(torch.load('" + name +
      "', map_location='cpu', weights_only=True), '" + saved + "')";
  if (head.size() >= 2 && head[0] == '\x80' && head[1] >= 2 && head[1] <= 5) {
    return pickle("is a Python pickle (.pt, .pth, .bin), which can run code when it is opened" +
                  convert);
  }
  if (head.starts_with("PK")) {
    std::vector<std::byte> tail(bytes.size());
    tail.resize(readAt(fd, file, tail, size - bytes.size()));
    const std::string_view end(reinterpret_cast<const char*>(tail.data()), tail.size());
    const auto holds = [&](std::string_view part) {
      return head.find(part) != std::string_view::npos || end.find(part) != std::string_view::npos;
    };
    if (holds("/code/") || holds("constants.pkl")) {
      return other(
          "is a TorchScript archive, which is a program and not only weights; convert it once "
          "in Python: safetensors.torch.save_file(dict(torch.jit.load('" +
          name + "', map_location='cpu').state_dict()), '" + saved + "')");
    }
    if (holds(".npy") && !holds(".pkl")) {
      return other(
          "is a NumPy archive (.npz); convert it once in Python: "
          "safetensors.numpy.save_file(dict(numpy.load('" +
          name + "', allow_pickle=False)), '" + saved + "')");
    }
    if (holds("model.weights.h5")) {
      return other(
          "is a Keras archive; only safetensors can be read: save the model's variables with "
          "safetensors.numpy.save_file in Python");
    }
    return other(
        "is a ZIP archive (a pickle of PyTorch, .pt or .pth, is one), which can run code when "
        "it is opened" +
        convert);
  }
  if (head.starts_with("\x93NUMPY")) {
    return other(
        "is a NumPy array (.npy); convert it once in Python: safetensors.numpy.save_file({'" +
        pythonText(file.stem().string()) + "': numpy.load('" + name + "', allow_pickle=False)}, '" +
        saved + "')");
  }
  if (head.starts_with("\x89HDF\r\n\x1a\n") || head.starts_with("\x89HDF")) {
    return other(
        "is an HDF5 file (.h5 of Keras or h5py); convert it once in Python: collect its data "
        "sets with h5py.File('" +
        name + "').visititems and write them with safetensors.numpy.save_file");
  }
  if (head.starts_with("GGUF")) return other("is a GGUF file; only safetensors can be read");
  if (head.starts_with("\x1f\x8b")) return other("is compressed with gzip; unpack it first");
  if (head.starts_with("BZh") ||
      head.starts_with("\xfd"
                       "7zXZ") ||
      head.starts_with("\x28\xb5\x2f\xfd")) {
    return other("is compressed; unpack it first");
  }
  if (head.size() > 262 && head.substr(257, 5) == "ustar")
    return other("is a tar archive; unpack it first");
  if (head.starts_with("version https://git-lfs"))
    return other("is a Git LFS pointer, not the file itself; fetch it with `git lfs pull`");
  if (head.starts_with("<!DOCTYPE") || head.starts_with("<!doctype") || head.starts_with("<html"))
    return other("is a web page, not the file itself; download the file behind it");
  if (looksLikeTextPickle(head)) {
    return pickle("is a Python pickle of an old protocol, which can run code when it is opened" +
                  convert);
  }
  // Nothing known inside: the name is all there is to go by.
  for (const char* pickled : {".pt", ".pth", ".ckpt", ".pkl", ".pickle"}) {
    if (ending == pickled) {
      return other(
          "is not a safetensors file; by its name it is a pickle of PyTorch, which can run code "
          "when it is opened" +
          convert);
    }
  }
  if (ending == ".onnx") {
    return other(
        "is an ONNX model, which is a program and not only weights; only safetensors can be "
        "read");
  }
  if (ending == ".msgpack") {
    return other(
        "is a Flax checkpoint; convert it once in Python with flax.serialization and "
        "safetensors.flax.save_file");
  }
  return std::nullopt;
}

}  // namespace vitrine::files
