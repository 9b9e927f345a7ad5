#pragma once

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>

#include "ingot/runtime.h"
#include "support/device_levels.h"

namespace ingot {

// Imports a model, builds its engine file in a temporary folder, and opens that: the way of every user.
// `level` is one of device_level_names().
std::shared_ptr<const Engine> build_and_open(const std::string& model, const std::string& level);

// A test that runs once for each device of this build, at every instruction-set level.
class OnDevice : public ::testing::TestWithParam<std::string> {};
#define INGOT_ON_EVERY_DEVICE(Test)                                                           \
  INSTANTIATE_TEST_SUITE_P(Devices, Test, ::testing::ValuesIn(::ingot::device_level_names()), \
                           [](const auto& info) { return info.param; })

// f32 samples in [-1, 1) of a 16-bit mono WAV file.
std::vector<float> read_wav(const std::string& path);

}  // namespace ingot
