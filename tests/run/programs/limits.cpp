// labels: more
// What is larger than 32 bits count, or than a machine has.
#include <zip.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

#include "../../catch.hpp"
#include "../../support/child_process.hpp"
#include "tilewright/checkpoint/npz.hpp"
#include "tilewright/tilewright.hpp"

namespace {
namespace tw = tilewright;
namespace ops = tw::ops;

constexpr void one_output(tw::Ir& ir) {
  ops::host_store(ir.d2h_stream("y", {4}), ir.variable(tw::ones(), {4}, tw::float32, "w"));
}

/// The content of a .npy file of zeros, as libzip reads it.
struct Zeros {
  std::string header;
  std::uint64_t size = 0, at = 0;  ///< in bytes, with the header

  static zip_int64_t read(void* self, void* data, zip_uint64_t count, zip_source_cmd_t command) {
    auto& zeros = *static_cast<Zeros*>(self);
    switch (command) {
      case ZIP_SOURCE_OPEN: zeros.at = 0; return 0;
      case ZIP_SOURCE_READ: {
        count = std::min(count, zeros.size - zeros.at);
        std::memset(data, 0, count);
        if (zeros.at < zeros.header.size())
          std::memcpy(data, zeros.header.data() + zeros.at, std::min<std::uint64_t>(count, zeros.header.size() - zeros.at));
        zeros.at += count;
        return static_cast<zip_int64_t>(count);
      }
      case ZIP_SOURCE_STAT: {
        auto& stat = *static_cast<zip_stat_t*>(data);
        zip_stat_init(&stat);
        stat.size = zeros.size;
        stat.valid = ZIP_STAT_SIZE;
        return sizeof(stat);
      }
      case ZIP_SOURCE_SUPPORTS:
        return zip_source_make_command_bitmap(ZIP_SOURCE_OPEN, ZIP_SOURCE_READ, ZIP_SOURCE_CLOSE, ZIP_SOURCE_STAT,
                                              ZIP_SOURCE_ERROR, ZIP_SOURCE_FREE, -1);
      default: return 0;
    }
  }
};
/// A .npz file with an array of float32 zeros, deflated.
std::vector<std::byte> npz_of_zeros(std::int64_t count) {
  Zeros zeros{tw::detail::npy_header({{count}, tw::float32})};
  zeros.size = zeros.header.size() + 4 * static_cast<std::uint64_t>(count);
  zip_source_t* const buffer = zip_source_buffer_create(nullptr, 0, 0, nullptr);
  zip_source_keep(buffer);
  zip_t* const archive = zip_open_from_source(buffer, ZIP_TRUNCATE, nullptr);
  const auto entry = zip_file_add(archive, "a.npy", zip_source_function(archive, Zeros::read, &zeros), ZIP_FL_ENC_UTF_8);
  zip_set_file_compression(archive, static_cast<zip_uint64_t>(entry), ZIP_CM_DEFLATE, 1);
  if (zip_close(archive) != 0) throw std::runtime_error(zip_strerror(archive));
  zip_stat_t stat;
  zip_source_stat(buffer, &stat);
  std::vector<std::byte> bytes(stat.size);
  zip_source_open(buffer);
  zip_source_read(buffer, bytes.data(), bytes.size());
  zip_source_close(buffer);
  zip_source_free(buffer);
  return bytes;
}
}  // namespace

TEST_CASE("a deflated array of more than 2^32 bytes loads") {
  constexpr std::int64_t count = (std::int64_t{1} << 30) + 16;
  const tw::TensorFile file = tw::parse_npz(npz_of_zeros(count), "large.npz");
  REQUIRE(file.tensors().size() == 1);
  CHECK(file.tensors()[0].spec == tw::TensorSpec{{count}, tw::float32});
  CHECK(file.tensors()[0].bytes.size() == 4 * count);
  CHECK(file.tensors()[0].bytes.back() == std::byte{0});
}
TEST_CASE("more threads than a process can have are an error that says how many there are") {
  CHECK(in_child(
            [](Report& report) {
              try {
                tw::Session<one_output> session({.threads = std::numeric_limits<int>::max()});
                report.add("no error");
              } catch (const std::runtime_error& error) {
                if (std::string_view(error.what()).find("2147483647") == std::string_view::npos) report.add(error.what());
              } catch (const std::exception& error) {
                report.add(std::string("another exception: ") + error.what());
              }
            },
            rlim_t{4} << 30, 300) == "");
}
