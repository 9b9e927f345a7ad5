// Loads and stores of FunctionEmitter, with the conversions between memory and arithmetic types.
#include <llvm/IR/Constants.h>
#include <llvm/IR/Intrinsics.h>

#include "kernel/llvm/function_emitter.h"

namespace ingot::kernel {
namespace {

using Builder = llvm::IRBuilder<>;

// The type of an element in memory; the half floats are moved as integers.
llvm::IntegerType* bits_type(Builder& b, DType dtype) {
  return b.getIntNTy(static_cast<unsigned>(bit_width(dtype)));
}
llvm::Type* memory_type(FunctionEmitter& emitter, DType dtype) {
  if (dtype == DType::f64 || dtype == DType::f32) return emitter.scalar_type(dtype);
  return bits_type(emitter.builder(), dtype);
}

llvm::Align alignment(DType dtype) { return llvm::Align(static_cast<uint64_t>(bit_width(dtype)) / 8); }

// `element` or a vector of as many as `shape` has.
llvm::Type* like(llvm::Type* element, llvm::Type* shape) { return shape->getWithNewType(element); }

llvm::Value* widen_bf16(Builder& b, llvm::Value* bits) {
  auto* wide = like(b.getInt32Ty(), bits->getType());
  return b.CreateBitCast(b.CreateShl(b.CreateZExt(bits, wide), 16), like(b.getFloatTy(), wide));
}

// Rounds to nearest, ties to even; NaN keeps its sign and stays a quiet NaN.
llvm::Value* narrow_bf16(Builder& b, llvm::Value* value) {
  auto* wide = like(b.getInt32Ty(), value->getType());
  auto number = [&](uint64_t n) { return llvm::ConstantInt::get(wide, n); };
  auto* bits = b.CreateBitCast(value, wide);
  auto* odd = b.CreateAnd(b.CreateLShr(bits, 16), number(1));
  auto* rounded = b.CreateAdd(bits, b.CreateAdd(odd, number(0x7fff)));
  auto* quiet = b.CreateOr(bits, number(0x400000));
  auto* kept = b.CreateSelect(b.CreateFCmpUNO(value, value), quiet, rounded);
  return b.CreateTrunc(b.CreateLShr(kept, 16), like(b.getInt16Ty(), wide));
}

llvm::Value* from_memory(Builder& b, DType dtype, llvm::Value* stored) {
  auto* shape = stored->getType();
  switch (dtype) {
    case DType::f16:
      return b.CreateFPExt(b.CreateBitCast(stored, like(b.getHalfTy(), shape)), like(b.getFloatTy(), shape));
    case DType::bf16: return widen_bf16(b, stored);
    case DType::boolean: return b.CreateICmpNE(stored, llvm::Constant::getNullValue(shape));
    default: return stored;
  }
}

llvm::Value* to_memory(Builder& b, DType dtype, llvm::Value* value) {
  auto* shape = value->getType();
  switch (dtype) {
    case DType::f16:
      return b.CreateBitCast(b.CreateFPTrunc(value, like(b.getHalfTy(), shape)), like(b.getInt16Ty(), shape));
    case DType::bf16: return narrow_bf16(b, value);
    case DType::boolean: return b.CreateZExt(value, like(b.getInt8Ty(), shape));
    default: return value;
  }
}

llvm::Type* memory_vector(FunctionEmitter& emitter, DType dtype) {
  return llvm::FixedVectorType::get(memory_type(emitter, dtype), static_cast<unsigned>(emitter.lanes()));
}

// pointer + lane * stride, one per lane.
llvm::Value* lane_pointers(FunctionEmitter& emitter, llvm::Value* pointer, llvm::Value* stride_bytes) {
  auto& b = emitter.builder();
  llvm::SmallVector<llvm::Constant*> positions;
  for (int lane = 0; lane < emitter.lanes(); ++lane)
    positions.push_back(b.getInt64(static_cast<uint64_t>(lane)));
  auto* offsets = b.CreateMul(emitter.splat(stride_bytes), llvm::ConstantVector::get(positions));
  return b.CreateGEP(b.getInt8Ty(), pointer, offsets);
}

llvm::Value* lane_pointer(FunctionEmitter& emitter, llvm::Value* pointer, llvm::Value* stride_bytes,
                          int lane) {
  return emitter.at(pointer, emitter.builder().CreateMul(stride_bytes, emitter.i64(lane)));
}

}  // namespace

llvm::Value* FunctionEmitter::load_scalar(DType dtype, llvm::Value* pointer) {
  auto* stored = builder_.CreateAlignedLoad(memory_type(*this, dtype), pointer, alignment(dtype));
  return from_memory(builder_, dtype, stored);
}

llvm::Value* FunctionEmitter::load_vector(DType dtype, llvm::Value* pointer, llvm::Value* mask) {
  auto* type = memory_vector(*this, dtype);
  llvm::Value* stored =
      mask == nullptr ? static_cast<llvm::Value*>(builder_.CreateAlignedLoad(type, pointer, alignment(dtype)))
                      : builder_.CreateMaskedLoad(type, pointer, alignment(dtype), mask,
                                                  llvm::Constant::getNullValue(type));
  return from_memory(builder_, dtype, stored);
}

// Without a mask, single loads: as fast as a gather where there is one, and much faster where it is
// microcoded.
llvm::Value* FunctionEmitter::load_strided(DType dtype, llvm::Value* pointer, llvm::Value* stride_bytes,
                                           llvm::Value* mask) {
  auto* type = memory_vector(*this, dtype);
  if (mask != nullptr) {
    auto* stored = builder_.CreateMaskedGather(type, lane_pointers(*this, pointer, stride_bytes),
                                               alignment(dtype), mask, llvm::Constant::getNullValue(type));
    return from_memory(builder_, dtype, stored);
  }
  llvm::Value* stored = llvm::PoisonValue::get(type);
  for (int lane = 0; lane < lanes(); ++lane) {
    auto* element = builder_.CreateAlignedLoad(
        memory_type(*this, dtype), lane_pointer(*this, pointer, stride_bytes, lane), alignment(dtype));
    stored = builder_.CreateInsertElement(stored, element, static_cast<uint64_t>(lane));
  }
  return from_memory(builder_, dtype, stored);
}

void FunctionEmitter::store_scalar(DType dtype, llvm::Value* value, llvm::Value* pointer) {
  builder_.CreateAlignedStore(to_memory(builder_, dtype, value), pointer, alignment(dtype));
}

void FunctionEmitter::store_vector(DType dtype, llvm::Value* value, llvm::Value* pointer, llvm::Value* mask) {
  auto* stored = to_memory(builder_, dtype, value);
  if (mask == nullptr)
    builder_.CreateAlignedStore(stored, pointer, alignment(dtype));
  else
    builder_.CreateMaskedStore(stored, pointer, alignment(dtype), mask);
}

void FunctionEmitter::store_strided(DType dtype, llvm::Value* value, llvm::Value* pointer,
                                    llvm::Value* stride_bytes, llvm::Value* mask) {
  auto* stored = to_memory(builder_, dtype, value);
  if (mask != nullptr) {
    builder_.CreateMaskedScatter(stored, lane_pointers(*this, pointer, stride_bytes), alignment(dtype), mask);
    return;
  }
  for (int lane = 0; lane < lanes(); ++lane)
    builder_.CreateAlignedStore(builder_.CreateExtractElement(stored, static_cast<uint64_t>(lane)),
                                lane_pointer(*this, pointer, stride_bytes, lane), alignment(dtype));
}

}  // namespace ingot::kernel
