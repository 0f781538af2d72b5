// labels: none
#include <zlib.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <string>
#include <vector>

#include "../../catch.hpp"
#include "../../support/temporary_folder.hpp"
#include "tilewright/data/cifar.hpp"
#include "tilewright/data/mnist.hpp"

namespace {

namespace data = tilewright::data;
namespace fs = std::filesystem;
using Bytes = std::vector<std::uint8_t>;

Bytes counting(std::size_t size) {
  Bytes result(size);
  for (std::size_t i = 0; i < size; ++i) result[i] = static_cast<std::uint8_t>(i % 251);
  return result;
}

Bytes idx_bytes(const std::vector<std::uint32_t>& extents, const Bytes& elements, std::uint8_t type_code = 8) {
  Bytes result{0, 0, type_code, static_cast<std::uint8_t>(extents.size())};
  for (const auto extent : extents)
    for (const int shift : {24, 16, 8, 0}) result.push_back(static_cast<std::uint8_t>(extent >> shift));
  result.insert(result.end(), elements.begin(), elements.end());
  return result;
}

fs::path write_plain(const fs::path& path, const Bytes& bytes) {
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  return path;
}

fs::path write_gzip(const fs::path& path, const Bytes& bytes) {
  const gzFile file = gzopen(path.string().c_str(), "wb");
  REQUIRE(gzwrite(file, bytes.data(), static_cast<unsigned>(bytes.size())) == static_cast<int>(bytes.size()));
  REQUIRE(gzclose(file) == Z_OK);
  return path;
}

Bytes read_back(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return Bytes(std::istreambuf_iterator<char>(file), {});
}

std::string read_idx_error(const fs::path& path, const std::string& found, const std::string& expected) {
  return "read_idx: " + path.string() + ": " + found + ": " + expected + " expected";
}

}  // namespace

TEST_CASE("read_idx: a file's bytes come in its shape, plain and gzip-compressed") {
  const TemporaryFolder folder;
  const Bytes bytes = idx_bytes({2, 3, 4}, counting(24));
  for (const auto& path : {write_plain(folder.path / "plain", bytes), write_gzip(folder.path / "small.gz", bytes),
                           write_gzip(folder.path / "gzip-without-the-suffix", bytes)}) {
    const auto result = data::read_idx<3>(path);
    CHECK((result.shape(0) == 2 && result.shape(1) == 3 && result.shape(2) == 4));
    CHECK(result(0, 2, 1) == 9);
    CHECK(result(1, 2, 3) == 23);
  }
}

TEST_CASE("read_idx: a large file is whole, an empty one is empty") {
  const TemporaryFolder folder;
  const Bytes elements = counting(3'000'011);
  for (const auto write : {write_plain, write_gzip}) {
    const auto result = data::read_idx<1>(write(folder.path / "large", idx_bytes({3'000'011}, elements)));
    CHECK(std::equal(elements.begin(), elements.end(), result.begin(), result.end()));
  }
  CHECK(data::read_idx<3>(write_plain(folder.path / "empty", idx_bytes({0, 28, 28}, {}))).size() == 0);
}

TEST_CASE("read_idx: files that are no IDX files of this rank") {
  const TemporaryFolder folder;
  const fs::path path = folder.path / "file";
  const auto check = [&](const Bytes& bytes, const std::string& found, const std::string& expected) {
    write_plain(path, bytes);
    CHECK_THROWS_WITH(data::read_idx<1>(path), read_idx_error(path, found, expected));
  };
  check({}, "0 bytes", "an IDX header of 8");
  check({0, 0, 8, 1, 0, 0}, "6 bytes", "an IDX header of 8");
  check({'P', 'K', 3, 4}, "a magic number of 80, 75", "an IDX file, which begins with 0, 0,");
  check(idx_bytes({1}, {0, 0, 0, 0}, 0x0d), "type code 13", "8, unsigned bytes,");
  check(idx_bytes({1, 1}, {0}), "rank 2", "rank 1");
  CHECK_THROWS_WITH(data::read_idx<1>(folder.path / "absent"),
                    read_idx_error(folder.path / "absent", "no such file", "a readable file"));
  CHECK_THROWS_WITH(data::read_idx<1>(folder.path), read_idx_error(folder.path, "a folder", "a readable file"));
}

TEST_CASE("read_idx: files that are shorter or longer than they say") {
  const TemporaryFolder folder;
  const fs::path path = folder.path / "file";
  const auto check = [&](const std::vector<std::uint32_t>& extents, std::size_t given, const std::string& found,
                         const std::string& shape) {
    for (const auto write : {write_plain, write_gzip})
      CHECK_THROWS_WITH(data::read_idx<3>(write(path, idx_bytes(extents, counting(given)))),
                        read_idx_error(path, found + " bytes of elements", "one byte for each element of " + shape));
  };
  check({1, 2, 3}, 5, "5", "(1, 2, 3)");
  check({1, 2, 3}, 7, "more than 6", "(1, 2, 3)");
  check({1, 0, 3}, 1, "more than 0", "(1, 0, 3)");
  check({1u << 31, 1u << 31, 4}, 0, "0", "(2147483648, 2147483648, 4)");  // 2^64, which is 0 in 64 bits
  check({1u << 31, 1u << 31, 4}, 2'000'000, "2000000", "(2147483648, 2147483648, 4)");
}

TEST_CASE("read_idx: no more is read than the header promises") {
  const TemporaryFolder folder;
  // 64 MB after the one element that is promised, in 64 KB with a wrong checksum: whoever comes to the end finds that
  const fs::path path = folder.path / "bomb.gz";
  Bytes bomb = read_back(write_gzip(path, idx_bytes({1}, Bytes(64 << 20))));
  bomb[bomb.size() - 8] ^= 1;
  write_plain(path, bomb);
  CHECK_THROWS_WITH(data::read_idx<1>(path),
                    read_idx_error(path, "more than 1 bytes of elements", "one byte for each element of (1,)"));
  CHECK_THROWS_WITH(data::read_idx<2>(path), read_idx_error(path, "rank 1", "rank 2"));
  CHECK_THROWS_WITH(data::read_idx<1>("/dev/zero"), read_idx_error("/dev/zero", "type code 0", "8, unsigned bytes,"));
}

TEST_CASE("read_idx: gzip data that is cut off or changed") {
  const TemporaryFolder folder;
  const fs::path path = folder.path / "file.gz";
  const Bytes whole = read_back(write_gzip(path, idx_bytes({1000}, counting(1000))));
  const std::string error = read_idx_error(path, "gzip data that is corrupt or cut off", "a whole gzip stream");
  for (std::size_t size = 20; size < whole.size(); ++size) {
    write_plain(path, Bytes(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size)));
    CHECK_THROWS_WITH(data::read_idx<1>(path), error);
  }
  Bytes changed = whole;
  changed[changed.size() - 8] ^= 1;  // the checksum
  write_plain(path, changed);
  CHECK_THROWS_WITH(data::read_idx<1>(path), error);
  // Of a file of several pieces, when the last element is there, nothing but the checksum and the length is left to read.
  const Bytes large = read_back(write_gzip(path, idx_bytes({3'000'011}, counting(3'000'011))));
  for (const std::ptrdiff_t cut : {1, 4, 8}) {
    CAPTURE(cut);
    write_plain(path, Bytes(large.begin(), large.end() - cut));
    CHECK_THROWS_WITH(data::read_idx<1>(path), error);
  }
}

TEST_CASE("load_mnist: finds the files, normalises the images, keeps the order") {
  const TemporaryFolder folder;
  Bytes pixels(2 * 28 * 28, 0);
  pixels[28 * 28 + 29] = 255;
  for (const std::string part : {"train", "t10k"}) {
    write_gzip(folder.path / (part + "-images-idx3-ubyte.gz"), idx_bytes({2, 28, 28}, pixels));
    write_plain(folder.path / (part + "-labels-idx1-ubyte"), idx_bytes({2}, {9, 0}));
  }
  const auto [train, test] = data::load_mnist(folder.path);
  CHECK(train.size() == 2);
  CHECK(std::abs(test.images(0, 1, 1) - (0 - 0.1307f) / 0.3081f) < 1e-6f);
  CHECK(std::abs(test.images(1, 1, 1) - (1 - 0.1307f) / 0.3081f) < 1e-6f);
  CHECK((test.labels(0) == 9 && test.labels(1) == 0));
}

TEST_CASE("load_mnist: files that are missing, do not fit each other or are not MNIST's") {
  const TemporaryFolder folder;
  const fs::path images = folder.path / "train-images-idx3-ubyte", labels = folder.path / "train-labels-idx1-ubyte";
  const auto check = [&](const fs::path& path, const std::string& rest) {
    CHECK_THROWS_WITH(data::load_mnist(path.extension() == ".absent" ? path : folder.path),
                      "load_mnist: " + path.string() + ": " + rest + " expected");
  };
  const auto write_images = [&](std::uint32_t count, std::uint32_t height) {
    write_plain(images, idx_bytes({count, height, 28}, Bytes(std::size_t{count} * height * 28)));
  };
  check(folder.path / "folder.absent", "no such folder: the MNIST files' folder");
  check(folder.path, "neither train-images-idx3-ubyte nor train-images-idx3-ubyte.gz: one of them");
  write_images(2, 27);
  check(folder.path, "neither train-labels-idx1-ubyte nor train-labels-idx1-ubyte.gz: one of them");
  write_plain(labels, idx_bytes({2}, {9, 10}));
  check(images, "images of 27 x 28: 28 x 28");
  write_images(3, 28);
  check(images, "3 images for 2 labels: one label for each image");
  write_images(0, 28);
  write_plain(labels, idx_bytes({0}, {}));
  check(images, "no images: at least one");
  write_plain(labels, idx_bytes({2}, {9, 10}));
  write_images(2, 28);
  check(labels, "label 10: labels from 0 to 9");
  write_plain(labels, idx_bytes({2}, {9, 0}));
  check(folder.path, "neither t10k-images-idx3-ubyte nor t10k-images-idx3-ubyte.gz: one of them");
}

TEST_CASE("load_mnist: the published files hold what is known of them") {
  const char* folder = std::getenv("TILEWRIGHT_MNIST");
  if (folder == nullptr) {
    WARN("skipped: the environment variable TILEWRIGHT_MNIST names no folder with the MNIST files");
    return;
  }
  const auto [train, test] = data::load_mnist(folder);
  REQUIRE(train.size() == 60'000);
  REQUIRE(test.size() == 10'000);
  const auto begins_with = [](const data::Dataset& part, const std::vector<std::int32_t>& labels) {
    return std::equal(labels.begin(), labels.end(), part.labels.begin());
  };
  CHECK(begins_with(train, {5, 0, 4, 1, 9, 2, 1, 3, 1, 4}));
  CHECK(begins_with(test, {7, 2, 1, 0, 4, 1, 4, 9, 5, 9}));
  // the first image, a 5: its corner, and its first inked row
  CHECK(train.images(0, 0, 0) == data::normalised(0));
  CHECK(train.images(0, 5, 12) == data::normalised(3));
  CHECK(train.images(0, 5, 16) == data::normalised(126));

  const auto& pixels = train.images.storage();
  const auto count = static_cast<double>(pixels.size());
  const double mean = std::accumulate(pixels.begin(), pixels.end(), 0.0) / count;
  const double squares = std::inner_product(pixels.begin(), pixels.end(), pixels.begin(), 0.0) / count;
  CHECK(std::abs(mean) < 1e-3);
  CHECK(std::abs(std::sqrt(squares - mean * mean) - 1) < 1e-3);
}

/// Records of images in which byte k of image i is i + k, and whose label is i.
Bytes cifar10_bytes(std::size_t count) {
  Bytes result;
  for (std::size_t i = 0; i < count; ++i) {
    result.push_back(static_cast<std::uint8_t>(i));
    for (std::size_t k = 0; k < 3 * 32 * 32; ++k) result.push_back(static_cast<std::uint8_t>(i + k));
  }
  return result;
}

TEST_CASE("read_cifar10: labels and images, plain and gzip-compressed") {
  const TemporaryFolder folder;
  for (const fs::path& path :
       {write_plain(folder.path / "batch.bin", cifar10_bytes(3)), write_gzip(folder.path / "batch.bin.gz", cifar10_bytes(3))}) {
    const auto images = data::read_cifar10(path);
    REQUIRE((images.images.shape() == std::array<std::size_t, 4>{3, 3, 32, 32}));
    CHECK((images.labels == xt::xtensor<std::int32_t, 1>{0, 1, 2}));
    CHECK(images.images(2, 0, 0, 0) == 2);
    CHECK(images.images(0, 0, 1, 3) == 35);  // rows of 32
    CHECK(images.images(1, 2, 0, 5) == (1 + 2048 + 5) % 256);  // blue
  }
}

TEST_CASE("read_cifar10: files that are no images") {
  const TemporaryFolder folder;
  const auto error = [&](const Bytes& bytes) -> std::string {
    const fs::path path = write_plain(folder.path / "batch.bin", bytes);
    try {
      data::read_cifar10(path);
    } catch (const data::DataError& thrown) {
      return std::string(thrown.what()).substr(("read_cifar10: " + path.string() + ": ").size());
    }
    return "no error";
  };
  CHECK(error({}) == "0 bytes: 3073 for each image expected");
  CHECK(error(counting(3072)) == "3072 bytes: 3073 for each image expected");
  Bytes bytes = cifar10_bytes(2);
  bytes.push_back(0);
  CHECK(error(bytes) == "6147 bytes: 3073 for each image expected");
  bytes.pop_back();
  bytes[3073] = 10;
  CHECK(error(bytes) == "label 10 of image 1: a label from 0 to 9 expected");
}

TEST_CASE("load_cifar10: five files for training and one for testing, normalised") {
  const TemporaryFolder folder;
  const auto load = [&] { return data::load_cifar10(folder.path); };
  CHECK_THROWS_WITH(load(),
                    "read_cifar10: " + (folder.path / "data_batch_1.bin").string() + ": no such file: a readable file expected");
  for (std::size_t i = 1; i <= 5; ++i) write_plain(folder.path / ("data_batch_" + std::to_string(i) + ".bin"), cifar10_bytes(i));
  CHECK_THROWS_AS(load(), data::DataError);
  write_plain(folder.path / "test_batch.bin", cifar10_bytes(2));
  const data::Cifar10 cifar = load();
  CHECK((cifar.train.labels == xt::xtensor<std::int32_t, 1>{0, 0, 1, 0, 1, 2, 0, 1, 2, 3, 0, 1, 2, 3, 4}));
  CHECK(cifar.test.size() == 2);
  CHECK(cifar.train.images(9, 0, 0, 7) == Approx((10 / 255.0 - 0.4914) / 0.2470));
  CHECK(cifar.train.images(9, 1, 0, 7) == Approx((10 / 255.0 - 0.4822) / 0.2435));
  CHECK(cifar.test.images(1, 2, 31, 31) == Approx((0 / 255.0 - 0.4465) / 0.2616));
}
