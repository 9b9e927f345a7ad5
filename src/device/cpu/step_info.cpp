#include "device/cpu/step_info.h"

#include <algorithm>

#include "device/cpu/plan_builder.h"
#include "ir/op_info.h"

namespace ingot::cpu {
namespace {

double bytes_of(const std::vector<View>& views) {
  double sum = 0;
  for (const View& view : views) sum += static_cast<double>(view.count()) * bit_width(view.dtype) / 8;
  return sum;
}

std::vector<std::string> describe_all(const std::vector<View>& views) {
  std::vector<std::string> out;
  for (const View& view : views) out.push_back(describe(view));
  return out;
}

KernelInfo describe_kernel(const KernelSet& kernels, int id) {
  return {.key = kernels.key(id),
          .origin = std::string(to_string(kernels.origin(id))),
          .text = kernel::to_string(kernels.source(id)),
          .code_bytes = kernels.code_bytes(id)};
}

}  // namespace

std::string describe(const View& view) {
  const Shape shape(view.sizes.begin(), view.sizes.begin() + view.rank);
  std::string out = fmt::format("{}{}", to_string(view.dtype), ingot::to_string(shape));
  if (view.is_dense()) return out;
  const std::vector<int> order = axis_order(view);
  if (view.rank > 2 && order == channels_last(view.rank)) return out + " channels last";
  if (std::ranges::is_sorted(order)) return out + " strided";
  return out + fmt::format(" axes {}", fmt::join(order, ","));
}

StepInfo describe_step(const Step& step, const KernelSet& kernels) {
  const std::string text = step.describe();
  const size_t space = std::min(text.find(' '), text.size());
  StepInfo info{.name = step.name,
                .kind = text.substr(0, space),
                .detail = text.substr(std::min(space + 1, text.size())),
                .reads = describe_all(step.read_views),
                .writes = describe_all(step.write_views),
                .flops = step.cost.flops,
                .integers = step.cost.integers,
                .bytes = step.cost.bytes,
                .kernels = {}};
  if (info.bytes == 0) info.bytes = bytes_of(step.read_views) + bytes_of(step.write_views);
  for (int id : step.kernels()) info.kernels.push_back(describe_kernel(kernels, id));
  return info;
}

StepInfo describe_host_node(const Graph& graph, const Node& node, bool by_routine) {
  const std::string op(ingot::to_string(node.op));
  const char* fallback = node.subgraphs.empty() ? "reference" : "control";
  StepInfo info{.name = node.origin.empty() ? op : node.origin,
                .kind = by_routine ? "routine" : fallback,
                .detail = op};
  for (Value v : node.operands)
    if (!v.is_none()) info.reads.push_back(ingot::to_string(graph.type(v)));
  for (const Type& type : node.types) info.writes.push_back(ingot::to_string(type));
  return info;
}

}  // namespace ingot::cpu
