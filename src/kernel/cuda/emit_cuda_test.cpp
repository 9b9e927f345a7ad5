// The CUDA text of nests compiles for every architecture that counts. Needs NVRTC, not a GPU: from
// $INGOT_NVRTC or where the loader finds it.
#include "kernel/cuda/emit_cuda.h"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include "kernel/can_emit.h"
#include "support/nest_builder.h"
#include "support/thrown_by.h"

namespace ingot::kernel {
namespace {

// The few functions of NVRTC that a compilation takes.
class Nvrtc {
 public:
  // Null where there is none.
  static const Nvrtc* find() {
    static const Nvrtc library;
    return library.handle_ == nullptr ? nullptr : &library;
  }

  // The log of the compiler; empty when all is well.
  std::string compile(const std::string& text, const char* architecture) const {
    void* program = nullptr;
    create_(&program, text.c_str(), "nest.cu", 0, nullptr, nullptr);
    const std::string option = std::string("--gpu-architecture=") + architecture;
    const char* options[] = {option.c_str(), "--std=c++17"};
    const int failed = compile_(program, 2, options);
    size_t size = 0;
    log_size_(program, &size);
    std::string log(size, ' ');
    log_(program, log.data());
    destroy_(&program);
    return failed != 0 ? log + text : "";
  }

 private:
  Nvrtc() {
    const char* named = std::getenv("INGOT_NVRTC");
    for (const char* name : {named, "libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"})
      if (name != nullptr && handle_ == nullptr) handle_ = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (handle_ == nullptr) return;
    load(create_, "nvrtcCreateProgram");
    load(compile_, "nvrtcCompileProgram");
    load(log_size_, "nvrtcGetProgramLogSize");
    load(log_, "nvrtcGetProgramLog");
    load(destroy_, "nvrtcDestroyProgram");
  }

  template <class Function>
  void load(Function& function, const char* name) {
    function = reinterpret_cast<Function>(dlsym(handle_, name));
  }

  void* handle_ = nullptr;
  int (*create_)(void**, const char*, const char*, int, const char* const*, const char* const*) = nullptr;
  int (*compile_)(void*, int, const char* const*) = nullptr;
  int (*log_size_)(void*, size_t*) = nullptr;
  int (*log_)(void*, char*) = nullptr;
  int (*destroy_)(void**) = nullptr;
};

void expect_compiles(const LoopNest& nest) {
  const Nvrtc* nvrtc = Nvrtc::find();
  if (nvrtc == nullptr) GTEST_SKIP() << "no NVRTC: name libnvrtc.so in INGOT_NVRTC";
  const std::string text = emit_cuda(nest);
  for (const char* architecture : {"sm_80", "sm_90a", "sm_120"})
    EXPECT_EQ(nvrtc->compile(text, architecture), "") << architecture;
}

constexpr DType kTypes[] = {DType::f64, DType::f32, DType::f16,    DType::bf16, DType::i64,
                            DType::i32, DType::i16, DType::i8,     DType::u64,  DType::u32,
                            DType::u16, DType::u8,  DType::boolean};

bool is_predicate(Op op) {
  return op == Op::Equal || op == Op::Less || op == Op::LessOrEqual || op == Op::IsNan || op == Op::IsInf;
}

// One nest of all ops that a type has, each with a result of its own.
LoopNest all_ops_of(DType dtype) {
  NestBuilder n({7, 100}, {});
  const auto x = n.load(dtype, {100, 1}), y = n.load(dtype, {0, 1}), z = n.load(dtype, {1, 0});
  const auto condition = n.load(DType::boolean, {1, 0});
  for (const OpInfo& info : all_ops()) {
    if (!info.is(Pointwise) || info.op == Op::Cast || info.op == Op::BitCast) continue;
    if ((info.operands.back().types & bit(dtype)) == 0) continue;
    std::vector<int32_t> args{x, y, z};
    args.resize(info.operands.size());
    if (info.op == Op::Select) args[0] = condition;
    const DType result = is_predicate(info.op) ? DType::boolean : arithmetic_type(dtype);
    const auto value = n.op(info.op, args, result);
    n.nest.exprs.back().real = 0.5;
    n.store(is_predicate(info.op) ? result : dtype, {100, 1}, value);
  }
  return n.nest;
}

TEST(EmitCuda, EveryOpOfEveryTypeCompiles) {
  for (DType dtype : kTypes) expect_compiles(all_ops_of(dtype));
}

TEST(EmitCuda, EveryCastCompiles) {
  NestBuilder n({100}, {});
  for (DType from : kTypes) {
    const auto x = n.load(from, {1});
    for (DType to : kTypes) {
      n.store(to, {1}, n.op(Op::Cast, {x}, arithmetic_type(to)));
      if (can_emit(Op::BitCast, from, to)) n.store(to, {1}, n.op(Op::BitCast, {x}, to));
    }
  }
  expect_compiles(n.nest);
}

TEST(EmitCuda, RowsWithSizesOfTheCallCompile) {
  NestBuilder n({3, 5}, {7, 11});
  n.nest.axes[0].extent = Size::given(0);
  n.nest.axes[3].extent = Size::given(1);
  const auto x = n.load(DType::f16, {385, 77, 11, 1});
  const auto e = n.op(Op::Exp, {n.op(Op::Sub, {x, n.reduce(Op::ReduceMax, x)})});
  const auto sum = n.reduce(Op::ReduceSum, e);
  n.store(DType::f16, {385, 77, 11, 1}, n.op(Op::Div, {e, sum}));
  n.store(DType::f32, {5, 1, 0, 0}, sum);
  expect_compiles(n.nest);
}

TEST(EmitCuda, AnFmaCompiles) {
  NestBuilder n({100}, {});
  const auto x = n.load(DType::f32, {1});
  n.store(DType::f32, {1}, n.fma(x, x, n.real(1)));
  EXPECT_NE(emit_cuda(n.nest).find("__fmaf_rn(v0, v0, v1)"), std::string::npos);
  expect_compiles(n.nest);
}

TEST(EmitCuda, FoldsOfEveryTypeCompile) {
  for (DType dtype : kTypes) {
    if (dtype == DType::boolean) continue;
    NestBuilder n({6}, {9});
    const auto x = n.load(dtype, {1, 6});
    for (Op op : {Op::ReduceSum, Op::ReduceProd, Op::ReduceMax, Op::ReduceMin})
      n.store(dtype, {1, 0}, n.reduce(op, x));
    expect_compiles(n.nest);
  }
}

TEST(EmitCuda, TypesThatItLacksAreNamed) {
  NestBuilder n({4}, {});
  n.store(DType::f32, {1}, n.load(DType::f32, {1}));
  n.nest.exprs[0].dtype = DType::f8e5m2;
  EXPECT_THROW(emit_cuda(n.nest), Error);
}

}  // namespace
}  // namespace ingot::kernel
