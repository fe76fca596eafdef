#include "core/data/image_codec.h"

#include <dlfcn.h>

#include <cstdlib>

#include "core/base/error.h"
#include "core/data/sample.h"
#include "core/files/checkpoint_folder.h"
#include "core/files/image_header.h"

namespace vitrine {

namespace {

struct Decoders {
  DecodeImageFunction decode = nullptr;
  std::string why;
};

Decoders loadDecoders() {
  const ImageLimits limits;
  // A second line of defence behind inspectImage. OpenCV reads these when it is loaded, once, so
  // they are set here and nowhere else.
  ::setenv("OPENCV_IO_MAX_IMAGE_PIXELS", std::to_string(limits.pixels).c_str(), 1);
  ::setenv("OPENCV_IO_MAX_IMAGE_WIDTH", std::to_string(limits.side).c_str(), 1);
  ::setenv("OPENCV_IO_MAX_IMAGE_HEIGHT", std::to_string(limits.side).c_str(), 1);
  // By name alone: the folder stands in the RUNPATH of this library, which differs between a build
  // tree and an installation.
  void* module = ::dlopen("image_codecs.so", RTLD_NOW | RTLD_LOCAL);
  if (module == nullptr) {
    return {nullptr, std::string("images cannot be decoded: ") + ::dlerror() +
                         "; install Debian's libopencv-imgcodecs-dev and build again"};
  }
  void* entry = ::dlsym(module, "vitrine_decode_image");
  if (entry == nullptr)
    return {nullptr, "images cannot be decoded: image_codecs.so is not Vitrine's; install again"};
  return {reinterpret_cast<DecodeImageFunction>(entry), ""};
}

}  // namespace

void decodeImage(std::span<const std::byte> bytes, const std::string& name, std::int64_t channels,
                 SampleValue& out) {
  static const Decoders decoders = loadDecoders();
  if (decoders.decode == nullptr) throw Error(decoders.why);
  (void)inspectImage(bytes, name);
  struct Target {
    std::int64_t channels;
    SampleValue& value;
  } target{channels, out};
  const PixelRoom room = [](void* context, std::int64_t height, std::int64_t width) {
    const auto& into = *static_cast<Target*>(context);
    return into.value.resize<std::uint8_t>({into.channels, height, width}).data();
  };
  if (const char* problem = decoders.decode(reinterpret_cast<const unsigned char*>(bytes.data()),
                                            bytes.size(), channels, room, &target)) {
    throw FileError(name + " " + problem);
  }
}

void decodeImageFile(const std::filesystem::path& file, std::int64_t channels, SampleValue& out) {
  const std::string content = readTextFile(file, kLargestImageFile);
  decodeImage(std::as_bytes(std::span(content)), file.string(), channels, out);
}

}  // namespace vitrine
