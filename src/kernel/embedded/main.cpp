// Makes the image of the kernels that are embedded in the library: ingot_make_kernels OUTPUT
#include <cstdio>

#include "base/atomic_file.h"
#include "base/thread_pool.h"
#include "ingot/error.h"
#include "kernel/compiler.h"
#include "kernel/kernel_image.h"

namespace ingot::kernel {
namespace {

// The epilogues that close most products and convolutions, as the lowering writes them.
enum class Epilogue { plain, bias, bias_relu, bias_residual };

class EpilogueBuilder {
 public:
  EpilogueBuilder() {
    nest_.axes = {{Size::given(0), false}, {Size::given(1), false}};
    nest_.vector_axis = 1;
  }

  LoopNest build(Epilogue epilogue) {
    int32_t value = add({.kind = ExprKind::accumulator, .args = {}});
    if (epilogue != Epilogue::plain) value = op(Op::Add, {value, load(0)});
    if (epilogue == Epilogue::bias_relu) value = op(Op::Relu, {value});
    if (epilogue == Epilogue::bias_residual) value = op(Op::Add, {value, load(1)});
    nest_.stores = {{access(1), value}};
    return nest_;
  }

 private:
  int32_t add(Expr expr) {
    nest_.exprs.push_back(std::move(expr));
    return static_cast<int32_t>(nest_.exprs.size()) - 1;
  }
  int32_t op(Op op, std::vector<int32_t> args) {
    return add({.kind = ExprKind::op, .op = op, .args = std::move(args)});
  }
  int32_t access(int64_t row_stride) {
    nest_.accesses.push_back({DType::f32, {Size::of(row_stride), Size::of(1)}});
    return static_cast<int32_t>(nest_.accesses.size()) - 1;
  }
  int32_t load(int64_t row_stride) {
    return add({.kind = ExprKind::load, .args = {}, .source = access(row_stride)});
  }

  LoopNest nest_;
};

struct Job {
  TileKernel tile;
  Target target;
  Code code;
};

// Every height of the tiles of f32 products: sums, one step of b and a value of a fit the registers.
void add_products(std::vector<Job>& jobs, Target target, Epilogue epilogue) {
  const LoopNest nest = EpilogueBuilder().build(epilogue);
  for (int vectors = 1; vectors <= 4; ++vectors)
    for (int rows = 1; rows * vectors + vectors + 1 <= target.registers() && rows <= 14; ++rows)
      jobs.push_back({{.rows = rows, .vectors = vectors, .epilogue = nest}, target, {}});
}

std::vector<Job> all_jobs() {
  std::vector<Job> jobs;
  for (const IsaLevel level : {IsaLevel::avx2, IsaLevel::avx512})
    for (const Epilogue epilogue :
         {Epilogue::plain, Epilogue::bias, Epilogue::bias_relu, Epilogue::bias_residual})
      add_products(jobs, {level}, epilogue);
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
