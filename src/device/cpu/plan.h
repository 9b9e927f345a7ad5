#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/thread_pool.h"
#include "device/cpu/view.h"
#include "device/cpu/weight_stream.h"
#include "ingot/graph.h"

namespace ingot::cpu {

// Memory that steps read and write.
struct Buffer {
  enum class Kind : uint8_t { arena, input, output, constant };
  Kind kind = Kind::arena;
  int64_t bytes = 0;
  int64_t slack = 0;            // the last of them: only to be readable
  int64_t slot = 0;             // which input or output; arena: offset, once planned
  std::byte* memory = nullptr;  // of constants
  int32_t first_step = -1;      // arena: when it is written first and read last
  int32_t last_step = -1;
  int32_t in_place_of = -1;  // arena: the buffer whose memory it takes over
};

// A view whose memory is a buffer; view.data is null.
struct Place {
  int32_t buffer = -1;
  int64_t offset = 0;  // in bytes
  View view = {};

  bool is_none() const { return buffer < 0; }
  // Whether the elements have the same places in two buffers, from the start of each.
  bool lies_like(const Place& other) const {
    return offset == 0 && other.offset == 0 && view.dtype == other.view.dtype &&
           view.rank == other.view.rank && view.sizes == other.view.sizes &&
           view.strides == other.view.strides;
  }
};

// What a step runs with.
struct Frame {
  std::span<std::byte* const> buffers;
  ThreadPool& pool;
  std::byte* scratch = nullptr;  // Step::scratch_bytes() for each thread of the pool
  int64_t scratch_stride = 0;

  std::byte* at(int32_t buffer, int64_t offset) const {
    return buffers[static_cast<size_t>(buffer)] + offset;
  }
  View view(const Place& place) const {
    View view = place.view;
    view.data = at(place.buffer, place.offset);
    return view;
  }
  std::byte* scratch_of(int thread) const { return scratch + thread * scratch_stride; }
};

// What a step costs, for inspection and to decide whether threads pay.
struct StepCost {
  double flops = 0;
  bool integers = false;  // products of 8-bit integers
  double bytes = 0;
};

class Step {
 public:
  virtual ~Step() = default;
  // Adds kernels with which link() can do for any sizes.
  virtual void add_standbys() {}
  virtual void link() {}                            // once, after what can be has been compiled or loaded
  virtual bool stands_in() const { return false; }  // not all kernels that it wants were ready
  virtual void run(const Frame& frame) const = 0;
  virtual std::string describe() const = 0;                // one line: kind (one word), sizes, schedule
  virtual int64_t scratch_bytes() const { return 0; }      // per thread
  virtual bool shares_scratch() const { return false; }    // one for all threads is enough
  virtual std::vector<int> kernels() const { return {}; }  // that it calls, in the KernelSet
  // Buffers that it reads, each element before it writes the one at the same place of its output.
  virtual std::vector<int32_t> reads_in_place() const { return {}; }

  std::string name;  // of the graph node it stands for
  StepCost cost;
  std::vector<int32_t> reads;    // buffers
  std::vector<int32_t> writes;   // buffers
  std::vector<View> read_views;  // for people
  std::vector<View> write_views;
  std::vector<const StreamedWeight*> weights;       // that leave memory after it, where they do not stay
  std::vector<const StreamedWeight*> next_weights;  // of the step after it
  int32_t scratch = -1;  // the buffer of its scratch, once planned; none: it needs none
  int64_t scratch_stride = 0;
};

// A static graph made ready to run. Immutable; shared by contexts.
struct Plan {
  std::vector<Buffer> buffers;
  std::vector<std::unique_ptr<Step>> steps;
  std::vector<Shape> output_shapes;
  std::vector<int32_t> output_buffers;            // by output of the graph
  std::vector<std::shared_ptr<const void>> keep;  // owners of constants
  int64_t arena_bytes = 0;                        // of one inference, scratch included
  int64_t least_bytes = 0;      // what no arena can do without: the most that buffers of one step take
  int64_t scratch_bytes = 0;    // most of a step, for all threads
  int64_t value_bytes = 0;      // the most that values take during one step
  int64_t reference_nodes = 0;  // run by the reference device
  bool is_generic = false;      // kernels stand in for those that it wants

  // Runs a step on memory for the buffers.
  static void run(const Step& step, const Frame& frame);
};

// Whether an output may lie in the memory of an input: no step reads the input after one that writes the
// output, and a step that does both reads each element before it writes the one at its place.
bool can_overwrite(const Plan& plan, int64_t input, size_t output);

// Gives arena buffers their offsets: two that live at the same time do not overlap. An output takes over the
// memory of an operand that the step reads in place and nobody reads later. The scratch of a step for so many
// threads is a buffer that lives during that step.
void plan_arena(Plan& plan, int threads);

}  // namespace ingot::cpu
