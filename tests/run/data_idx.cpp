#include "tilewright/data/idx.hpp"

#include <zlib.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <vector>

#include "catch.hpp"
#include "tilewright/data/mnist.hpp"

namespace {

namespace tw = tilewright;
namespace fs = std::filesystem;
using Bytes = std::vector<std::uint8_t>;

/// A new folder that goes when the test ends.
struct TemporaryFolder {
  fs::path path = fs::temp_directory_path() / ("tilewright-test-" + std::to_string(std::random_device{}()));
  TemporaryFolder() { fs::create_directories(path); }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder() {
    std::error_code error;
    fs::remove_all(path, error);
  }
};

/// Big-endian sizes after the four bytes of the magic, then the data.
Bytes idx_bytes(std::uint8_t type_code, const std::vector<std::uint32_t>& sizes, const Bytes& content) {
  Bytes result{0, 0, type_code, static_cast<std::uint8_t>(sizes.size())};
  for (const std::uint32_t size : sizes)
    for (const int shift : {24, 16, 8, 0}) result.push_back(static_cast<std::uint8_t>(size >> shift));
  result.insert(result.end(), content.begin(), content.end());
  return result;
}

fs::path write_plain(const fs::path& path, const Bytes& bytes) {
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  REQUIRE(file.good());
  return path;
}

fs::path write_gzip(const fs::path& path, const Bytes& bytes) {
  const gzFile file = gzopen(path.string().c_str(), "wb");
  REQUIRE(file != nullptr);
  REQUIRE(gzwrite(file, bytes.data(), static_cast<unsigned>(bytes.size())) == static_cast<int>(bytes.size()));
  REQUIRE(gzclose(file) == Z_OK);
  return path;
}

Bytes read_all(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return Bytes(std::istreambuf_iterator<char>(file), {});
}

/// 0, 1, 2, ..., 250, 0, 1, ...: no period that a chunk's size could hide.
Bytes counting(std::size_t size) {
  Bytes result(size);
  for (std::size_t i = 0; i < size; ++i) result[i] = static_cast<std::uint8_t>(i % 251);
  return result;
}

/// The text of the DataError that the action throws; a text that says so when it throws none.
template <class Action>
std::string error_text(Action action) {
  try {
    action();
  } catch (const tw::DataError& error) {
    return error.what();
  }
  return "no DataError";
}

template <std::size_t N>
std::string read_error(const fs::path& path) {
  return error_text([&] { tw::read_idx<N>(path); });
}

std::vector<std::int32_t> first_labels(const tw::Dataset& dataset) {
  return {dataset.labels.begin(), dataset.labels.begin() + 10};
}

std::string found_expected(const fs::path& path, const std::string& found, const std::string& expected) {
  return "read_idx: " + path.string() + ": found " + found + ": expected " + expected;
}

}  // namespace

TEST_CASE("read_idx: a file's bytes come in its shape, plain and gzip-compressed") {
  const TemporaryFolder folder;
  const Bytes bytes = idx_bytes(8, {2, 3, 4}, counting(24));
  for (const fs::path& path : {write_plain(folder.path / "plain", bytes), write_gzip(folder.path / "small.gz", bytes),
                               write_gzip(folder.path / "gzip-without-the-suffix", bytes)}) {
    INFO(path);
    const xt::xtensor<std::uint8_t, 3> result = tw::read_idx<3>(path);
    CHECK((result.shape(0) == 2 && result.shape(1) == 3 && result.shape(2) == 4));
    CHECK(result(0, 0, 0) == 0);
    CHECK(result(0, 2, 1) == 9);
    CHECK(result(1, 0, 0) == 12);
    CHECK(result(1, 2, 3) == 23);
  }
}

TEST_CASE("read_idx: a file of many chunks is whole") {
  const TemporaryFolder folder;
  const Bytes content = counting(5'000'011);
  const Bytes bytes = idx_bytes(8, {5'000'011}, content);
  for (const fs::path& path : {write_plain(folder.path / "plain", bytes), write_gzip(folder.path / "large.gz", bytes)}) {
    INFO(path);
    const auto result = tw::read_idx<1>(path);
    CHECK(std::equal(content.begin(), content.end(), result.begin(), result.end()));
  }
}

TEST_CASE("read_idx: a size of zero is an empty tensor") {
  const TemporaryFolder folder;
  const auto result = tw::read_idx<3>(write_plain(folder.path / "empty", idx_bytes(8, {0, 28, 28}, {})));
  CHECK(result.size() == 0);
  CHECK(result.shape(0) == 0);
  CHECK(result.shape(1) == 28);
}

TEST_CASE("read_idx: a file that is not there, or a folder") {
  const TemporaryFolder folder;
  CHECK(read_error<1>(folder.path / "absent") == found_expected(folder.path / "absent", "no such file", "a readable file"));
  CHECK(read_error<1>(folder.path) == found_expected(folder.path, "a folder", "a readable file"));
}

TEST_CASE("read_idx: a header that is not an IDX file's") {
  const TemporaryFolder folder;
  const fs::path path = folder.path / "file";
  const auto error = [&](const Bytes& bytes) { return read_error<1>(write_plain(path, bytes)); };

  CHECK(error({}) == found_expected(path, "0 bytes", "an IDX header of 8"));
  CHECK(error({0, 0, 8}) == found_expected(path, "3 bytes", "an IDX header of 8"));
  CHECK(error({0, 0, 8, 1, 0, 0}) == found_expected(path, "6 bytes", "an IDX header of 8"));
  CHECK(error({'P', 'K', 3, 4}) == found_expected(path, "first bytes 0x50 0x4b", "an IDX file's 0x00 0x00"));
  CHECK(error(idx_bytes(0x0d, {1}, {0, 0, 0, 0})) == found_expected(path, "type code 0x0d", "0x08, unsigned bytes"));
  CHECK(error(idx_bytes(8, {1, 1}, {0})) == found_expected(path, "rank 2", "rank 1"));
}

TEST_CASE("read_idx: data that end too early or too late") {
  const TemporaryFolder folder;
  CHECK(read_error<1>(write_plain(folder.path / "flat", idx_bytes(8, {3}, counting(2)))) ==
        found_expected(folder.path / "flat", "2 bytes of data", "3 for shape (3,)"));
  const Bytes short_bytes = idx_bytes(8, {2, 3}, counting(5)), long_bytes = idx_bytes(8, {2, 3}, counting(7));
  for (const auto write : {write_plain, write_gzip}) {
    const fs::path path = folder.path / "file";
    CHECK(read_error<2>(write(path, short_bytes)) == found_expected(path, "5 bytes of data", "6 for shape (2, 3)"));
    CHECK(read_error<2>(write(path, long_bytes)) ==
          found_expected(path, "more than 6 bytes of data", "6 for shape (2, 3)"));
  }
}

TEST_CASE("read_idx: sizes that nobody has data for are refused before memory is") {
  const TemporaryFolder folder;
  const fs::path path = folder.path / "file";
  const auto error = [&](const std::vector<std::uint32_t>& sizes) {
    return read_error<3>(write_plain(path, idx_bytes(8, sizes, {})));
  };
  const std::string limit = "at most 1073741824 bytes of data";
  const std::uint32_t most = 0xffffffff;

  CHECK(error({most, 1, 1}) == found_expected(path, "shape (4294967295, 1, 1)", limit));
  CHECK(error({1 << 15, 1 << 15, 2}) == found_expected(path, "shape (32768, 32768, 2)", limit));
  // 2^64, which is 0 in 64 bits.
  CHECK(error({1u << 31, 1u << 31, 4}) == found_expected(path, "shape (2147483648, 2147483648, 4)", limit));
  // No data, but strides of more than 64 bits.
  CHECK(error({0, most, most}) == found_expected(path, "shape (0, 4294967295, 4294967295)", limit));
  CHECK(error({most, most, 0}) == found_expected(path, "shape (4294967295, 4294967295, 0)", limit));
  // Within the limit: what the file lacks is found without the memory it promises.
  CHECK(error({1024, 1024, 1024}) ==
        found_expected(path, "0 bytes of data", "1073741824 for shape (1024, 1024, 1024)"));
}

TEST_CASE("read_idx: the limit can be set") {
  const TemporaryFolder folder;
  const fs::path path = write_plain(folder.path / "file", idx_bytes(8, {2, 3}, counting(6)));
  CHECK(tw::read_idx<2>(path, 6).size() == 6);
  CHECK(error_text([&] { tw::read_idx<2>(path, 5); }) ==
        found_expected(path, "shape (2, 3)", "at most 5 bytes of data"));
}

TEST_CASE("read_idx: gzip data that are cut off or changed") {
  const TemporaryFolder folder;
  const fs::path path = folder.path / "file.gz";
  const Bytes whole = read_all(write_gzip(path, idx_bytes(8, {1000}, counting(1000))));
  const std::string expected = "a whole gzip stream";

  SECTION("without its checksum") {
    write_plain(path, Bytes(whole.begin(), whole.end() - 8));
    CHECK(read_error<1>(path) == found_expected(path, "gzip data cut off after 1008 bytes", expected));
  }
  SECTION("at every byte of the stream") {
    for (auto size = static_cast<std::ptrdiff_t>(whole.size()) - 1; size > 10; --size) {
      INFO(size);
      write_plain(path, Bytes(whole.begin(), whole.begin() + size));
      CHECK(read_error<1>(path).find("found gzip data cut off after ") != std::string::npos);
    }
  }
  SECTION("another checksum") {
    Bytes changed = whole;
    changed[changed.size() - 8] ^= 1;
    CHECK(read_error<1>(write_plain(path, changed)) == found_expected(path, "corrupt gzip data", expected));
  }
  SECTION("any byte of the data, the checksum or the length") {
    for (std::size_t i = 10; i < whole.size(); ++i) {
      if (i == whole.size() - 9) continue;  // the last byte of data has bits that mean nothing
      INFO(i);
      Bytes changed = whole;
      changed[i] ^= 0x10;
      CHECK(read_error<1>(write_plain(path, changed)) != "no DataError");
    }
  }
}

TEST_CASE("load_mnist: finds the files, normalises the images, keeps the order") {
  const TemporaryFolder folder;
  Bytes pixels(2 * 28 * 28, 0);
  pixels[28 * 28 + 29] = 255;
  write_gzip(folder.path / "t10k-images-idx3-ubyte.gz", idx_bytes(8, {2, 28, 28}, pixels));
  write_plain(folder.path / "t10k-labels-idx1-ubyte", idx_bytes(8, {2}, {9, 0}));

  const tw::Dataset test = tw::load_mnist(folder.path, tw::Split::test);
  CHECK((test.images.shape(0) == 2 && test.images.shape(1) == 28 && test.images.shape(2) == 28));
  CHECK(std::abs(test.images(0, 1, 1) - (0 - 0.1307f) / 0.3081f) < 1e-6f);
  CHECK(std::abs(test.images(1, 1, 1) - (1 - 0.1307f) / 0.3081f) < 1e-6f);
  CHECK(test.labels(0) == 9);
  CHECK(test.labels(1) == 0);
}

TEST_CASE("load_mnist: files that are missing, do not fit each other or are not MNIST's") {
  const TemporaryFolder folder;
  const fs::path images = folder.path / "train-images-idx3-ubyte", labels = folder.path / "train-labels-idx1-ubyte";
  const auto error = [&] { return error_text([&] { tw::load_mnist(folder.path, tw::Split::train); }); };
  const auto write_images = [&](const std::vector<std::uint32_t>& sizes) {
    write_plain(images, idx_bytes(8, sizes, Bytes(sizes[0] * sizes[1] * sizes[2])));
  };
  const std::string prefix = "load_mnist: ";

  CHECK(error_text([&] { tw::load_mnist(folder.path / "absent", tw::Split::train); }) ==
        prefix + (folder.path / "absent").string() +
            ": found no such folder: expected the folder that holds the MNIST files");
  CHECK(error() == prefix + folder.path.string() +
                       ": found neither train-images-idx3-ubyte nor train-images-idx3-ubyte.gz: expected one of them");
  write_images({2, 28, 28});
  CHECK(error() == prefix + folder.path.string() +
                       ": found neither train-labels-idx1-ubyte nor train-labels-idx1-ubyte.gz: expected one of them");
  write_plain(labels, idx_bytes(8, {2}, {9, 10}));
  CHECK(error() == prefix + labels.string() + ": found label 10 at index 1: expected labels 0 to 9");
  write_plain(labels, idx_bytes(8, {3}, {1, 2, 3}));
  CHECK(error() == prefix + images.string() + ": found 2 images: expected 3, one for each label in " + labels.string());
  write_images({3, 27, 28});
  CHECK(error() == prefix + images.string() + ": found images of 27 x 28: expected 28 x 28");
  write_images({3, 28, 28});
  CHECK(error() == "no DataError");
}

TEST_CASE("load_mnist: the published files hold what is known of them") {
  const char* folder = std::getenv("TILEWRIGHT_MNIST");
  if (folder == nullptr) {
    WARN("skipped: TILEWRIGHT_MNIST names no folder with the MNIST files");
    return;
  }
  const tw::Dataset train = tw::load_mnist(folder, tw::Split::train);
  REQUIRE(train.images.shape(0) == 60'000);
  REQUIRE(train.labels.shape(0) == 60'000);
  CHECK(first_labels(train) == std::vector<std::int32_t>{5, 0, 4, 1, 9, 2, 1, 3, 1, 4});
  // Pixels of the first image, a 5 (row, column): outside it, and in its first inked row.
  CHECK(train.images(0, 0, 0) == tw::mnist_normalised(0));
  CHECK(train.images(0, 5, 11) == tw::mnist_normalised(0));
  CHECK(train.images(0, 5, 12) == tw::mnist_normalised(3));
  CHECK(train.images(0, 5, 16) == tw::mnist_normalised(126));

  double sum = 0, sum_of_squares = 0;
  for (const float pixel : train.images.storage()) {
    sum += pixel;
    sum_of_squares += static_cast<double>(pixel) * pixel;
  }
  const double mean = sum / static_cast<double>(train.images.size());
  const double variance = sum_of_squares / static_cast<double>(train.images.size()) - mean * mean;
  CHECK(std::abs(mean) < 1e-3);
  CHECK(std::abs(std::sqrt(variance) - 1) < 1e-3);

  const tw::Dataset test = tw::load_mnist(folder, tw::Split::test);
  REQUIRE(test.images.shape(0) == 10'000);
  REQUIRE(test.labels.shape(0) == 10'000);
  CHECK(first_labels(test) == std::vector<std::int32_t>{7, 2, 1, 0, 4, 1, 4, 9, 5, 9});
}
