// Frames of a small model, for tests of the Live page.
#pragma once

#include "core/live/frame.h"

namespace vitrine::ui {

/// Two layers of two heads over a class token and 3 x 3 patches; each query reads its own patch
/// with 0.5 and the one after it with 0.25, times the layer's number.
inline live::Frame liveFrame(std::int64_t step, bool isCausal = true) {
  live::Frame frame;
  frame.step = step;
  frame.totalSteps = 100;
  frame.stepsPerEpoch = 50;
  frame.loss = 2.0 - static_cast<double>(step) / 100;
  frame.imagesPerSecond = 1234;
  frame.scheduled = {{"model/mask_alpha", 1 - static_cast<double>(step) / 100}};
  for (std::int64_t i = step > 4 ? step - 4 : 0; i < step; ++i)
    frame.steps.push_back({i, 0.001F, 0.010F, 0.020F, 0.002F, 0, 0.001F, i % 4 == 0 ? 0.004F : 0});
  frame.watchShare = 0.03;
  frame.image = 0;
  frame.images = 8;
  frame.sample = 17;
  frame.label = 3;
  frame.split = "test";
  frame.pixels = {6, 6, 1, {}};
  for (int i = 0; i < 36; ++i) frame.pixels.bytes.push_back(static_cast<std::uint8_t>(7 * i));
  for (int l = 0; l < 2; ++l) {
    live::AttentionLayer layer{.layer = l, .heads = 2, .isWhole = true};
    for (int i = 0; i < 9; ++i)
      layer.queries.push_back({static_cast<float>(i / 3), static_cast<float>(i % 3)});
    layer.queries.push_back({-1, -1});
    layer.keys = layer.queries;
    for (int head = 0; head < 2; ++head) {
      for (int q = 0; q < 10; ++q) {
        for (int k = 0; k < 10; ++k) {
          float value = k == q ? 0.5F : k == q + 1 ? 0.25F : 0.01F;
          if (isCausal && k > q) value = 0;
          layer.weights.push_back(value * static_cast<float>(l + 1));
        }
      }
      for (int k = 0; k < 10; ++k) layer.mean.push_back(0.1F * static_cast<float>(k));
    }
    frame.attention.push_back(std::move(layer));
  }
  live::Matrices m{0, 0, 10, 10, {}, {}};
  for (int i = 0; i < 100; ++i) {
    m.softmax.push_back(0.1F);
    m.effective.push_back(i % 10 > i / 10 ? 0.04F : 0.1F);
  }
  frame.matrices = std::move(m);
  frame.gap = live::ScheduleGap{1.0, 1.0 + static_cast<double>(step) / 200, 32};
  return frame;
}

inline live::Film liveFilm() {
  live::Film film{.step = 40, .images = 2};
  film.height = film.width = 4;
  film.channels = 3;
  film.times = {1, 0.5F, 0};
  film.captions = {"a red square", "a circle"};
  film.bytes.assign(3 * 2 * 48, 90);
  return film;
}

}  // namespace vitrine::ui
