#pragma once

#include <map>
#include <memory>
#include <string>

#include "ingot/runtime.h"

namespace ingot {

// Imports a model, builds its engine file in a temporary folder, and opens that: the way of every user.
std::shared_ptr<const Engine> build_and_open(const std::string& model);

// f32 samples in [-1, 1) of a 16-bit mono WAV file.
std::vector<float> read_wav(const std::string& path);

}  // namespace ingot
