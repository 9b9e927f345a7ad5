#pragma once

#include <gtest/gtest.h>

#include <string>

namespace ingot {

// The path of a file or folder in the cache that scripts/fetch-models fills ($INGOT_MODELS), by the layout of
// tools/models.txt: "onnx-1.22.0/node", "magika-1.0.3/model.onnx". Empty when it is not there.
std::string find_model(const std::string& relative);

// The same in $INGOT_SHARED_MODELS, or ../shared/models beside the checkout.
std::string find_shared_model(const std::string& relative);

// True where missing data is a failure: in CI, which has everything.
bool data_is_required();

}  // namespace ingot

// In a test body: declares `variable` with the path, or ends the test, as skipped or under CI as failed.
#define INGOT_MODEL_OR_SKIP(variable, relative)                    \
  const std::string variable = ingot::find_model(relative);        \
  if (variable.empty() && ingot::data_is_required())               \
    FAIL() << relative << " is missing; run scripts/fetch-models"; \
  if (variable.empty()) GTEST_SKIP() << relative << " is missing; run scripts/fetch-models"

// Shared models are not public, so their absence is a skip everywhere.
#define INGOT_SHARED_MODEL_OR_SKIP(variable, relative)             \
  const std::string variable = ingot::find_shared_model(relative); \
  if (variable.empty()) GTEST_SKIP() << "shared model " << relative << " is missing"
