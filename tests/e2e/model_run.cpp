#include "tests/e2e/model_run.h"

#include <cstring>
#include <stdexcept>

#include "ingot/builder.h"
#include "ingot/import.h"
#include "support/quiet_logger.h"
#include "support/temp_folder.h"

namespace ingot {

std::shared_ptr<const Engine> build_and_open(const std::string& model, const std::string& level) {
  TempFolder temp;  // an open engine does not need its file's name any more
  const std::string path = temp.file("model.ingot");
  build_engine_file(import_onnx(model), path);
  return Runtime(quiet_logger(), device_level(level).config()).open(path);
}

std::vector<float> read_wav(const std::string& path) {
  const std::string bytes = read_file(path);
  size_t at = 12;
  auto u32 = [&](size_t i) {
    uint32_t v = 0;
    std::memcpy(&v, bytes.data() + i, 4);
    return v;
  };
  while (at + 8 <= bytes.size() && bytes.compare(at, 4, "data") != 0) at += 8 + u32(at + 4);
  if (at + 8 > bytes.size()) throw std::runtime_error(path + ": no data");
  size_t count = std::min<size_t>(u32(at + 4), bytes.size() - at - 8) / 2;
  std::vector<float> out(count);
  for (size_t i = 0; i < count; ++i) {
    int16_t sample = 0;
    std::memcpy(&sample, bytes.data() + at + 8 + 2 * i, 2);
    out[i] = static_cast<float>(sample) / 32768.0f;
  }
  return out;
}

}  // namespace ingot
