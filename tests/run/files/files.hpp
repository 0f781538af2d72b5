#pragma once
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "../../catch.hpp"
#include "tilewright/checkpoint/checkpoint.hpp"

namespace tw = tilewright;
using Bytes = std::vector<std::byte>;

/// The files that tests/reference/make_state_fixtures.py made.
inline const std::filesystem::path state_folder = std::filesystem::path(TILEWRIGHT_REFERENCE_DIR) / "state";

inline Bytes read_all(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  REQUIRE(file);
  const std::string characters(std::istreambuf_iterator<char>(file), {});
  const auto bytes = std::as_bytes(std::span(characters));
  return {bytes.begin(), bytes.end()};
}
inline void write_all(const std::filesystem::path& path, const Bytes& bytes) {
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  REQUIRE(file);
}
/// Reads a file of either format.
inline tw::TensorFile load(const std::filesystem::path& path) {
  return path.extension() == ".npz" ? tw::load_npz(path) : tw::load_safetensors(path);
}
inline void save(const std::filesystem::path& path, std::span<const tw::HostTensor> tensors) {
  if (path.extension() == ".npz") tw::save_npz(path, tensors);
  else tw::save_safetensors(path, tensors);
}

/// A tensor whose element i is i; but bools alternate.
struct Counting {
  std::string name;
  tw::TensorSpec spec;
  Bytes bytes;

  Counting(std::string its_name, const tw::Shape& shape, tw::DType dtype)
      : name(std::move(its_name)), spec{shape, dtype}, bytes(static_cast<std::size_t>(spec.bytes())) {
    tw::visit_dtype(dtype, [&]<class T>(std::type_identity<T>) {
      for (std::size_t i = 0; i * sizeof(T) < bytes.size(); ++i) {
        const T element = std::is_same_v<T, bool> ? static_cast<T>(i % 2) : static_cast<T>(i);
        std::memcpy(bytes.data() + i * sizeof(T), &element, sizeof(T));
      }
    });
  }
  operator tw::HostTensor() const { return {name, spec, bytes}; }
};

/// The bytes, to be compared; a span has no ==.
inline Bytes bytes_of(const tw::HostTensor& tensor) { return {tensor.bytes.begin(), tensor.bytes.end()}; }

/// Checks that the file holds exactly these tensors, in any order.
inline void check_tensors(const tw::TensorFile& file, const std::vector<Counting>& expected) {
  CHECK(file.tensors().size() == expected.size());
  for (const Counting& tensor : expected) {
    CAPTURE(file.path(), tensor.name);
    const tw::HostTensor* const found = file.find(tensor.name);
    REQUIRE(found != nullptr);
    CHECK(found->spec == tensor.spec);
    CHECK(bytes_of(*found) == tensor.bytes);
  }
}

/// One tensor of each dtype, called as .safetensors files call the dtype.
inline std::vector<Counting> every_dtype() {
  return {{"BOOL", {2, 2}, tw::boolean}, {"I8", {2, 2}, tw::int8},     {"I16", {2, 2}, tw::int16},   {"I32", {2, 2}, tw::int32},
          {"I64", {2, 2}, tw::int64},    {"U8", {2, 2}, tw::uint8},    {"U16", {2, 2}, tw::uint16},  {"U32", {2, 2}, tw::uint32},
          {"U64", {2, 2}, tw::uint64},   {"F16", {2, 2}, tw::float16}, {"F32", {2, 2}, tw::float32}, {"F64", {2, 2}, tw::float64},
          {"BF16", {2, 2}, tw::bfloat16}};
}
inline std::vector<Counting> small_tensors() {
  return {{"fc1.weight", {2, 3}, tw::float32}, {"fc1.bias", {3}, tw::float32}, {"step", {}, tw::float32}};
}
/// They are valid as long as the tensors.
inline std::vector<tw::HostTensor> views(const std::vector<Counting>& tensors) { return {tensors.begin(), tensors.end()}; }
