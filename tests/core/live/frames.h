// A frame with every part, for tests.
#pragma once

#include "core/live/frame.h"

namespace vitrine::live {

inline Frame fullFrame() {
  Frame frame;
  frame.step = 1120;
  frame.totalSteps = 4690;
  frame.stepsPerEpoch = 469;
  frame.time = 44.5;
  frame.loss = 0.742;
  frame.imagesPerSecond = 3274;
  frame.steps = {{1118, 0.001F, 0.01F, 0.02F, 0.002F, 0, 0.001F, 0},
                 {1119, 0.001F, 0.01F, 0.02F, 0.002F, 0.5F, 0.001F, 0.002F}};
  frame.scheduled = {{"model/mask_alpha", 0.403}};
  frame.watchShare = 0.015;
  frame.frameSeconds = 0.002;
  frame.image = 2;
  frame.images = 8;
  frame.sample = 4711;
  frame.label = 3;
  frame.split = "test";
  frame.pixels = {4, 4, 1, std::vector<std::uint8_t>(16, 100)};
  AttentionLayer layer{.heads = 2, .isWhole = true};
  layer.queries = layer.keys = {{-1, -1}, {0, 0}, {0, 1}, {1, 0}, {1, 1}};
  for (int i = 0; i < 2 * 5 * 5; ++i) layer.weights.push_back(static_cast<float>(i) / 50.0F);
  layer.mean.assign(2 * 5, 0.2F);
  frame.attention = {layer, layer};
  frame.attention[1].layer = 1;
  frame.matrices = Matrices{1, 0, 5, 5, std::vector<float>(25, 0.2F), std::vector<float>(25, 0.1F)};
  frame.gap = ScheduleGap{0.742, 0.947, 32};
  frame.film = Film{1000, 2, 3, 3, 1, {999, 500, 0}, {4, 1}, {"a bag", "a boot"},
                    std::vector<std::uint8_t>(3 * 2 * 9, 7)};
  return frame;
}

}  // namespace vitrine::live
