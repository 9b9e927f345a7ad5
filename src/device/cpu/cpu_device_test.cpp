#include "device/cpu/cpu_device.h"

#include <gtest/gtest.h>

#include "ingot/error.h"
#include "ingot/graph.h"
#include "kernel/target.h"
#include "support/thrown_by.h"

namespace ingot::cpu {
namespace {

Error error_at_level(const std::string& isa) {
  return thrown_by([&] {
    GraphBuilder g;
    g.output("y", g.relu(g.input("x", Type::tensor(DType::f32, {Dim(3)}))));
    CompileOptions options;
    options.isa = isa;
    device().compile(std::make_shared<Graph>(std::move(g).finish()), options);
  });
}

TEST(CpuDevice, RefusesLevelsThatTheProcessorLacks) {
  if (kernel::detect_isa_level() >= kernel::IsaLevel::amx) GTEST_SKIP() << "it has all";
  const Error error = error_at_level("amx");
  EXPECT_EQ(error.code(), ErrorCode::incompatible);
  EXPECT_EQ(error.parts().name, "amx");
}

// Nobody reaches the emulation by a setting.
TEST(CpuDevice, EmulatedTilesAreNoLevelUntilATestAllowsThem) {
  EXPECT_EQ(error_at_level(std::string(kEmulatedTiles)).code(), ErrorCode::invalid_argument);
}

}  // namespace
}  // namespace ingot::cpu
