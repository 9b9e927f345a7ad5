#include <llvm/IR/IntrinsicsX86.h>

#include "kernel/llvm/emit_tile.h"

namespace ingot::kernel {

// Integers go four products at a time.
llvm::Value* DotStep::count(llvm::Value* depth) {
  return integer() ? emitter_.builder().CreateLShr(depth, 2) : depth;
}

int64_t DotStep::b_vector_bytes() const {
  return integer() ? emitter_.lanes() * 4 : emitter_.lanes() * bit_width(b_) / 8;
}

llvm::Value* DotStep::load_a(llvm::Value* pointer) {
  auto& builder = emitter_.builder();
  if (!integer()) return emitter_.splat(emitter_.load_scalar(a_, pointer));
  return emitter_.splat(builder.CreateAlignedLoad(builder.getInt32Ty(), pointer, llvm::Align(1)));
}

llvm::Value* DotStep::load_b(llvm::Value* pointer) {
  return emitter_.load_vector(integer() ? DType::i32 : b_, pointer, nullptr);
}

// Sums of the four byte products of each lane as two sums of two: the even bytes, then the odd ones. Exact,
// unlike the instruction that multiplies bytes and saturates.
llvm::Value* DotStep::pairwise(llvm::Value* a, llvm::Value* b, llvm::Value* sum) {
  auto& builder = emitter_.builder();
  const auto halves = static_cast<unsigned>(emitter_.lanes() * 2);
  auto* type = llvm::FixedVectorType::get(builder.getInt16Ty(), halves);
  auto* a16 = builder.CreateBitCast(a, type);
  auto* b16 = builder.CreateBitCast(b, type);
  auto* even_a = builder.CreateAnd(a16, llvm::ConstantInt::get(type, 0xff));
  auto* odd_a = builder.CreateLShr(a16, 8);
  auto* even_b = builder.CreateAShr(builder.CreateShl(b16, 8), 8);
  auto* odd_b = builder.CreateAShr(b16, 8);
  const auto id =
      emitter_.lanes() == 16 ? llvm::Intrinsic::x86_avx512_pmaddw_d_512 : llvm::Intrinsic::x86_avx2_pmadd_wd;
  auto* even = builder.CreateIntrinsic(id, {}, {even_a, even_b});
  auto* odd = builder.CreateIntrinsic(id, {}, {odd_a, odd_b});
  return builder.CreateAdd(sum, builder.CreateAdd(even, odd));
}

llvm::Value* DotStep::multiply_add(llvm::Value* a, llvm::Value* b, llvm::Value* sum) {
  if (!integer()) return emitter_.fma(a, b, sum);
  if (emitter_.target().level < IsaLevel::avx512_vnni) return pairwise(a, b, sum);
  return emitter_.builder().CreateIntrinsic(llvm::Intrinsic::x86_avx512_vpdpbusd_512, {}, {sum, a, b});
}

}  // namespace ingot::kernel
