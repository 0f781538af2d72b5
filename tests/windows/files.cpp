// Files and checkpoints on Windows, which has neither locks nor permissions as tests/run expects them. No .npz: that needs
// libzip.
#include <zlib.h>

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "catch.hpp"
#include "tilewright/checkpoint/checkpoints.hpp"
#include "tilewright/checkpoint/write_durably.hpp"
#include "tilewright/data/file_reader.hpp"
#include "tilewright/tilewright.hpp"

namespace {

namespace fs = std::filesystem;
namespace tw = tilewright;
using Strings = std::vector<std::string>;

/// A new folder, whose name has letters that no code page of Windows has all of; it goes when the test ends.
struct TemporaryFolder {
  fs::path path = fs::temp_directory_path() / (u8"größe-ж-" + fs::path(std::to_string(std::random_device{}())).u8string());
  TemporaryFolder() { fs::create_directories(path); }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder() {
    std::error_code ignored;
    fs::remove_all(path, ignored);
  }
};

Strings names_in(const fs::path& folder) {
  Strings names;
  for (const auto& entry : fs::directory_iterator(folder)) names.push_back(entry.path().filename().string());
  std::ranges::sort(names);
  return names;
}
std::string content(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}
void write(const fs::path& path, std::string_view first, std::string_view second = {}) {
  const std::span<const std::byte> parts[] = {std::as_bytes(std::span(first)), std::as_bytes(std::span(second))};
  tw::write_durably(path, parts);
}

/// Adds to its variables.
constexpr void counts(tw::Ir& ir) {
  const tw::Tensor weight = ir.variable(tw::values({1, 2, 3, 4, 5, 6}), {2, 3}, tw::float32, "fc1.weight");
  const tw::Tensor steps = ir.variable(tw::zeros(), {}, tw::float16, "steps");
  tw::ops::accumulate_(weight, weight, 0.75f);
  tw::ops::accumulate_(steps, ir.constant(1, tw::float16));
}
using Session = tw::Session<counts>;

std::vector<std::vector<std::byte>> values(const Session& session) {
  std::vector<std::vector<std::byte>> result;
  for (const auto& tensor : session.host_tensors()) result.emplace_back(tensor.bytes.begin(), tensor.bytes.end());
  return result;
}

}  // namespace

TEST_CASE("write_durably writes and replaces a file") {
  const TemporaryFolder folder;
  const fs::path path = folder.path / "file";
  const std::string lines("1\n2\r\n\x1a\0", 7);  // a text of Windows has other ends of lines, and ends at \x1a
  write(path, lines, "end");
  CHECK(content(path) == lines + "end");
  write(path, "short");
  CHECK(content(path) == "short");
  CHECK(names_in(folder.path) == Strings{"file"});
  CHECK_THROWS_AS(write(folder.path, lines), fs::filesystem_error);
  CHECK_THROWS_AS(write(folder.path / "none" / "file", lines), fs::filesystem_error);
  CHECK(names_in(folder.path) == Strings{"file"});
}

TEST_CASE("write_durably: a file that somebody reads stays as it is") {
  const TemporaryFolder folder;
  const fs::path path = folder.path / "file";
  write(path, "before");
  const auto read_only = [&] { return (fs::status(path).permissions() & fs::perms::owner_write) == fs::perms::none; };
  for (const bool protect : {false, true}) {
    const std::ifstream reader(path, std::ios::binary);
    if (protect) fs::permissions(path, fs::perms::owner_write, fs::perm_options::remove);
    CHECK(read_only() == protect);
    CHECK_THROWS_AS(write(path, "after"), fs::filesystem_error);
    CHECK(content(path) == "before");
    CHECK(names_in(folder.path) == Strings{"file"});
  }
  try {
    write(path, "after");  // Wine allows that, Windows does not
  } catch (const fs::filesystem_error&) {
  }
  CHECK(read_only());
  CHECK(names_in(folder.path) == Strings{"file"});
  fs::permissions(path, fs::perms::owner_write, fs::perm_options::add);
  write(path, "after");
  CHECK(!read_only());
  CHECK(content(path) == "after");
}

TEST_CASE("unfinished files stay, whoever left them") {
  const TemporaryFolder folder;
  const fs::path path = folder.path / "file";
  const std::string left = "file.0123456789abcdef.partial";
  std::ofstream(folder.path / left) << "half";
  write(path, "whole");
  CHECK(names_in(folder.path) == Strings{"file", left});
  CHECK(content(path) == "whole");
}

TEST_CASE("create_folder_durably makes folders, and says where there is no such drive") {
  const TemporaryFolder folder;
  const fs::path path = folder.path / u8"ж" / "b" / "c";
  tw::create_folder_durably(path);
  tw::create_folder_durably(path);
  CHECK(fs::is_directory(path));
  for (const std::string_view none : {"Q:\\", "Q:\\a\\b", "Q:a"})
    CHECK_THROWS_AS(tw::create_folder_durably(none), fs::filesystem_error);
}

TEST_CASE("Checkpoints: a session goes on where another one was") {
  const TemporaryFolder folder;
  const tw::Checkpoints checkpoints(folder.path / "run", {.keep = 2});
  CHECK(!checkpoints.newest());
  Session session;
  for (std::uint64_t step = 1; step <= 3; ++step) {
    session.run();
    tw::Metadata metadata;
    metadata.set("epoch", std::to_string(step));
    checkpoints.save(step, session.host_tensors(), metadata);
  }
  CHECK(names_in(folder.path / "run") == Strings{"step-000000000002.safetensors", "step-000000000003.safetensors"});
  const auto last = checkpoints.newest();
  REQUIRE(last);
  CHECK(last->step == 3);
  CHECK(last->file.metadata().get<std::string>("epoch") == "3");
  Session other;
  other.load_tensors(last->file);
  CHECK(values(other) == values(session));
  session.run();
  other.run();
  CHECK(values(other) == values(session));

  const fs::path torn = checkpoints.path_of(4);
  fs::copy_file(checkpoints.path_of(3), torn);
  fs::resize_file(torn, fs::file_size(torn) - 1);
  const auto before = checkpoints.newest();
  REQUIRE(before);
  CHECK((before->step == 3 && before->skipped.size() == 1));
}

TEST_CASE("FileReader: a file as it is and one that gzip packed") {
  const TemporaryFolder folder;
  const std::string text("a\r\nb\n\x1a c");
  const fs::path path = folder.path / u8"ж";
  write(path, text);
  const std::vector<std::uint8_t> expected(text.begin(), text.end());
  CHECK(tw::data::FileReader("test", path).read(100) == expected);

  std::string packed(100, '\0');
  z_stream stream{};
  REQUIRE(deflateInit2(&stream, 9, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) == Z_OK);
  std::string source = text;
  stream.next_in = reinterpret_cast<Bytef*>(source.data());
  stream.avail_in = static_cast<uInt>(source.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  REQUIRE(deflate(&stream, Z_FINISH) == Z_STREAM_END);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  write(path, packed);
  CHECK(tw::data::FileReader("test", path).read(100) == expected);
}
