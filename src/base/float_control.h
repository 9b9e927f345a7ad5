#pragma once

#include <xmmintrin.h>

// The floating-point mode of the calling thread: rounding, traps, what happens to denormal numbers.
namespace ingot {

// The mode without the sticky flags, which say what has happened so far.
inline unsigned float_mode() { return _mm_getcsr() & ~0x3fu; }
inline void set_float_mode(unsigned mode) {
  if (float_mode() != mode) _mm_setcsr(mode | (_mm_getcsr() & 0x3fu));
}

// While it lives, the calling thread reads denormal operands as zero and gives zero instead of denormal
// results.
class FlushDenormals {
 public:
  FlushDenormals() : before_(_mm_getcsr()) { _mm_setcsr(before_ | kFlushToZero | kDenormalsAreZero); }
  ~FlushDenormals() { _mm_setcsr(before_); }
  FlushDenormals(const FlushDenormals&) = delete;
  FlushDenormals& operator=(const FlushDenormals&) = delete;

 private:
  static constexpr unsigned kFlushToZero = 0x8000, kDenormalsAreZero = 0x40;
  const unsigned before_;
};

}  // namespace ingot
