// The part of XLA's C interface for custom calls that the kernels use, version 0.3.
//
// XLA keeps this layout: a later version adds fields at the end of a struct, and runs
// handlers that report an earlier one. Declared here, it needs no header of jaxlib, so one
// binary serves all releases; a test compares it with the header of the release installed.

#pragma once

#include <cstddef>
#include <cstdint>

namespace xla_ffi {

constexpr int kMajor = 0, kMinor = 3;

struct Extension {
  size_t struct_size;
  int type;
  Extension* next;
};
constexpr int kMetadata = 1;  // the type of a MetadataExtension

struct Version {
  size_t struct_size;
  Extension* extension_start;
  int major_version, minor_version;
};

struct Metadata {
  size_t struct_size;
  Version api_version;
};

struct MetadataExtension {
  Extension base;
  Metadata* metadata;
};

struct Error;

struct ErrorCreate {
  size_t struct_size;
  Extension* extension_start;
  const char* message;
  int code;
};

struct Api {
  size_t struct_size;
  Extension* extension_start;
  Version api_version;
  const void* internal_api;
  Error* (*error_create)(ErrorCreate*);
};

enum DataType { kS32 = 4, kS64 = 5, kU32 = 8, kU64 = 9, kF32 = 11, kF64 = 12 };

struct Buffer {
  size_t struct_size;
  Extension* extension_start;
  int dtype;
  void* data;
  int64_t rank;
  int64_t* dims;
};

struct Buffers {
  size_t struct_size;
  Extension* extension_start;
  int64_t size;
  int* types;
  Buffer** items;
};

struct CallFrame {
  size_t struct_size;
  Extension* extension_start;
  const Api* api;
  void* context;
  int stage;
  Buffers args, rets;
};

using Handler = Error*(CallFrame*);

}  // namespace xla_ffi
