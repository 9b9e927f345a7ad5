#pragma once

#include <memory>
#include <string>

#include "base/memory_account.h"
#include "base/resident_memory.h"
#include "ingot/logger.h"

namespace ingot {

// Says at info level how an operation changed memory: what the library accounts for, and what the process
// holds with all that is beside it (code, the C++ heap, pages of mapped files). Costs nothing where nobody
// wants to know.
class MemoryChange {
 public:
  MemoryChange(Diagnostics log, std::shared_ptr<const MemoryAccount> account, std::string operation);
  void finish() const;  // once it has succeeded

 private:
  const Diagnostics log_;
  const std::shared_ptr<const MemoryAccount> account_;
  const std::string operation_;
  uint64_t accounted_ = 0;
  uint64_t resident_ = 0;
};

}  // namespace ingot
