#include "core/files/foreign_format.h"

#include <algorithm>
#include <span>
#include <string_view>
#include <vector>

namespace vitrine::files {

std::string foreignFormat(const Descriptor& fd, const std::filesystem::path& file,
                          std::uint64_t size) {
  std::vector<std::byte> bytes(static_cast<std::size_t>(std::min<std::uint64_t>(size, 1u << 16)));
  bytes.resize(readAt(fd, file, bytes, 0));
  const std::string_view head(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  const std::string name = file.filename().string();
  const std::string convert =
      "; convert it once in Python: safetensors.torch.save_file(torch.load('" + name +
      "', weights_only=True), '" + file.stem().string() + ".safetensors')";
  if (head.size() >= 2 && head[0] == '\x80' && head[1] >= 2 && head[1] <= 5) {
    return "is a Python pickle (.pt, .pth, .bin), which can run code when it is opened" + convert;
  }
  if (head.starts_with("PK")) {
    std::vector<std::byte> tail(bytes.size());
    tail.resize(readAt(fd, file, tail, size - bytes.size()));
    const std::string_view end(reinterpret_cast<const char*>(tail.data()), tail.size());
    const auto holds = [&](std::string_view part) {
      return head.find(part) != std::string_view::npos || end.find(part) != std::string_view::npos;
    };
    if (holds("/code/") || holds("constants.pkl")) {
      return "is a TorchScript archive, which is a program and not only weights; convert it once "
             "in Python: "
             "safetensors.torch.save_file(dict(torch.jit.load('" +
             name + "').state_dict()), '" + file.stem().string() + ".safetensors')";
    }
    return "is a ZIP archive (a pickle of PyTorch, .pt or .pth, is one), which can run code when "
           "it is opened" +
           convert;
  }
  if (head.starts_with("GGUF")) return "is a GGUF file; only safetensors can be read";
  if (head.starts_with("\x93NUMPY")) return "is a NumPy array; only safetensors can be read";
  if (head.starts_with("\x89HDF")) return "is an HDF5 file; only safetensors can be read";
  if (head.starts_with("\x1f\x8b")) return "is compressed with gzip; unpack it first";
  if (head.starts_with("version https://git-lfs")) {
    return "is a Git LFS pointer, not the file itself; fetch it with `git lfs pull`";
  }
  return "";
}

}  // namespace vitrine::files
