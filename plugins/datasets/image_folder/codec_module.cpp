// The decoders: the only file of Vitrine that sees OpenCV.
#include <algorithm>
#include <cmath>
#include <exception>
#include <opencv2/core.hpp>
#include <opencv2/core/utils/logger.hpp>
#include <opencv2/imgcodecs.hpp>
#include <opencv2/imgproc.hpp>
#include <string>

#include "plugins/datasets/image_folder/codec.h"

namespace vitrine::image_folder {

namespace {

/// The largest centred cut of an image with the proportions of the result, `crop` of its sides.
cv::Rect cutOf(const cv::Mat& image, const Framing& framing) {
  const double scale =
      std::min(static_cast<double>(image.cols) / static_cast<double>(framing.width),
               static_cast<double>(image.rows) / static_cast<double>(framing.height)) *
      framing.crop;
  const auto side = [scale](std::int64_t wanted, int there) {
    return std::clamp(static_cast<int>(std::lround(scale * static_cast<double>(wanted))), 1, there);
  };
  const int width = side(framing.width, image.cols), height = side(framing.height, image.rows);
  return {(image.cols - width) / 2, (image.rows - height) / 2, width, height};
}

void decode(const unsigned char* bytes, std::size_t size, const Framing& framing,
            unsigned char* out) {
  static const bool isSetUp = [] {
    cv::setNumThreads(0);  // the loader has threads of its own
    cv::utils::logging::setLogLevel(cv::utils::logging::LOG_LEVEL_SILENT);
    return true;
  }();
  (void)isSetUp;
  // imdecode takes a matrix and does not write to it.
  const cv::Mat file(1, static_cast<int>(size), CV_8U, const_cast<unsigned char*>(bytes));
  const cv::Mat image =
      cv::imdecode(file, framing.channels == 1 ? cv::IMREAD_GRAYSCALE : cv::IMREAD_COLOR);
  if (image.empty()) throw std::runtime_error("is damaged: it cannot be decoded");
  const int height = static_cast<int>(framing.height), width = static_cast<int>(framing.width);
  const cv::Rect cut = cutOf(image, framing);
  cv::Mat resized;
  const bool isSmaller = cut.width > width || cut.height > height;
  cv::resize(image(cut), resized, {width, height}, 0, 0,
             isSmaller ? cv::INTER_AREA : cv::INTER_LINEAR);
  const std::size_t plane = static_cast<std::size_t>(height) * static_cast<std::size_t>(width);
  if (framing.channels == 1) {
    cv::Mat target(height, width, CV_8U, out);
    resized.copyTo(target);
    return;
  }
  for (int y = 0; y < height; ++y) {
    const unsigned char* row = resized.ptr(y);
    unsigned char* to = out + static_cast<std::size_t>(y) * static_cast<std::size_t>(width);
    for (int x = 0; x < width; ++x, ++to) {
      to[0] = row[3 * x + 2];  // OpenCV's order is blue, green, red
      to[plane] = row[3 * x + 1];
      to[2 * plane] = row[3 * x];
    }
  }
}

}  // namespace

}  // namespace vitrine::image_folder

extern "C" __attribute__((visibility("default"))) const char* vitrine_decode_image(
    const unsigned char* bytes, std::size_t size, const vitrine::image_folder::Framing& framing,
    unsigned char* out) {
  thread_local std::string problem;
  try {
    vitrine::image_folder::decode(bytes, size, framing, out);
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
