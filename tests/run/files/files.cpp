// labels: asan standard-library ubsan
// Tensors to .npz and .safetensors files and back, and against files of other programs.
#include "files.hpp"

#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>

#include "../../support/temporary_folder.hpp"
#include "tilewright/data/loader_state.hpp"

TEST_CASE("load_npz: reads what NumPy writes") {
  check_tensors(tw::load_npz(state_folder / "good_small.npz"), small_tensors());
  auto of_numpy = every_dtype();
  const auto bfloat16 = of_numpy.back();
  of_numpy.pop_back();
  check_tensors(tw::load_npz(state_folder / "good_dtypes.npz"), of_numpy);
  check_tensors(tw::load_npz(state_folder / "good_bfloat16.npz"), {bfloat16});
  check_tensors(tw::load_npz(state_folder / "good_shapes.npz"),
                {{"scalar", {}, tw::float32}, {"empty", {0, 3}, tw::float32}, {"six", {1, 2, 1, 2, 1, 2}, tw::int32}});
  check_tensors(tw::load_npz(state_folder / "good_version2.npz"), {{"x", {3}, tw::float32}});
  check_tensors(tw::load_npz(state_folder / "good_empty.npz"), {});
  auto compressed = small_tensors();
  compressed.push_back({"zeros", {64, 64}, tw::float32});
  compressed.back().bytes.assign(64 * 64 * 4, std::byte{0});
  check_tensors(tw::load_npz(state_folder / "good_compressed.npz"), compressed);
}

TEST_CASE("load_safetensors: reads files by the format's description") {
  check_tensors(tw::load_safetensors(state_folder / "good_small.safetensors"), small_tensors());
  check_tensors(tw::load_safetensors(state_folder / "good_padded.safetensors"), small_tensors());
  check_tensors(tw::load_safetensors(state_folder / "good_dtypes.safetensors"), every_dtype());
  check_tensors(tw::load_safetensors(state_folder / "good_shapes.safetensors"),
                {{"empty", {0, 3}, tw::float32}, {"scalar", {}, tw::float32}, {"last", {0}, tw::uint8}});
  check_tensors(tw::load_safetensors(state_folder / "good_empty.safetensors"), {});

  const auto unordered = tw::load_safetensors(state_folder / "good_unordered.safetensors");
  CHECK(bytes_of(*unordered.find("a")) == Bytes{std::byte{0}, std::byte{1}, std::byte{2}});
  CHECK(bytes_of(*unordered.find("b")) == Bytes{std::byte{3}, std::byte{4}});

  const auto file = tw::load_safetensors(state_folder / "good_metadata.safetensors");
  check_tensors(file, small_tensors());
  CHECK(file.metadata().entries().size() == 2);
  CHECK(file.metadata<std::string>("format") == "pt");
  CHECK(file.metadata<std::string>("text") == "\u00e4 \"quoted\"\n");
  CHECK_THROWS_WITH(file.metadata<std::string>("author"), "metadata: " + file.path() + ": no 'author': a text expected");
  CHECK_THROWS_WITH(file.metadata<int>("format"), "metadata: " + file.path() + ": 'pt' for 'format': a number expected");
}

TEST_CASE("save: what was written is read again, and equal tensors give equal bytes") {
  const TemporaryFolder folder;
  auto tensors = every_dtype();
  tensors.push_back({"block.0.\u00e4 \"quoted\"/\\", {3, 0, 2}, tw::float16});
  tensors.push_back({"scalar", {}, tw::float64});
  tensors.push_back({"six", {1, 2, 3, 1, 2, 1}, tw::int8});
  for (const std::string suffix : {".npz", ".safetensors"}) {
    const auto path = folder.path / ("first" + suffix), other = folder.path / ("second" + suffix);
    save(path, views(tensors));
    check_tensors(load(path), tensors);
    save(other, load(path).tensors());
    check_tensors(load(other), tensors);
    save(other, views(tensors));
    CHECK(read_all(path) == read_all(other));
    save(path, {});
    check_tensors(load(path), {});
  }
  CHECK(std::distance(std::filesystem::directory_iterator(folder.path), {}) == 4);  // and nothing unfinished
}

TEST_CASE("save_safetensors: the bytes are those of the format's description, elements aligned") {
  const TemporaryFolder folder;
  const auto path = folder.path / "file.safetensors";
  const std::vector<Counting> tensors{{"b", {3}, tw::uint8}, {"a", {2}, tw::uint16}};
  tw::Metadata metadata;
  metadata.set("step", 7);
  tw::save_safetensors(path, views(tensors), metadata);
  const std::string header = R"({"__metadata__":{"step":"7"},"a":{"data_offsets":[0,4],"dtype":"U16","shape":[2]},)"
                             R"("b":{"data_offsets":[4,7],"dtype":"U8","shape":[3]}})";
  const std::string padding((8 - header.size() % 8) % 8, ' ');
  std::string expected(1, static_cast<char>(header.size() + padding.size()));
  expected += std::string(7, '\0') + header + padding + std::string("\0\0\1\0\0\1\2", 7);
  const Bytes written = read_all(path);
  CHECK(std::string(reinterpret_cast<const char*>(written.data()), written.size()) == expected);
}

TEST_CASE("Metadata: texts and numbers come back as they were") {
  const TemporaryFolder folder;
  tw::Metadata metadata;
  metadata.set("text", "line\n\"quoted\" \u00e4");
  metadata.set("largest", std::uint64_t{18'446'744'073'709'551'615u});
  metadata.set("negative", -5);
  metadata.set("tenth", 0.1);
  metadata.set("yes", true);
  tw::save_safetensors(folder.path / "file", {}, metadata);
  const auto read = tw::load_safetensors(folder.path / "file").metadata();
  CHECK(read == metadata);
  CHECK(read.get<std::uint64_t>("largest") == 18'446'744'073'709'551'615u);
  CHECK(read.get<int>("negative") == -5);
  CHECK(read.get<double>("tenth") == 0.1);
  CHECK(read.get<bool>("yes") == true);
  CHECK(!read.get<int>("largest"));
  CHECK(!read.get<unsigned>("negative"));
  CHECK(!read.get<bool>("text"));
  CHECK(!read.get<int>("none"));
}

TEST_CASE("Metadata: a struct is an entry for each member") {
  const TemporaryFolder folder;
  const tw::data::LoaderState state{18'446'744'073'709'551'615u, 1, 2, 3, 4, true};
  tw::Metadata metadata;
  metadata.set("loader", state);
  CHECK(metadata.get<std::string>("loader.seed") == "18446744073709551615");
  CHECK(metadata.get<bool>("loader.shuffle") == true);
  CHECK(metadata.entries().size() == 6);
  metadata.set("broken", state);
  metadata.set("broken.epoch", "two");
  const auto path = folder.path / "file";
  tw::save_safetensors(path, {}, metadata);
  const auto file = tw::load_safetensors(path);
  CHECK(file.metadata<tw::data::LoaderState>("loader") == state);
  CHECK_THROWS_WITH(file.metadata<tw::data::LoaderState>("other"),
                    "metadata: " + path.string() + ": no 'other.seed': a number expected");
  CHECK_THROWS_WITH(file.metadata<tw::data::LoaderState>("broken"),
                    "metadata: " + path.string() + ": 'two' for 'broken.epoch': a number expected");
}

TEST_CASE("save_npz: NumPy reads what we write") {
  const auto has_numpy = [](const std::string& python) {
    return std::system((python + " -c 'import numpy' > /dev/null 2>&1").c_str()) == 0;
  };
  const std::string python = has_numpy("python3") ? "python3" : "/usr/bin/python3";  // Debian's, where another is in its way
  if (!has_numpy(python)) {
    WARN("skipped: python3 has no NumPy");
    return;
  }
  const TemporaryFolder folder;
  auto tensors = every_dtype();
  tensors.push_back({"fc1.weight", {2, 3}, tw::float32});
  tensors.push_back({"scalar", {}, tw::float32});
  tensors.push_back({"vector", {4}, tw::int32});
  tensors.push_back({"empty", {0, 3}, tw::float16});
  save(folder.path / "file.npz", views(tensors));

  std::ofstream script(folder.path / "check.py");
  script << "import sys, zipfile, numpy as np\n"
            "assert zipfile.ZipFile(sys.argv[1]).testzip() is None\n"
            "file = np.load(sys.argv[1])\n"
            "def check(name, dtype, shape):\n"
            "  a = file[name]\n"
            "  count = np.arange(int(np.prod(shape)))\n"
            "  if dtype == 'bfloat16':\n"  // which NumPy does not have: the first halves of floats
            "    a, dtype, count = a.view('<u2'), 'uint16', count.astype('float32').view('uint32') >> 16\n"
            "  expected = (count % 2 if dtype == 'bool' else count).astype(dtype).reshape(shape)\n"
            "  assert a.dtype == expected.dtype and a.shape == shape and (a == expected).all(), name\n";
  for (const Counting& tensor : tensors)
    script << "check('" << tensor.name << "', '" << to_text(tensor.spec.dtype) << "', " << to_text(tensor.spec.shape) << ")\n";
  script << "assert len(file.files) == " << tensors.size() << '\n';
  script.close();
  const std::string check = python + " '" + (folder.path / "check.py").string() + "' '" + (folder.path / "file.npz").string() +
                            "'";
  CHECK(std::system(check.c_str()) == 0);
}

TEST_CASE("save: tensors that cannot be saved leave the file as it was") {
  const TemporaryFolder folder;
  const Counting good("x", {3}, tw::float32);
  tw::HostTensor short_one = good;
  short_one.bytes = short_one.bytes.first(11);
  const std::vector<tw::HostTensor> cut{short_one}, twice{good, good};
  tw::HostTensor renamed = good;
  renamed.name = "\xff";
  for (const std::string suffix : {".npz", ".safetensors"}) {
    const auto path = folder.path / ("file" + suffix);
    const std::string function = "save_" + suffix.substr(1);
    save(path, views({good}));
    CHECK_THROWS_WITH(save(path, cut), function + ": 'x' has 11 bytes: 12 for (3,) float32 expected");
    CHECK_THROWS_WITH(save(path, twice), function + ": 'x' twice: each name once expected");
    CHECK_THROWS_AS(save(path, std::vector{renamed}), std::exception);
    CHECK_THROWS_AS(save(folder.path / "none" / ("file" + suffix), views({good})), std::filesystem::filesystem_error);
    check_tensors(load(path), {good});
  }
  constexpr std::int64_t huge = std::int64_t{1} << 32;
  const std::vector<tw::HostTensor> negative{{"x", {{-1, -3}, tw::float32}, good.bytes}},
      overflowing{{"x", {{huge, huge}, tw::float32}, {}}};  // the product is 0 in 64 bits
  for (const std::string function : {"save_npz", "save_safetensors"}) {
    const auto path = folder.path / ("file." + function.substr(5));
    CHECK_THROWS_WITH(save(path, negative), function + ": 'x' has a shape of (-1, -3): extents of 0 or more expected");
    CHECK_THROWS_WITH(save(path, overflowing),
                      function + ": 'x' has a shape of 2^63 bytes or more: a shape that fits in memory expected");
    check_tensors(load(path), {good});
  }
  renamed.name = "__metadata__";
  CHECK_THROWS_WITH(save(folder.path / "x.safetensors", std::vector{renamed}),
                    "save_safetensors: a tensor called '__metadata__': another name expected");
  CHECK(std::distance(std::filesystem::directory_iterator(folder.path), {}) == 2);
}

TEST_CASE("save: what is no regular file is neither replaced nor written to") {
  const TemporaryFolder folder;
  const auto victim = folder.path / "victim", link = folder.path / "link", pipe = folder.path / "pipe";
  write_all(victim, Bytes(3));
  std::filesystem::create_symlink(victim, link);
  std::filesystem::create_directory(folder.path / "folder");
  REQUIRE(mkfifo(pipe.c_str(), 0600) == 0);
  const std::vector<Counting> tensors{{"x", {3}, tw::float32}};
  for (const auto& path : {link, pipe, folder.path / "folder"}) {
    const auto before = std::filesystem::symlink_status(path).type();
    std::string error;
    try {
      tw::save_safetensors(path, views(tensors));
    } catch (const std::filesystem::filesystem_error& problem) {
      error = problem.what();
    }
    CHECK(error.find("cannot replace what is no regular file") != error.npos);
    CHECK(error.find(path.string()) != error.npos);
    CHECK(std::filesystem::symlink_status(path).type() == before);
  }
  CHECK(read_all(victim) == Bytes(3));
  CHECK(std::distance(std::filesystem::directory_iterator(folder.path), {}) == 4);
}

TEST_CASE("save: a link where an unfinished file could be is not followed") {
  const TemporaryFolder folder;
  const auto victim = folder.path / "victim", path = folder.path / "file.safetensors",
             link = folder.path / "file.safetensors.partial";
  write_all(victim, Bytes(3));
  std::filesystem::create_symlink(victim, link);
  const std::vector<Counting> tensors{{"x", {3}, tw::float32}};
  save(path, views(tensors));
  check_tensors(load(path), tensors);
  CHECK(read_all(victim) == Bytes(3));
  CHECK(std::filesystem::is_symlink(link));
}

TEST_CASE("save: a file that is replaced passes on its permissions, and a new one has the usual ones") {
  const TemporaryFolder folder;
  const std::vector<Counting> tensors{{"x", {3}, tw::float32}};
  const auto mode_of = [](const std::filesystem::path& path) {
    return static_cast<unsigned>(std::filesystem::status(path).permissions());
  };
  const mode_t mask = umask(027);
  for (const std::string suffix : {".npz", ".safetensors"}) {
    const auto path = folder.path / ("file" + suffix);
    save(path, views(tensors));
    CHECK(mode_of(path) == 0640);
    for (const unsigned mode : {0600u, 0666u, 0400u, 0755u}) {
      std::filesystem::permissions(path, static_cast<std::filesystem::perms>(mode));
      save(path, views(tensors));
      CHECK(mode_of(path) == mode);
    }
  }
  umask(mask);
}

TEST_CASE("save: unfinished files of processes that are gone are removed, and no others") {
  if (!tw::internal::removes_abandoned_files) {
    WARN("skipped: files have no locks here");
    return;
  }
  const TemporaryFolder folder;
  constexpr auto owner_only = std::filesystem::perms::owner_read | std::filesystem::perms::owner_write;
  const auto path = folder.path / "file.safetensors", other = folder.path / "other.safetensors";
  const std::vector<Counting> tensors{{"x", {3}, tw::float32}};
  const auto partial_files = [&] {
    std::vector<std::string> targets;
    for (const auto& entry : std::filesystem::directory_iterator(folder.path)) {
      const std::string name = entry.path().filename().string();
      if (const auto target = tw::detail::PartialFile::target_of(name)) targets.emplace_back(*target);
    }
    std::ranges::sort(targets);
    return targets;
  };
  for (const auto& target : {path, other}) {  // a process that is killed while it writes
    const pid_t child = fork();
    if (child == 0) {
      tw::detail::PartialFile file(target, owner_only);
      file.write(Bytes(3));
      kill(getpid(), SIGKILL);
    }
    int status = 0;
    REQUIRE(waitpid(child, &status, 0) == child);
    REQUIRE(WIFSIGNALED(status));
  }
  std::ofstream(folder.path / "file.safetensors.0123456789abcdeg.partial");  // somebody else's
  CHECK(partial_files() == std::vector<std::string>{"file.safetensors", "other.safetensors"});
  {
    tw::detail::PartialFile living(path, owner_only);
    const pid_t child = fork();
    if (child == 0) {
      living.~PartialFile();  // leaves the file to the parent
      _exit(0);
    }
    REQUIRE(waitpid(child, nullptr, 0) == child);
    save(path, views(tensors));
    CHECK(partial_files() == std::vector<std::string>{"file.safetensors", "other.safetensors"});
    const Bytes bytes = read_all(path);
    living.write(bytes);
    living.publish();
  }
  check_tensors(load(path), tensors);
  CHECK(partial_files() == std::vector<std::string>{"other.safetensors"});
  save(other, views(tensors));
  CHECK(partial_files().empty());
  CHECK(std::filesystem::exists(folder.path / "file.safetensors.0123456789abcdeg.partial"));
}

TEST_CASE("save: a disk that is full leaves the file as it was, and nothing unfinished") {
  const TemporaryFolder folder;
  const auto path = folder.path / "file.safetensors";
  const Counting small("x", {3}, tw::float32), large("x", {100'000}, tw::float32);
  save(path, views({small}));

  rlimit before{};
  REQUIRE(getrlimit(RLIMIT_FSIZE, &before) == 0);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);  // then writing beyond the limit is an error
  rlimit limit = before;
  limit.rlim_cur = 4096;
  REQUIRE(setrlimit(RLIMIT_FSIZE, &limit) == 0);
  std::string error;
  try {
    save(path, views({large}));
  } catch (const std::filesystem::filesystem_error& problem) {
    error = problem.what();
  }
  setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);

  CHECK(error.find("cannot write") != error.npos);
  CHECK(error.find(path.string()) != error.npos);
  check_tensors(load(path), {small});
  CHECK(std::distance(std::filesystem::directory_iterator(folder.path), {}) == 1);
}
