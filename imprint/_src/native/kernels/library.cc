// What the library exports: its source's digest, and the handlers for this CPU.

#include "library.h"

#define EXPORT extern "C" __attribute__((visibility("default")))

EXPORT const char* imprint_source() { return IMPRINT_SOURCE; }

EXPORT const Kernel* imprint_kernels() {
#if defined(__x86_64__)
  __builtin_cpu_init();
  bool has_avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                  __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2");
  if (has_avx2 && __builtin_cpu_supports("avx512f") &&
      __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512cd") &&
      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
    return avx512;
  if (has_avx2) return avx2;
#endif
  return baseline;
}
