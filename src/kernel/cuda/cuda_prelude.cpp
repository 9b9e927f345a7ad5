#include "kernel/cuda/cuda_op.h"

namespace ingot::kernel {

const char* const kCudaPrelude = R"cuda(
typedef long long i64;
typedef unsigned long long u64;
template <class T> struct is_real { static const bool value = false; };
template <> struct is_real<float> { static const bool value = true; };
template <> struct is_real<double> { static const bool value = true; };
#define FN static __device__ __forceinline__

// Half floats as they lie in memory.
FN float from_f16(unsigned short x) { float y; asm("cvt.f32.f16 %0, %1;" : "=f"(y) : "h"(x)); return y; }
FN unsigned short to_f16(float x) { unsigned short y; asm("cvt.rn.f16.f32 %0, %1;" : "=h"(y) : "f"(x)); return y; }
FN float from_bf16(unsigned short x) { return __uint_as_float((unsigned)x << 16); }
FN unsigned short to_bf16(float x) {
  const unsigned bits = __float_as_uint(x);
  if (x != x) return (unsigned short)((bits | 0x400000u) >> 16);
  return (unsigned short)((bits + 0x7fffu + ((bits >> 16) & 1)) >> 16);
}

// Integers wrap; division by zero gives 0.
template <class T> FN T add(T a, T b) { if constexpr (is_real<T>::value) return a + b; else return (T)((u64)a + (u64)b); }
template <class T> FN T sub(T a, T b) { if constexpr (is_real<T>::value) return a - b; else return (T)((u64)a - (u64)b); }
template <class T> FN T mul(T a, T b) { if constexpr (is_real<T>::value) return a * b; else return (T)((u64)a * (u64)b); }
template <class T> FN T neg(T a) { if constexpr (is_real<T>::value) return -a; else return (T)(0 - (u64)a); }
template <class T> FN T divide(T a, T b) {
  if constexpr (is_real<T>::value) return a / b;
  else if (b == 0) return 0;
  else if ((T)-1 < (T)0 && b == (T)-1) return neg(a);
  else return (T)(a / b);
}
template <class T> FN T modulo(T a, T b, bool truncate) {
  if constexpr (is_real<T>::value) {
    const T r = fmod(a, b);
    return !truncate && r != 0 && (r < 0) != (b < 0) ? r + b : r;
  } else {
    if (b == 0 || ((T)-1 < (T)0 && b == (T)-1)) return 0;
    const T r = (T)(a % b);
    return !truncate && r != 0 && (r < 0) != (b < 0) ? (T)(r + b) : r;
  }
}
template <class T> FN T power(T base, i64 n) {
  if (n < 0) return base == 1 ? (T)1 : (T)-1 < (T)0 && base == (T)-1 ? (n % 2 == 0 ? (T)1 : base) : (T)0;
  u64 result = 1, square = (u64)base;
  for (u64 e = (u64)n; e != 0; e >>= 1, square *= square) if (e & 1) result *= square;
  return (T)result;
}
template <class T> FN T shift_left(T a, T b) { return b < 64 ? (T)((u64)a << b) : (T)0; }
template <class T> FN T shift_right(T a, T b) { return b < 64 ? (T)((u64)a >> b) : (T)0; }

// NaN wins.
template <class T> FN T larger(T a, T b) { return b != b ? b : a < b ? b : a; }
template <class T> FN T smaller(T a, T b) { return b != b ? b : b < a ? b : a; }
template <class T> FN T sign(T x) { return x != x ? x : (T)((x > 0) - (x < 0)); }
template <class T> FN T absolute(T x) { if constexpr (is_real<T>::value) return fabs(x); else return x < 0 ? neg(x) : x; }

// Fractions are dropped, NaN gives 0; what lies beyond 64 bits gives their nearest end.
template <class To, class From> FN To cast(From x) {
  if constexpr (is_real<From>::value && !is_real<To>::value) {
    if (x != x) return (To)0;
    if ((To)-1 < (To)0 || x < 0) return (To)(i64)x;
    return (To)(u64)x;
  } else {
    return (To)x;
  }
}
template <class T> FN bool is_infinite(T x, int signs) {
  const T end = (T)__uint_as_float(0x7f800000u);
  return ((signs & 2) && x == end) || ((signs & 1) && x == -end);
}

// Activations, accurate in their tails.
template <class T> FN T sigmoid(T x) { return (T)1 / ((T)1 + exp(-x)); }
template <class T> FN T softplus(T x) { return (x < 0 ? (T)0 : x) + log1p(exp(-fabs(x))); }
template <class T> FN T gelu_erf(T x) { return (T)0.5 * x * erfc(x * (T)-0.70710678118654752); }
template <class T> FN T gelu_tanh(T x) {
  return x * sigmoid((T)1.5957691216057308 * (x + (T)0.044715 * x * x * x));
}
template <class T> FN T hard_sigmoid(T x, T alpha, T beta) {
  const T y = alpha * x + beta;
  return y < 0 ? (T)0 : (T)1 < y ? (T)1 : y;
}

enum { kSum, kProduct, kLargest, kSmallest };
template <int kind, class T> FN T fold(T a, T b) {
  return kind == kSum ? add(a, b) : kind == kProduct ? mul(a, b) : kind == kLargest ? larger(a, b) : smaller(a, b);
}
// Of all threads of the block, to all of them.
template <int kind, class T> FN T fold_block(T x, char* shared) {
  T* values = reinterpret_cast<T*>(shared);
  __syncthreads();
  values[threadIdx.x] = x;
  for (unsigned distance = blockDim.x / 2; distance > 0; distance /= 2) {
    __syncthreads();
    if (threadIdx.x < distance) values[threadIdx.x] = fold<kind>(values[threadIdx.x], values[threadIdx.x + distance]);
  }
  __syncthreads();
  return values[0];
}
)cuda";

}  // namespace ingot::kernel
