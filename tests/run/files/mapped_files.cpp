// labels: portable windows
// Files of NumPy as memory: modes, what is refused, and systems without mapped files.
#include <cstring>
#include <fstream>
#include <iterator>
#include <limits>

#include "../../catch.hpp"
#include "../../support/npy_files.hpp"
#include "../../support/temporary_folder.hpp"
#include "tilewright/checkpoint/mapped_npy.hpp"

namespace tw = tilewright;
using support::element, support::npy, support::write_file, tw::MapMode;

namespace {

/// Returns the text of the LoadError that f throws.
std::string error_of(auto f) {
  try {
    f();
  } catch (const tw::LoadError& error) {
    return error.what();
  }
  return "none";
}
std::string error_of_map(const std::filesystem::path& path, MapMode mode = MapMode::read_only) {
  return error_of([&] { tw::map_npy(path, mode); });
}
/// Returns what map_npy says of a file with these bytes, after its path.
std::string refused(const TemporaryFolder& folder, const std::string& bytes) {
  const auto path = folder.path / "refused.npy";
  write_file(path, bytes);
  const std::string text = error_of_map(path), start = "map_npy: " + path.string() + ": ";
  return text.starts_with(start) ? text.substr(start.size()) : text;
}
std::string contents(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

const std::string six = npy("<f4", "(2, 3)", std::vector<float>{1, 2, 3, 4, 5, 6});

}  // namespace

TEST_CASE("mapped files: on systems without them, an error says so") {
  const TemporaryFolder folder;
  const auto path = folder.path / "x.npy";
  write_file(path, six);
  if (tw::internal::maps_files) {
    CHECK(element<float>(path, 5) == 6);
    return;
  }
  const std::string text = path.string() + ": mapped files, which are not on this system: load_npz, or a POSIX system, expected";
  CHECK(error_of_map(path) == "map_npy: " + text);
  CHECK(error_of([&] { tw::create_npy(path, {{3}, tw::float32}); }) == "create_npy: " + text);
}

TEST_CASE("mapped files: a mode says where writes go") {
  if (!tw::internal::maps_files) return;
  const TemporaryFolder folder;
  const auto path = folder.path / "x.npy";
  write_file(path, six);
  {
    const auto array = tw::map_npy(path);
    CHECK(array.spec() == tw::TensorSpec{{2, 3}, tw::float32});
    CHECK(array.mode() == MapMode::read_only);
    CHECK(array.elements<float>()[2] == 3);
    CHECK_THROWS_WITH(
        array.writable_elements<float>(),
        "writable_elements: " + path.string() + " is mapped read-only: MapMode::copy_on_write or MapMode::shared expected");
    CHECK_THROWS_WITH(array.elements<double>(),
                      "elements: float64 of " + path.string() + ", whose elements are float32: this type expected");
  }
  {
    const auto mine = tw::map_npy(path, MapMode::copy_on_write);
    mine.writable_elements<float>()[2] = 30;
    CHECK(mine.elements<float>()[2] == 30);
    CHECK(element<float>(path, 2) == 3);
    CHECK(contents(path) == six);
  }
  {
    const auto first = tw::map_npy(path, MapMode::shared), second = tw::map_npy(path);
    first.writable_elements<float>()[2] = 31;
    first.flush();
    CHECK(second.elements<float>()[2] == 31);
  }
  CHECK(contents(path) == npy("<f4", "(2, 3)", std::vector<float>{1, 2, 31, 4, 5, 6}));
}

TEST_CASE("mapped files: a copy of an array keeps the file mapped") {
  if (!tw::internal::maps_files) return;
  const TemporaryFolder folder;
  write_file(folder.path / "x.npy", six);
  auto array = tw::map_npy(folder.path / "x.npy");
  const auto copy = array;
  write_file(folder.path / "y.npy", npy("<i8", "(1,)", std::vector<std::int64_t>{9}));
  array = tw::map_npy(folder.path / "y.npy");
  CHECK(copy.elements<float>()[0] == 1);
  CHECK(array.elements<std::int64_t>()[0] == 9);
}

TEST_CASE("mapped files: create_npy makes a file of zeros that NumPy's format describes") {
  if (!tw::internal::maps_files) return;
  const TemporaryFolder folder;
  const auto path = folder.path / "new.npy";
  {
    const auto array = tw::create_npy(path, {{3}, tw::int16});
    CHECK(array.mode() == MapMode::shared);
    CHECK(array.elements<std::int16_t>()[2] == 0);
    array.writable_elements<std::int16_t>()[1] = -2;
  }
  const std::string bytes = contents(path);
  CHECK(bytes.size() == 134);  // 128 of header, as numpy.save writes
  CHECK(bytes.starts_with(std::string("\x93NUMPY\1\0", 8)));
  CHECK(bytes.substr(128) == std::string("\0\0\xfe\xff\0\0", 6));
  CHECK(element<std::int16_t>(path, 1) == -2);
  const std::string error = error_of([&] { tw::create_npy(path, {{3}, tw::int16}); });
  CHECK(error.find("a file that cannot be created") != error.npos);
  CHECK(error.ends_with("the path of a new file expected"));
}

TEST_CASE("mapped files: create_npy refuses extents before it makes a file") {
  if (!tw::internal::maps_files) return;
  const TemporaryFolder folder;
  const auto path = folder.path / "new.npy";
  constexpr std::int64_t huge = std::int64_t{1} << 33;
  const auto refused = [&](const tw::TensorSpec& spec) {
    const std::string text = error_of([&] { tw::create_npy(path, spec); }), start = "create_npy: " + path.string() + ": ";
    CHECK(std::filesystem::is_empty(folder.path));
    return text.starts_with(start) ? text.substr(start.size()) : text;
  };
  CHECK(refused({{-4}, tw::float32}) == "a shape of (-4,): extents of 0 or more expected");
  CHECK(refused({{-1, -4}, tw::float32}) == "a shape of (-1, -4): extents of 0 or more expected");
  CHECK(refused({{std::numeric_limits<std::int64_t>::min()}, tw::int8}).ends_with("extents of 0 or more expected"));
  for (const tw::Shape& shape : {tw::Shape{huge, huge}, {huge, huge, 0}, {0, huge, huge}, {std::int64_t{1} << 61}})
    CHECK(refused({shape, tw::float32}) == "a shape of 2^63 bytes or more: a shape that fits in memory expected");
  CHECK(refused({{(std::int64_t{1} << 61) - 1}, tw::float32}).ends_with("the path of a new file expected"));  // and a header
  CHECK(tw::create_npy(path, {{}, tw::float64}).bytes().size() == 8);
  CHECK(tw::create_npy(folder.path / "none.npy", {{huge, 0}, tw::float64}).bytes().empty());
}

TEST_CASE("mapped files: what is no array of this machine's numbers is refused") {
  if (!tw::internal::maps_files) return;
  const TemporaryFolder folder;
  const std::vector<float> elements{1, 2, 3, 4, 5, 6};
  CHECK(refused(folder, npy("<f4", "(2, 3)", elements, "True")) == "elements in Fortran's order: row-major elements expected");
  CHECK(refused(folder, npy(">f4", "(2, 3)", elements)) ==
        "dtype '>f4': a little-endian one of 1 to 8 bytes, such as '<f4' expected");
  CHECK(refused(folder, npy("<f4", "(2, 3)", elements, "False", 3)) == ".npy version 3.0: version 1.0 or 2.0 expected");
  CHECK(refused(folder, six.substr(0, six.size() - 4)) == "20 bytes of elements: 24 bytes for (2, 3) float32 expected");
  CHECK(refused(folder, six + "more") == "28 bytes of elements: 24 bytes for (2, 3) float32 expected");
  CHECK(refused(folder, six.substr(0, 40)) == "40 bytes: 128 bytes of .npy header expected");
  CHECK(refused(folder, "") == "no .npy magic number: 0x93 'NUMPY' at the start expected");
  CHECK(refused(folder, npy("|b1", "(2,)", std::vector<std::uint8_t>{1, 2})) ==
        "a bool that is neither 0 nor 1: 0 or 1 expected");
  std::string odd = npy("<f4", "(2, 3)", elements);
  odd.insert(127, 1, ' ');
  odd[8] = static_cast<char>(odd[8] + 1);
  CHECK(refused(folder, odd) == "float32 elements from byte 129 on: a multiple of 4 expected");

  CHECK(error_of_map(folder.path / "none.npy").ends_with("none.npy: no such file: a readable file expected"));
  CHECK(error_of_map(folder.path).ends_with(": a folder: a readable file expected"));
}
