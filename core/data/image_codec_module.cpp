// The decoders: the only file of Vitrine that sees OpenCV.
#include <exception>
#include <opencv2/core.hpp>
#include <opencv2/core/utils/logger.hpp>
#include <opencv2/imgcodecs.hpp>
#include <string>

#include "core/data/image_codec.h"

namespace vitrine {

namespace {

void decode(const unsigned char* bytes, std::size_t size, std::int64_t channels, PixelRoom room,
            void* context) {
  static const bool isSetUp = [] {
    cv::setNumThreads(0);  // the loader has threads of its own
    cv::utils::logging::setLogLevel(cv::utils::logging::LOG_LEVEL_SILENT);
    return true;
  }();
  (void)isSetUp;
  // imdecode takes a matrix and does not write to it.
  const cv::Mat file(1, static_cast<int>(size), CV_8U, const_cast<unsigned char*>(bytes));
  const cv::Mat image = cv::imdecode(file, channels == 1 ? cv::IMREAD_GRAYSCALE : cv::IMREAD_COLOR);
  if (image.empty()) throw std::runtime_error("is damaged: it cannot be decoded");
  const int height = image.rows, width = image.cols;
  unsigned char* const out = room(context, height, width);
  const std::size_t plane = static_cast<std::size_t>(height) * static_cast<std::size_t>(width);
  if (channels == 1) {
    cv::Mat target(height, width, CV_8U, out);
    image.copyTo(target);
    return;
  }
  for (int y = 0; y < height; ++y) {
    const unsigned char* row = image.ptr(y);
    unsigned char* to = out + static_cast<std::size_t>(y) * static_cast<std::size_t>(width);
    for (int x = 0; x < width; ++x, ++to) {
      to[0] = row[3 * x + 2];  // OpenCV's order is blue, green, red
      to[plane] = row[3 * x + 1];
      to[2 * plane] = row[3 * x];
    }
  }
}

}  // namespace

}  // namespace vitrine

extern "C" __attribute__((visibility("default"))) const char* vitrine_decode_image(
    const unsigned char* bytes, std::size_t size, std::int64_t channels, vitrine::PixelRoom room,
    void* context) {
  thread_local std::string problem;
  try {
    vitrine::decode(bytes, size, channels, room, context);
    return nullptr;
  } catch (const cv::Exception& error) {
    problem = "is damaged: " + error.err;
  } catch (const std::bad_alloc&) {
    problem = "cannot be decoded: out of memory";
  } catch (const std::exception& error) {
    problem = error.what();
  }
  return problem.c_str();
}
