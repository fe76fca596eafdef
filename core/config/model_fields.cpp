#include "core/config/model_fields.h"

#include <utility>

namespace vitrine {

Field imageSizeField(std::string doc, Json value) {
  return sizeField("image_size", std::move(value), std::move(doc))
      .titled("Image size")
      .range(1, 16384)
      .withUnit("px");
}

Field patchSizeField(Json value, std::string doc, std::string name) {
  return sizeField(std::move(name), std::move(value), std::move(doc))
      .titled("Patch size")
      .range(1, 4096)
      .withUnit("px");
}

Field inChannelsField(std::int64_t value, std::string doc) {
  return integerField("in_channels", value, std::move(doc)).titled("Input channels").range(1, 4096);
}

Field classesField(std::string doc) {
  return integerField("num_classes", 1000, std::move(doc)).titled("Classes").range(1, 1000000);
}

Field widthField(std::int64_t value, std::string doc, std::string name) {
  return integerField(std::move(name), value, std::move(doc))
      .titled("Width")
      .range(1, 65536)
      .withUnit("channels");
}

Field depthField(std::int64_t value, std::string doc) {
  return integerField("depth", value, std::move(doc))
      .titled("Depth")
      .range(1, 1024)
      .withUnit("blocks");
}

Field headsField(std::int64_t value, std::string doc) {
  return integerField("heads", value, std::move(doc)).titled("Heads").range(1, 1024);
}

Field mlpWidthField() {
  return integerField("mlp_width", nullptr,
                      "hidden channels of the MLP; none: 4 x width, for SwiGLU 8/3 x width rounded "
                      "up to a multiple of 256")
      .titled("MLP width")
      .range(1, 1048576)
      .orNone()
      .withUnit("channels");
}

}  // namespace vitrine
