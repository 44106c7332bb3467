// The tables of handlers, one for each instruction set; each ends with a null name.

#pragma once

#include "ffi.h"

struct Kernel {
  const char* name;
  xla_ffi::Handler* handler;
};

extern const Kernel baseline[];
#if defined(__x86_64__)
extern const Kernel avx2[], avx512[];
#endif
