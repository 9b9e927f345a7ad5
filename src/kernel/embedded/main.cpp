// Makes the image of the kernels that are embedded in the library: ingot_make_kernels OUTPUT
#include <cstdio>

#include "base/atomic_file.h"
#include "base/thread_pool.h"
#include "ingot/error.h"
#include "kernel/compiler.h"
#include "kernel/kernel_image.h"

namespace ingot::kernel {
namespace {

// What follows most products and convolutions, in the form that the lowering gives it.
enum class Epilogue { plain, bias, bias_relu, bias_relu6, bias_gelu, bias_residual, bias_residual_relu };

class EpilogueBuilder {
 public:
  // `rows` is 0 where all rows of the tile lie in one place, as they do when there is one.
  EpilogueBuilder(Epilogue epilogue, int64_t rows) {
    nest_.axes = {{Size::given(0), false}, {Size::given(1), false}};
    nest_.vector_axis = 1;
    const int32_t result = value(epilogue, rows);
    nest_.stores = {{access(rows), result}};
  }

  LoopNest take() { return std::move(nest_); }

 private:
  int32_t value(Epilogue epilogue, int64_t rows) {
    const int32_t sum = add({.kind = ExprKind::accumulator, .args = {}});
    if (epilogue == Epilogue::plain) return sum;
    const int32_t biased = op(Op::Add, {sum, load(0)});
    switch (epilogue) {
      case Epilogue::bias_relu: return op(Op::Relu, {biased});
      case Epilogue::bias_relu6: return op(Op::Clamp, {biased, constant(0), constant(6)});
      case Epilogue::bias_gelu: return op(Op::Gelu, {biased});
      case Epilogue::bias_residual: return op(Op::Add, {biased, load(rows)});
      case Epilogue::bias_residual_relu: return op(Op::Relu, {op(Op::Add, {biased, load(rows)})});
      default: return biased;
    }
  }

  int32_t add(Expr expr) {
    nest_.exprs.push_back(std::move(expr));
    return static_cast<int32_t>(nest_.exprs.size()) - 1;
  }
  int32_t constant(double value) { return add({.args = {}, .real = value}); }
  int32_t op(Op op, std::vector<int32_t> args) {
    return add({.kind = ExprKind::op, .op = op, .args = std::move(args)});
  }
  int32_t access(int64_t rows) {
    nest_.accesses.push_back({DType::f32, {Size::of(rows), Size::of(1)}});
    return static_cast<int32_t>(nest_.accesses.size()) - 1;
  }
  int32_t load(int64_t rows) { return add({.kind = ExprKind::load, .args = {}, .source = access(rows)}); }

  LoopNest nest_;
};

struct Job {
  TileKernel tile;
  Target target;
  Code code;
};

// Tiles of f32 at every height that fits the registers. Of narrow tiles, which may be very high, those near
// the top, as rows are shared out evenly.
void add_heights(std::vector<Job>& jobs, Target target, TileKind kind, Epilogue epilogue, int vectors) {
  const int most = std::min((target.registers() - vectors - 1) / vectors, 28);
  for (int rows = std::max(1, most / 2); rows <= most; ++rows) {
    const LoopNest nest = EpilogueBuilder(epilogue, 1).take();
    jobs.push_back({{.kind = kind, .rows = rows, .vectors = vectors, .epilogue = nest}, target, {}});
  }
}

void add_row(std::vector<Job>& jobs, Target target, Epilogue epilogue, int vectors) {
  const LoopNest nest = EpilogueBuilder(epilogue, 0).take();
  jobs.push_back({{.rows = 1, .vectors = vectors, .epilogue = nest}, target, {}});
}

void add_level(std::vector<Job>& jobs, Target target) {
  const bool wide = target.lanes() == 16;
  const int low = wide ? 4 : 2, high = wide ? 4 : 3;  // vectors for many columns
  for (const Epilogue epilogue : {Epilogue::plain, Epilogue::bias, Epilogue::bias_relu, Epilogue::bias_relu6})
    for (int vectors = 1; vectors <= (wide ? 5 : 3); ++vectors)
      add_heights(jobs, target, TileKind::dot, epilogue, vectors);
  for (int vectors = low; vectors <= high; ++vectors) {
    for (const Epilogue epilogue :
         {Epilogue::bias_gelu, Epilogue::bias_residual, Epilogue::bias_residual_relu})
      add_heights(jobs, target, TileKind::dot, epilogue, vectors);
    for (const Epilogue epilogue : {Epilogue::plain, Epilogue::bias, Epilogue::bias_relu})
      add_row(jobs, target, epilogue, vectors);
    add_heights(jobs, target, TileKind::max, Epilogue::plain, vectors);
  }
  for (const Epilogue epilogue : {Epilogue::bias_relu, Epilogue::bias_relu6})
    for (int vectors = 2; vectors <= high; ++vectors)
      add_heights(jobs, target, TileKind::depthwise, epilogue, vectors);
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
    job.code = compiler().compile(job.tile, job.target);
  });
  std::map<Digest, std::span<const std::byte>> kernels;
  for (const Job& job : jobs) kernels[digest_from_hex(kernel_key(job.tile, job.target)).value()] = job.code;
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
