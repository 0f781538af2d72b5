// labels: more
// Files that are cut, changed or hostile: each reader gives the error that its page documents, or reads them, in little time and
// memory. Each file is changed in some thousand ways, the same ones in each run.
#include <zip.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <limits>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "../../../examples/gpt2/tokenizer.hpp"
#include "../../catch.hpp"
#include "../../support/child_process.hpp"
#include "../../support/temporary_folder.hpp"
#include "tilewright/checkpoint/checkpoints.hpp"
#include "tilewright/checkpoint/npz.hpp"
#include "tilewright/core/random/random.hpp"
#include "tilewright/data/data.hpp"
#include "tilewright/tilewright.hpp"

namespace {
namespace tw = tilewright;
namespace data = tw::data;
namespace fs = std::filesystem;

std::string read(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}
void write(const fs::path& path, std::string_view content) {
  std::ofstream(path, std::ios::binary).write(content.data(), static_cast<std::streamsize>(content.size()));
}
void write_gz(const fs::path& path, std::string_view content) {
  const gzFile file = gzopen(path.c_str(), "wb");
  gzwrite(file, content.data(), static_cast<unsigned>(content.size()));
  gzclose(file);
}

/// Calls f with each changed form of a file, and with what was changed.
void for_each_damage(const std::string& whole, const std::function<void(const std::string&, const std::string&)>& f) {
  const std::size_t size = whole.size(), step = 1 + size / 600;
  const auto at = [](const char* what, std::size_t place) { return what + (" at byte " + std::to_string(place)); };
  for (std::size_t end = 0; end < size; end += step) f(whole.substr(0, end), at("cut", end));
  for (std::size_t end = size - std::min<std::size_t>(size, 16); end < size; ++end) f(whole.substr(0, end), at("cut", end));
  for (std::size_t i = 0; i < size; i += step) {
    std::string changed = whole;
    for (const char value : {'\0', '\xff', '\x7f', '9', '[', '"'}) {
      changed[i] = value;
      f(changed, at("a changed byte", i));
    }
    changed = whole;
    for (const std::size_t count : {std::size_t{4}, std::size_t{8}})  // sizes and offsets
      for (const char value : {'\xff', '\x7f'}) {
        changed = whole;
        for (std::size_t j = i; j < std::min(i + count, size); ++j) changed[j] = value;
        f(changed, at("a changed number", i));
      }
    f(whole.substr(0, i) + whole.substr(std::min(i + 3, size)), at("missing bytes", i));
    f(whole.substr(0, i) + "-9223372036854775808" + whole.substr(i), at("a number", i));
  }
  tw::Random random(1);
  for (int round = 0; round < 300; ++round) {
    std::string changed = whole;
    for (int flips = 0; flips < 8 && size > 0; ++flips) {
      const auto place = static_cast<std::size_t>(random.uniform() * static_cast<double>(size));
      changed[place] = static_cast<char>(changed[place] ^ (1 << static_cast<int>(random.uniform() * 8)));
    }
    f(changed, "flipped bits, round " + std::to_string(round));
  }
  f(whole + whole, "twice");
  f(whole + std::string(1000, '\0'), "zeros at its end");
  f(std::string(200'000, '['), "brackets");
  f(std::string(200'000, '{'), "braces");
  f(whole + std::string(200'000, '['), "brackets at its end");
}

/// What is wrong with how a reader takes damaged forms of a file: use(content) throws Error, or nothing.
template <class Error>
std::string problems(const std::string& whole, const std::function<void(const std::string&)>& use) {
  return in_child(
      [&](Report& report) {
        int found = 0;
        for_each_damage(whole, [&](const std::string& content, const std::string& what) {
          std::snprintf(report.at, sizeof report.at, "%s", what.c_str());
          try {
            use(content);
          } catch (const Error& error) {
            if (error.what()[0] == '\0') report.add(what + ": an error without a text");
          } catch (const std::exception& error) {
            if (++found < 10) report.add(what + ": another exception: " + error.what());
          }
        });
      },
      rlim_t{3} << 30, 120);
}
std::vector<std::byte> bytes_of(const std::string& content) {
  const auto bytes = std::as_bytes(std::span(content));
  return {bytes.begin(), bytes.end()};
}
std::string text_of(const std::vector<std::byte>& bytes) { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }

const std::array<float, 6> numbers{1, 2, 3, 4, 5, 6};
const std::array<std::uint8_t, 4> codes{1, 0, 1, 1};
std::vector<tw::HostTensor> tensors() {
  return {{"fc1.weight", {{2, 3}, tw::float32}, std::as_bytes(std::span(numbers))},
          {"mask", {{4}, tw::boolean}, std::as_bytes(std::span(codes))},
          {"small", {{2, 2}, tw::float8_143}, std::as_bytes(std::span(codes)), 3}};
}
const fs::path reference = TILEWRIGHT_REFERENCE_DIR;

/// Writes a .npz file of one deflated array of float32, all zeros.
void write_zeros(const fs::path& path, std::uint64_t count) {
  struct Entry {
    std::string header;
    std::uint64_t size = 0, at = 0;
  };
  std::string fields = "{'descr': '<f4', 'fortran_order': False, 'shape': (" + std::to_string(count) + ",), }";
  fields.resize(117, ' ');
  Entry entry{std::string("\x93NUMPY\x01\0\x76\0", 10) + fields + '\n'};
  entry.size = entry.header.size() + 4 * count;
  const auto read = [](void* state, void* data, zip_uint64_t size, zip_source_cmd_t command) -> zip_int64_t {
    auto& [header, whole, at] = *static_cast<Entry*>(state);
    if (command == ZIP_SOURCE_OPEN) at = 0;
    if (command == ZIP_SOURCE_SUPPORTS)
      return zip_source_make_command_bitmap(ZIP_SOURCE_OPEN, ZIP_SOURCE_READ, ZIP_SOURCE_CLOSE, ZIP_SOURCE_STAT, ZIP_SOURCE_ERROR,
                                            ZIP_SOURCE_FREE, -1);
    if (command == ZIP_SOURCE_STAT) {
      auto* const stat = static_cast<zip_stat_t*>(data);
      zip_stat_init(stat);
      stat->size = whole, stat->valid = ZIP_STAT_SIZE;
      return sizeof *stat;
    }
    if (command != ZIP_SOURCE_READ) return 0;
    size = std::min(size, whole - at);
    for (std::uint64_t i = 0; i < size; ++i) static_cast<char*>(data)[i] = at + i < header.size() ? header[at + i] : '\0';
    at += size;
    return static_cast<zip_int64_t>(size);
  };
  zip_t* const archive = zip_open(path.c_str(), ZIP_CREATE, nullptr);
  REQUIRE(zip_file_add(archive, "zeros.npy", zip_source_function(archive, read, &entry), 0) == 0);
  REQUIRE(zip_set_file_compression(archive, 0, ZIP_CM_DEFLATE, 1) == 0);
  REQUIRE(zip_close(archive) == 0);
}

std::string idx_of_images() {
  std::string content("\0\0\x08\x03\0\0\0\x02\0\0\0\x03\0\0\0\x02", 16);
  for (char i = 0; i < 12; ++i) content += i;
  return content;
}
}  // namespace

TEST_CASE("damaged .npz files are LoadErrors") {
  const std::string stored = text_of(tw::detail::NpzWriter(tensors()).bytes());
  const auto parse = [](const std::string& content) { (void)tw::parse_npz(bytes_of(content), "damaged.npz"); };
  CHECK(problems<tw::LoadError>(stored, parse) == "");
  int deflated = 0;
  for (const auto& entry : fs::directory_iterator(reference / "state"))
    if (entry.path().extension() == ".npz" && entry.file_size() < 4000 && ++deflated <= 3)
      CHECK(problems<tw::LoadError>(read(entry.path()), parse) == "");
}
TEST_CASE("a deflated array of more than 4 GiB loads") {
  if (is_sanitized || sysconf(_SC_AVPHYS_PAGES) < (std::int64_t{6} << 30) / sysconf(_SC_PAGESIZE)) {
    std::puts("skipped: an array of more than 4 GiB, for which 6 GiB of memory are free");
    return;
  }
  const TemporaryFolder folder;
  constexpr std::uint64_t count = (std::uint64_t{1} << 30) + 16;
  write_zeros(folder.path / "large.npz", count);
  const auto file = tw::load_npz(folder.path / "large.npz");
  REQUIRE(file.tensors().size() == 1);
  CHECK(file.tensors()[0].bytes.size() == 4 * count);
}
TEST_CASE("damaged .safetensors files are LoadErrors") {
  std::string content;
  tw::Metadata metadata;
  metadata.set("step", 12);
  const tw::detail::SafetensorsParts file("test", tensors(), metadata);
  for (const auto& part : file.parts) content.append(reinterpret_cast<const char*>(part.data()), part.size());
  CHECK(problems<tw::LoadError>(content, [](const std::string& changed) {
          (void)tw::parse_safetensors(bytes_of(changed), "damaged.safetensors");
        }) == "");
}
TEST_CASE("damaged checkpoints are LoadErrors") {
  const TemporaryFolder folder;
  const tw::Checkpoints checkpoints(folder.path);
  checkpoints.save(3, tensors());
  CHECK(problems<tw::LoadError>(read(checkpoints.path_of(3)),
                                [&](const std::string& changed) { (void)checkpoints.read(3, bytes_of(changed)); }) == "");
}
TEST_CASE("damaged IDX files are DataErrors") {
  const TemporaryFolder folder;
  const fs::path path = folder.path / "images";
  const auto read_it = [&](const std::string& changed) {
    write(path, changed);
    (void)data::read_idx<3>(path);
  };
  CHECK(problems<data::DataError>(idx_of_images(), read_it) == "");
  write_gz(path, idx_of_images());
  CHECK(problems<data::DataError>(read(path), read_it) == "");
}
TEST_CASE("damaged texts are DataErrors") {
  const TemporaryFolder folder;
  const fs::path path = folder.path / "text.gz";
  write_gz(path, "A text that is deflated.\nIt has two lines.\n");
  CHECK(problems<data::DataError>(read(path), [&](const std::string& changed) {
          write(path, changed);
          (void)data::load_text(path);
        }) == "");
  CHECK(problems<data::DataError>(data::CharacterVocabulary("some characters").hex(),
                                  [](const std::string& changed) { (void)data::CharacterVocabulary::from_hex(changed); }) == "");
}
TEST_CASE("damaged vocabularies and merges of tokenizers are DataErrors") {
  const TemporaryFolder folder;
  const fs::path changed_file = folder.path / "changed";
  const fs::path vocabulary = reference / "gpt2" / "vocab.json", merges = reference / "gpt2" / "merges.txt";
  CHECK(problems<data::DataError>(read(vocabulary), [&](const std::string& changed) {
          write(changed_file, changed);
          (void)gpt2::Tokenizer(changed_file, merges);
        }) == "");
  CHECK(problems<data::DataError>(read(merges), [&](const std::string& changed) {
          write(changed_file, changed);
          (void)gpt2::Tokenizer(vocabulary, changed_file);
        }) == "");
}

TEST_CASE("files that are far larger than memory are errors") {  // sparse ones, and deflated zeros
  const TemporaryFolder folder;
  const fs::path path = folder.path / "large";
  const auto sparse = [&](std::uint64_t size) {
    write(path, "");
    fs::resize_file(path, size);
  };
  const auto ends_as = [&]<class Error>(std::type_identity<Error>, const auto& use) {
    return in_child(
        [&](Report& report) {
          try {
            use();
            report.add("no error");
          } catch (const Error&) {
          } catch (const std::exception& error) {
            report.add(std::string("another exception: ") + error.what());
          }
        },
        rlim_t{1} << 30, 60);
  };
  constexpr std::type_identity<tw::LoadError> load_error;
  constexpr std::type_identity<data::DataError> data_error;
  sparse(std::uint64_t{1} << 40);
  CHECK(ends_as(load_error, [&] { (void)tw::load_npz(path); }) == "");
  CHECK(ends_as(load_error, [&] { (void)tw::load_safetensors(path); }) == "");
  CHECK(ends_as(data_error, [&] { (void)data::load_text(path); }) == "");
  CHECK(ends_as(data_error, [&] { (void)data::read_idx<3>(path); }) == "");
  CHECK(ends_as(data_error, [&] { (void)gpt2::Tokenizer(path, path); }) == "");
  write_gz(path, std::string(100 << 20, '\0'));
  for (int copies = 0; copies < 4; ++copies) write(path, read(path) + read(path));  // members of gzip data: 1.6 GB
  CHECK(ends_as(data_error, [&] { (void)data::load_text(path); }) == "");
  write_gz(path, std::string("\0\0\x08\x03\x7f\xff\xff\xff\0\0\0\x01\0\0\0\x01", 16) + std::string(1000, '\0'));
  CHECK(ends_as(data_error, [&] { (void)data::read_idx<3>(path); }) == "");
}

TEST_CASE("paths that cannot be used are documented errors") {
  const TemporaryFolder folder;
  const fs::path long_name = folder.path / std::string(300, 'n'), loop = folder.path / "loop", closed = folder.path / "closed";
  std::error_code error;
  fs::create_symlink(loop, loop, error);
  fs::create_directory(closed);
  write(closed / "file", "x");
  fs::permissions(closed, fs::perms::none);
  for (const fs::path& path : {long_name, loop, closed / "file", folder.path, folder.path / "none"}) {
    CAPTURE(path.string());
    if (path == closed / "file" && std::ifstream(path)) continue;  // of a user whom permissions do not bind
    CHECK_THROWS_AS(tw::load_npz(path), tw::LoadError);
    CHECK_THROWS_AS(tw::load_safetensors(path), tw::LoadError);
    CHECK_THROWS_AS(data::load_text(path), data::DataError);
    CHECK_THROWS_AS(data::read_idx<3>(path), data::DataError);
    CHECK_THROWS_AS(data::load_mnist(path), data::DataError);
    CHECK_THROWS_AS(gpt2::Tokenizer(path, path), data::DataError);
  }
  for (const fs::path& path : {long_name, loop, closed / "folder"}) {
    CAPTURE(path.string());
    if (path == closed / "folder" && std::ifstream(closed / "file")) continue;
    CHECK_THROWS_AS(tw::Checkpoints(path).steps(), tw::LoadError);
    CHECK_THROWS_AS(tw::Checkpoints(path).newest(), tw::LoadError);
    CHECK_THROWS_AS(tw::Checkpoints(path).load(1), tw::LoadError);
    CHECK_THROWS_AS(tw::Checkpoints(path).save(1, tensors()), fs::filesystem_error);
    CHECK_THROWS_AS(tw::save_npz(path / "x.npz", tensors()), fs::filesystem_error);
    CHECK_THROWS_AS(tw::save_safetensors(path / "x.safetensors", tensors()), fs::filesystem_error);
  }
  fs::permissions(closed, fs::perms::owner_all);
}
TEST_CASE("shapes of more axes than tensors have are errors") {
  tw::Ir ir;
  CHECK_THROWS_WITH(ir.variable(tw::zeros(), {1, 1, 1, 1, 1, 2, 3}, tw::float32, "v"),
                    "Shape: (1, 1, 1, 1, 1, 2) and an axis of 3: at most 6 axes expected");
}
