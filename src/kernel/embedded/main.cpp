// Makes the image of the kernels that are embedded in the library: ingot_make_kernels OUTPUT
#include <algorithm>
#include <cstdio>

#include "base/atomic_file.h"
#include "base/thread_pool.h"
#include "ingot/error.h"
#include "kernel/compiler.h"
#include "kernel/kernel_image.h"

namespace ingot::kernel {
namespace {

// Nests in the form that the lowering gives them.
class NestWriter {
 public:
  explicit NestWriter(std::vector<Axis> axes, int32_t vector_axis) {
    nest_.axes = std::move(axes);
    nest_.vector_axis = vector_axis;
  }

  int32_t add(Expr expr) {
    nest_.exprs.push_back(std::move(expr));
    return static_cast<int32_t>(nest_.exprs.size()) - 1;
  }
  int32_t sum_of_tile() { return add({.kind = ExprKind::accumulator, .args = {}}); }
  int32_t constant(double value) { return add({.args = {}, .real = value}); }
  int32_t op(Op op, std::vector<int32_t> args) {
    return add({.kind = ExprKind::op, .op = op, .args = std::move(args)});
  }
  int32_t reduce(Op op, int32_t arg) { return add({.kind = ExprKind::reduce, .op = op, .args = {arg}}); }
  int32_t relu6(int32_t arg) {
    const int32_t low = constant(0);
    return op(Op::Clamp, {arg, low, constant(6)});
  }
  int32_t load(Size first, Size second) {
    return add({.kind = ExprKind::load, .args = {}, .source = access(first, second)});
  }
  LoopNest store(int32_t value, Size first, Size second) {
    nest_.stores = {{access(first, second), value}};
    return std::move(nest_);
  }

 private:
  int32_t access(Size first, Size second) {
    nest_.accesses.push_back({DType::f32, {first, second}});
    return static_cast<int32_t>(nest_.accesses.size()) - 1;
  }

  LoopNest nest_;
};

const Size kNone = Size::of(0);
const Size kOne = Size::of(1);

// What follows most products and convolutions.
enum class Epilogue { plain, bias, bias_relu, bias_relu6, bias_gelu, bias_residual, bias_residual_relu };

int32_t write(NestWriter& nest, Epilogue epilogue, Size rows) {
  const int32_t sum = nest.sum_of_tile();
  if (epilogue == Epilogue::plain) return sum;
  const int32_t biased = nest.op(Op::Add, {sum, nest.load(kNone, kOne)});
  switch (epilogue) {
    case Epilogue::bias_relu: return nest.op(Op::Relu, {biased});
    case Epilogue::bias_relu6: return nest.relu6(biased);
    case Epilogue::bias_gelu: return nest.op(Op::Gelu, {biased});
    case Epilogue::bias_residual: return nest.op(Op::Add, {biased, nest.load(rows, kOne)});
    case Epilogue::bias_residual_relu:
      return nest.op(Op::Relu, {nest.op(Op::Add, {biased, nest.load(rows, kOne)})});
    default: return biased;
  }
}

// `rows` is kNone where all rows of the tile lie in one place, as they do when there is one.
LoopNest make_epilogue(Epilogue epilogue, Size rows) {
  NestWriter nest({{Size::given(0), false}, {Size::given(1), false}}, 1);
  const int32_t value = write(nest, epilogue, rows);
  return nest.store(value, rows, kOne);
}

// Over contiguous rows.
LoopNest softmax() {
  NestWriter nest({{Size::given(0), false}, {Size::given(1), true}}, 1);
  const int32_t x = nest.load(Size::given(2), kOne);
  const int32_t e = nest.op(Op::Exp, {nest.op(Op::Sub, {x, nest.reduce(Op::ReduceMax, x)})});
  return nest.store(nest.op(Op::Div, {e, nest.reduce(Op::ReduceSum, e)}), Size::given(3), kOne);
}

// Of all positions of channels-last images, after relu6 or nothing.
LoopNest global_average(bool relu6) {
  NestWriter nest({{Size::given(0), false}, {Size::given(1), true}}, 0);
  const int32_t x = nest.load(kOne, Size::given(2));
  const int32_t sum = nest.reduce(Op::ReduceSum, relu6 ? nest.relu6(x) : x);
  return nest.store(nest.op(Op::Div, {sum, nest.load(kNone, kNone)}), kOne, kNone);
}

// Of a residual sum and relu.
LoopNest global_average_of_sum() {
  NestWriter nest({{Size::given(0), false}, {Size::given(1), true}}, 0);
  const int32_t x = nest.load(kOne, Size::given(2));
  const int32_t sum = nest.op(Op::Add, {x, nest.load(kOne, Size::given(3))});
  const int32_t total = nest.reduce(Op::ReduceSum, nest.op(Op::Relu, {sum}));
  return nest.store(nest.op(Op::Div, {total, nest.load(kNone, kNone)}), kOne, kNone);
}

struct Job {
  KernelSource source;
  Target target;
  Code code;
};

// Tiles of f32 at every height that fits the registers. Of narrow tiles, which may be very high, those near
// the top, as rows are shared out evenly.
void add_heights(std::vector<Job>& jobs, Target target, Epilogue epilogue, int vectors, bool packed = true) {
  const int others = vectors + 1;  // registers besides the sums
  const int most = std::min((target.registers() - others) / vectors, 28);
  for (int rows = std::max(1, most / 2); rows <= most; ++rows) {
    const LoopNest nest = make_epilogue(epilogue, kOne);
    jobs.push_back(
        {TileKernel{.rows = rows, .vectors = vectors, .packed = packed, .epilogue = nest}, target, {}});
  }
}

// Windows that slide, as high as device/cpu/tile_choice.cpp makes them.
void add_windows(std::vector<Job>& jobs, Target target, TileKind kind, Epilogue epilogue,
                 std::initializer_list<TileWindow> windows) {
  const bool wide = target.lanes() == 16;
  constexpr int kMostOutputs = 18;
  for (const TileWindow window : windows)
    for (int vectors = 1; vectors <= (wide ? 3 : 1); ++vectors) {
      const int most = std::min<int>(
          {(target.registers() - 1 - vectors) / vectors - window.taps, kMostOutputs / vectors, 14});
      for (int rows = std::max(2, most - 3); rows <= most; ++rows)
        jobs.push_back({TileKernel{.kind = kind,
                                   .rows = rows,
                                   .vectors = vectors,
                                   .epilogue = make_epilogue(epilogue, kOne),
                                   .window = window},
                        target,
                        {}});
    }
}

void add_row(std::vector<Job>& jobs, Target target, Epilogue epilogue, int vectors) {
  const LoopNest nest = make_epilogue(epilogue, kNone);
  jobs.push_back({TileKernel{.rows = 1, .vectors = vectors, .epilogue = nest}, target, {}});
}

void add_level(std::vector<Job>& jobs, Target target) {
  const bool wide = target.lanes() == 16;
  const int low = wide ? 4 : 2, high = wide ? 4 : 3;  // vectors for many columns
  for (const Epilogue epilogue :
       {Epilogue::plain, Epilogue::bias, Epilogue::bias_relu, Epilogue::bias_relu6, Epilogue::bias_residual})
    for (int vectors = 1; vectors <= (wide ? 5 : 3); ++vectors) add_heights(jobs, target, epilogue, vectors);
  for (int vectors = low; vectors <= high; ++vectors) {
    for (const Epilogue epilogue : {Epilogue::bias_gelu, Epilogue::bias_residual_relu})
      add_heights(jobs, target, epilogue, vectors);
    for (const Epilogue epilogue : {Epilogue::plain, Epilogue::bias, Epilogue::bias_relu})
      add_row(jobs, target, epilogue, vectors);
  }
  for (const Epilogue epilogue : {Epilogue::bias_relu, Epilogue::bias_relu6})
    add_windows(jobs, target, TileKind::depthwise, epilogue, {{3, 1}, {3, 2}, {5, 1}, {5, 2}});
  add_windows(jobs, target, TileKind::max, Epilogue::plain, {{3, 2}, {2, 2}});
  for (int vectors = 2; vectors <= high; vectors += 2)  // attention: values of 32 or 64 columns as they lie
    add_heights(jobs, target, Epilogue::plain, vectors, false);
  for (const LoopNest& nest :
       {softmax(), global_average(false), global_average(true), global_average_of_sum()})
    jobs.push_back({nest, target, {}});
}

std::vector<Job> all_jobs() {
  std::vector<Job> jobs;
  for (const IsaLevel level : {IsaLevel::avx2, IsaLevel::avx512}) add_level(jobs, {level});
  return jobs;
}

void make(const char* path) {
  std::vector<Job> jobs = all_jobs();
  ThreadPool pool;
  pool.parallel_for(static_cast<int64_t>(jobs.size()), 1, [&](int64_t i, int64_t, int) {
    Job& job = jobs[static_cast<size_t>(i)];
    job.code = compiler().compile(job.source, job.target);
  });
  std::map<Digest, std::span<const std::byte>> kernels;
  for (const Job& job : jobs) kernels[digest_from_hex(kernel_key(job.source, job.target)).value()] = job.code;
  AtomicFile file(path, "kernel image");
  file.append(make_image(kernels));
  file.commit();
}

}  // namespace
}  // namespace ingot::kernel

int main(int argc, char** argv) {
  try {
    if (argc != 2) return fprintf(stderr, "usage: ingot_make_kernels OUTPUT\n"), 2;
    ingot::kernel::make(argv[1]);
    return 0;
  } catch (const std::exception& error) {
    return fprintf(stderr, "ingot_make_kernels: %s\n", error.what()), 1;
  }
}
