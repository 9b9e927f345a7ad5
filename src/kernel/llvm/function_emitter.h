#pragma once

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>

#include <functional>
#include <vector>

#include "ingot/dtype.h"
#include "kernel/loop_nest.h"
#include "kernel/target.h"

namespace ingot::kernel {

// Writes one function, in vectors of a fixed number of lanes whatever their element type.
class FunctionEmitter {
 public:
  using Values = std::vector<llvm::Value*>;

  // Opens `void name(const Call*)` in the module; `builder` stands in its first block.
  FunctionEmitter(llvm::Module& module, const Target& target, const char* name);
  void finish();  // returns from the function

  llvm::IRBuilder<>& builder() { return builder_; }
  const Target& target() const { return target_; }
  int lanes() const { return target_.lanes(); }
  llvm::Function* function() { return function_; }
  llvm::Value* call_argument() { return function_->getArg(0); }

  llvm::Type* scalar_type(DType dtype);  // in arithmetic: f16 and bf16 are float, boolean is i1
  llvm::Type* vector_type(DType dtype);  // `lanes` of them
  llvm::Value* i64(int64_t value) { return builder_.getInt64(static_cast<uint64_t>(value)); }
  llvm::Value* splat(llvm::Value* scalar);
  llvm::Value* constant(DType dtype, double real, int64_t integer);  // a vector

  // Loads a member of the call: offset in bytes from its start.
  llvm::Value* member_i64(size_t offset);
  llvm::Value* member_i32(size_t offset);
  llvm::Value* member_pointer(size_t offset);

  llvm::Value* at(llvm::Value* pointer, llvm::Value* bytes);  // pointer + bytes
  llvm::Value* at(llvm::Value* pointer, int64_t bytes);
  llvm::Value* stack(int64_t bytes);  // memory for one call, at a multiple of 64

  // One element or `lanes` consecutive ones, converted between memory and arithmetic types. `mask`: i1 per
  // lane, null for all; masked-off lanes are not touched and load as zero.
  llvm::Value* load_scalar(DType dtype, llvm::Value* pointer);
  llvm::Value* load_vector(DType dtype, llvm::Value* pointer, llvm::Value* mask);
  llvm::Value* load_strided(DType dtype, llvm::Value* pointer, llvm::Value* stride_bytes, llvm::Value* mask);
  void store_scalar(DType dtype, llvm::Value* value, llvm::Value* pointer);
  void store_vector(DType dtype, llvm::Value* value, llvm::Value* pointer, llvm::Value* mask);
  void store_strided(DType dtype, llvm::Value* value, llvm::Value* pointer, llvm::Value* stride_bytes,
                     llvm::Value* mask);

  llvm::Value* lane_mask(
      llvm::Value* count);  // the first `count` lanes (i64, may be above `lanes` or below 0)
  llvm::Value* fma(llvm::Value* a, llvm::Value* b, llvm::Value* c);
  void prefetch(llvm::Value* pointer, int locality);  // 3: first-level cache, 2: second-level

  // for (i = low; i < high; i += step), with values carried from turn to turn; gives them after the last
  // turn. `runs_once`: low < high is known.
  Values loop(llvm::Value* low, llvm::Value* high, int64_t step, Values carried,
              const std::function<Values(llvm::Value* i, Values carried)>& body, bool runs_once = false);
  void loop(llvm::Value* low, llvm::Value* high, int64_t step,
            const std::function<void(llvm::Value* i)>& body);
  void if_then(llvm::Value* condition, const std::function<void()>& body);
  // What the body gives where the condition holds, else `otherwise`.
  Values if_then(llvm::Value* condition, Values otherwise, const std::function<Values()>& body);

 private:
  llvm::Module& module_;
  Target target_;
  llvm::IRBuilder<> builder_;
  llvm::Function* function_ = nullptr;
};

}  // namespace ingot::kernel
