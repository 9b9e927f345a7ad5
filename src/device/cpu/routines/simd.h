#pragma once

// INGOT_SIMD before a function definition: compiled for several instruction sets, and the best that the
// processor has is taken when the program starts. What is inlined into it is compiled with it. Not under
// sanitizers, which do not survive the choosing.
#if defined(__GNUC__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__) && \
    !defined(__SANITIZE_THREAD__)
#define INGOT_SIMD __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define INGOT_SIMD
#endif
#define INGOT_INLINE inline __attribute__((always_inline))
