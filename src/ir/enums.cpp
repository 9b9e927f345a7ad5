#include <array>

#include "ingot/ops.h"

namespace ingot {

#define NAMES(Type, ...)                                                          \
  template <>                                                                     \
  std::span<const std::string_view> enum_names<Type>() {                          \
    static constexpr auto names = std::to_array<std::string_view>({__VA_ARGS__}); \
    return names;                                                                 \
  }

NAMES(AutoPad, "none", "same_upper", "same_lower", "valid")
NAMES(PadMode, "constant", "reflect", "edge", "wrap")
NAMES(Reduction, "none", "add", "mul", "min", "max")
NAMES(LossReduction, "none", "sum", "mean")
NAMES(GeluForm, "erf", "tanh")
NAMES(DepthMode, "dcr", "crd")
NAMES(ResizeMode, "nearest", "linear", "cubic")
NAMES(ResizeCoordinates, "half_pixel", "half_pixel_symmetric", "pytorch_half_pixel", "align_corners",
      "asymmetric", "tf_crop_and_resize", "tf_half_pixel_for_nn")
NAMES(ResizeNearest, "round_prefer_floor", "round_prefer_ceil", "floor", "ceil")
NAMES(ResizePolicy, "stretch", "not_larger", "not_smaller")
NAMES(GridSampleMode, "linear", "nearest", "cubic")
NAMES(GridSamplePadding, "zeros", "border", "reflection")
NAMES(RoiMode, "avg", "max")
NAMES(RoiCoordinates, "half_pixel", "output_half_pixel")
NAMES(Direction, "forward", "reverse", "bidirectional")
NAMES(RoundMode, "up", "down", "nearest")
NAMES(LinearAttentionRule, "linear", "gated", "delta", "gated_delta")
NAMES(AttentionScores, "raw", "capped", "masked", "weights")
NAMES(CaseAction, "none", "lower", "upper")
NAMES(TfIdfMode, "tf", "idf", "tfidf")

#undef NAMES

}  // namespace ingot
