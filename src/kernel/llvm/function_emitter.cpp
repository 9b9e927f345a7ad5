#include "kernel/llvm/function_emitter.h"

#include <llvm/IR/Constants.h>
#include <llvm/IR/Intrinsics.h>

#include "ingot/error.h"

namespace ingot::kernel {

FunctionEmitter::FunctionEmitter(llvm::Module& module, const Target& target, const char* name)
    : module_(module), target_(target), builder_(module.getContext()) {
  auto* type = llvm::FunctionType::get(builder_.getVoidTy(), {builder_.getPtrTy()}, false);
  function_ = llvm::Function::Create(type, llvm::Function::ExternalLinkage, name, module_);
  function_->setDoesNotThrow();
  builder_.SetInsertPoint(llvm::BasicBlock::Create(module.getContext(), "entry", function_));
}

void FunctionEmitter::finish() { builder_.CreateRetVoid(); }

llvm::Type* FunctionEmitter::scalar_type(DType dtype) {
  switch (dtype) {
    case DType::f64: return builder_.getDoubleTy();
    case DType::f32:
    case DType::f16:
    case DType::bf16: return builder_.getFloatTy();
    case DType::boolean: return builder_.getInt1Ty();
    default: break;
  }
  if (!is_integer(dtype) || is_sub_byte(dtype))
    throw Error({.code = ErrorCode::internal,
                 .object = "kernel",
                 .expected = "an element type that kernels compute in",
                 .observed = std::string(to_string(dtype))});
  return builder_.getIntNTy(static_cast<unsigned>(bit_width(dtype)));
}

llvm::Type* FunctionEmitter::vector_type(DType dtype) {
  return llvm::FixedVectorType::get(scalar_type(dtype), static_cast<unsigned>(lanes()));
}

llvm::Value* FunctionEmitter::splat(llvm::Value* scalar) {
  return builder_.CreateVectorSplat(static_cast<unsigned>(lanes()), scalar);
}

llvm::Value* FunctionEmitter::constant(DType dtype, double real, int64_t integer) {
  auto* type = vector_type(dtype);
  if (type->isFPOrFPVectorTy()) return llvm::ConstantFP::get(type, real);
  return llvm::ConstantInt::get(type, static_cast<uint64_t>(integer));
}

llvm::Value* FunctionEmitter::member_i64(size_t offset) {
  return builder_.CreateLoad(builder_.getInt64Ty(), at(call_argument(), static_cast<int64_t>(offset)));
}

llvm::Value* FunctionEmitter::member_i32(size_t offset) {
  return builder_.CreateLoad(builder_.getInt32Ty(), at(call_argument(), static_cast<int64_t>(offset)));
}

llvm::Value* FunctionEmitter::member_pointer(size_t offset) {
  return builder_.CreateLoad(builder_.getPtrTy(), at(call_argument(), static_cast<int64_t>(offset)));
}

llvm::Value* FunctionEmitter::at(llvm::Value* pointer, llvm::Value* bytes) {
  return builder_.CreateGEP(builder_.getInt8Ty(), pointer, bytes);
}

llvm::Value* FunctionEmitter::at(llvm::Value* pointer, int64_t bytes) {
  return bytes == 0 ? pointer : at(pointer, i64(bytes));
}

// Reserved where the function begins: elsewhere every pass would take more.
llvm::Value* FunctionEmitter::stack(int64_t bytes) {
  llvm::BasicBlock& entry = function_->getEntryBlock();
  llvm::IRBuilder<> builder(&entry, entry.begin());
  auto* type = llvm::ArrayType::get(builder.getInt8Ty(), static_cast<uint64_t>(bytes));
  auto* memory = builder.CreateAlloca(type);
  memory->setAlignment(llvm::Align(64));
  return memory;
}

llvm::Value* FunctionEmitter::lane_mask(llvm::Value* count) {
  auto* above_zero = builder_.CreateBinaryIntrinsic(llvm::Intrinsic::smax, count, i64(0));
  auto* clamped = builder_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, above_zero, i64(lanes()));
  llvm::SmallVector<llvm::Constant*> positions;
  for (int lane = 0; lane < lanes(); ++lane)
    positions.push_back(builder_.getInt32(static_cast<uint32_t>(lane)));
  auto* bound = splat(builder_.CreateTrunc(clamped, builder_.getInt32Ty()));
  return builder_.CreateICmpSLT(llvm::ConstantVector::get(positions), bound);
}

llvm::Value* FunctionEmitter::fma(llvm::Value* a, llvm::Value* b, llvm::Value* c) {
  return builder_.CreateIntrinsic(llvm::Intrinsic::fma, {a->getType()}, {a, b, c});
}

void FunctionEmitter::prefetch(llvm::Value* pointer, int locality) {
  auto number = [&](int value) { return builder_.getInt32(static_cast<uint32_t>(value)); };
  constexpr int kForReading = 0, kData = 1;
  builder_.CreateIntrinsic(llvm::Intrinsic::prefetch, {builder_.getPtrTy()},
                           {pointer, number(kForReading), number(locality), number(kData)});
}

FunctionEmitter::Values FunctionEmitter::loop(
    llvm::Value* low, llvm::Value* high, int64_t step, Values carried,
    const std::function<Values(llvm::Value* i, Values carried)>& body, bool runs_once) {
  const auto* first = llvm::dyn_cast<llvm::ConstantInt>(low);
  const auto* end = llvm::dyn_cast<llvm::ConstantInt>(high);
  if (first != nullptr && end != nullptr) {  // how often is known
    const int64_t distance = end->getSExtValue() - first->getSExtValue();
    if (distance <= 0) return carried;
    if (distance <= step) return body(low, carried);
    runs_once = true;
  }
  auto& context = module_.getContext();
  auto* before = builder_.GetInsertBlock();
  auto* turn = llvm::BasicBlock::Create(context, "loop", function_);
  auto* after = llvm::BasicBlock::Create(context, "after", function_);
  if (runs_once)
    builder_.CreateBr(turn);
  else
    builder_.CreateCondBr(builder_.CreateICmpSLT(low, high), turn, after);

  builder_.SetInsertPoint(turn);
  auto* i = builder_.CreatePHI(low->getType(), 2);
  i->addIncoming(low, before);
  std::vector<llvm::PHINode*> inside;
  for (auto* value : carried) {
    inside.push_back(builder_.CreatePHI(value->getType(), 2));
    inside.back()->addIncoming(value, before);
  }
  Values next = body(i, Values(inside.begin(), inside.end()));

  auto* last = builder_.GetInsertBlock();
  auto* next_i = builder_.CreateAdd(i, i64(step), "", true, true);
  builder_.CreateCondBr(builder_.CreateICmpSLT(next_i, high), turn, after);
  i->addIncoming(next_i, last);
  for (size_t v = 0; v < inside.size(); ++v) inside[v]->addIncoming(next.at(v), last);

  after->moveAfter(last);
  builder_.SetInsertPoint(after);
  for (size_t v = 0; v < carried.size(); ++v) {
    auto* result = builder_.CreatePHI(carried[v]->getType(), 2);
    if (!runs_once) result->addIncoming(carried[v], before);
    result->addIncoming(next[v], last);
    carried[v] = result;
  }
  return carried;
}

void FunctionEmitter::loop(llvm::Value* low, llvm::Value* high, int64_t step,
                           const std::function<void(llvm::Value* i)>& body) {
  loop(low, high, step, {}, [&](llvm::Value* i, Values) {
    body(i);
    return Values{};
  });
}

void FunctionEmitter::if_then(llvm::Value* condition, const std::function<void()>& body) {
  if_then(condition, {}, [&] {
    body();
    return Values{};
  });
}

FunctionEmitter::Values FunctionEmitter::if_then(llvm::Value* condition, Values otherwise,
                                                 const std::function<Values()>& body) {
  auto& context = module_.getContext();
  auto* before = builder_.GetInsertBlock();
  auto* then = llvm::BasicBlock::Create(context, "then", function_);
  auto* after = llvm::BasicBlock::Create(context, "after", function_);
  builder_.CreateCondBr(condition, then, after);
  builder_.SetInsertPoint(then);
  const Values values = body();
  auto* last = builder_.GetInsertBlock();
  builder_.CreateBr(after);
  after->moveAfter(last);
  builder_.SetInsertPoint(after);
  for (size_t v = 0; v < otherwise.size(); ++v) {
    auto* merged = builder_.CreatePHI(otherwise[v]->getType(), 2);
    merged->addIncoming(otherwise[v], before);
    merged->addIncoming(values.at(v), last);
    otherwise[v] = merged;
  }
  return otherwise;
}

}  // namespace ingot::kernel
