// labels: alone strict
// Arrays in files, and arrays of the host, as rows and variables of a session; compiled in libstdc++'s debug mode.
#define _GLIBCXX_DEBUG
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <iterator>
#include <string>

#include "../../support/elements.hpp"
#include "../../support/npy_files.hpp"
#include "../../support/temporary_folder.hpp"
#include "tilewright/checkpoint/mapped_npy.hpp"
#include "tilewright/checkpoint/memmap_dir.hpp"
#include "tilewright/session/weights_dict.hpp"

namespace {

using support::element, support::npy, support::write_file, tw::MapMode, tw::Tensor;
namespace ops = tw::ops;

// ---- a file that is larger than the memory

constexpr std::int64_t rows = 4096, loaded_rows = 60, distance = 67;
/// Adds up the rows 0, 67, 134, ... of 64 GiB.
constexpr void lookup(tw::Ir& ir) {
  const tw::RemoteBuffer table = tw::mapped_buffer(ir, "table", {4096, 1024}, tw::float32, rows);
  const auto next = [&](Tensor sum, Tensor row) {
    return std::array{sum + ops::sum(ops::remote_load(table, row)), row + ir.constant(distance, tw::uint32)};
  };
  const tw::Graph graph = ir.create_graph(next, tw::TensorSpec{{}, tw::float32}, tw::TensorSpec{{}, tw::uint32});
  store("sum", tw::repeat(graph, loaded_rows, {ir.constant(0, tw::float32), ir.constant(0, tw::uint32)})[0]);
}

/// Returns the bytes of this process that are in memory, with pages of files.
std::int64_t resident_bytes() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;)
    if (std::int64_t kib = 0; word == "VmRSS:" && status >> kib) return kib * 1024;
  return 0;
}

// ---- small ones

double first_code = 0;  // that computed_by's function below adds
/// Rows of 20 bytes, which are no multiple of a cache line.
constexpr void small(tw::Ir& ir) {
  const tw::RemoteBuffer table = tw::mapped_buffer(ir, "table", {5}, tw::float32, 3);
  const tw::RemoteBuffer other = tw::mapped_buffer(ir, "other", {2, 2}, tw::int16, 1);
  ir.variable(tw::drawn_by([](tw::Random& random) { return random.uniform() < 0.5 ? 1 : 0; }), {64}, tw::boolean, "coin");
  ir.variable(tw::computed_by([](std::int64_t row, std::int64_t column) { return static_cast<double>(10 * row + column); }),
              {2, 2, 3}, tw::float32, "place");
  ir.variable(tw::computed_by([](std::int64_t i) { return first_code + static_cast<double>(i); }), {3}, tw::int8, "code");
  const tw::VariableFactory pair(ir, tw::in_turn(tw::values({1, 2, 3, 4})), {{2}, tw::int32});
  pair.create_tensor("pair.0");
  pair.create_tensor("pair.1");
  const Tensor weight = ir.variable(tw::given(), {5}, tw::float32, "weight");
  const Tensor noise = ir.variable(tw::normal(0, 1), {5}, tw::float32, "noise");
  const Tensor state = ir.variable(tw::normal(0, 1), {5}, tw::float32, "state");
  const Tensor y = ops::remote_load(table, support::load(ir, "row", {}, tw::uint32)) + weight;
  ops::remote_store(table, 2, y);
  ops::add_(state, y);
  store("y", y);
  store("noise", ops::sum(noise));
  store("evens", ir.constant(tw::computed_by([](std::int64_t i) { return static_cast<double>(2 * i); }), {3}, tw::int32));
  store("other", ops::remote_load(other, 0));
}

const std::string table_file = npy("<f4", "(3, 5)", Floats{0, 1, 2, 3, 4, 10, 11, 12, 13, 14, 20, 21, 22, 23, 24});
const float weight[] = {100, 200, 300, 400, 500};

struct Files : TemporaryFolder {
  std::filesystem::path table = path / "table.npy", other = path / "other.npy", state = path / "state.npy";
  Files() {
    write_file(table, table_file);
    write_file(other, npy("<i2", "(1, 2, 2)", std::vector<std::int16_t>{1, -2, 3, -4}));
    write_file(state, npy("<f4", "(5,)", Floats{1, 2, 3, 4, 5}));
  }
  std::vector<tw::GivenArray> arrays(MapMode mode) const {
    return {{"weight", weight}, {"table", tw::map_npy(table, mode)}, {"other", tw::map_npy(other)}};
  }
  std::vector<tw::GivenArray> with(const tw::GivenArray& array) const {
    auto result = arrays(MapMode::copy_on_write);
    result.push_back(array);
    return result;
  }
};
using Small = tw::Session<small>;

std::string error_of(std::vector<tw::GivenArray> arrays) {
  try {
    Small session({.arrays = std::move(arrays)});
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "none";
}

}  // namespace

TEST_CASE("mapped arrays: 1 GB of the rows of a file of 64 GB needs at most 1.2 GB of memory") {
  if (support::asked_strict_mode() || resident_bytes() == 0) return;  // once is enough; some systems have no /proc
  const TemporaryFolder folder;
  const auto path = folder.path / "table.npy";
  {
    write_file(path, npy("<f4", "(4096, 4096, 1024)", Floats{}));
    std::filesystem::resize_file(path, (std::uintmax_t{1} << 36) + 128);  // with holes: create_npy would take the room
    const auto table = tw::map_npy(path, MapMode::shared);
    const auto elements = table.writable_elements<float>();
    for (std::int64_t i = 0; i < rows; ++i)
      elements[static_cast<std::size_t>(i * 4096 * 1024 + i)] = i % distance == 0 ? 1.f : 1e6f;
  }
  const std::int64_t before = resident_bytes();
  tw::Session<lookup> session({.threads = 1, .arrays = {{"table", tw::map_npy(path)}}});
  CHECK(session.run()["sum"_s]() == loaded_rows);
  const std::int64_t grown = resident_bytes() - before;
  INFO(grown << " bytes");
  CHECK(grown > loaded_rows << 24);  // the run reads the file's pages in place
  CHECK(grown < 1'200'000'000);
}

TEST_CASE("mapped arrays: a program's stores change a shared file, and not one that is copied on write") {
  const Files files;
  for (const MapMode mode : {MapMode::copy_on_write, MapMode::shared}) {
    const auto check = [&](auto& session) {
      const auto outputs = session.run("row"_s = 1u);
      CHECK(elements(outputs["y"_s]) == Floats{110, 211, 312, 413, 514});
      CHECK(elements(outputs["other"_s]) == std::vector<std::int16_t>{1, -2, 3, -4});
      CHECK(elements(session.run("row"_s = 2u)["y"_s]) == Floats{210, 411, 612, 813, 1014});
      CHECK_THROWS_AS(session.run("row"_s = 3u), tw::FaultError);
    };
    Small session({.arrays = files.arrays(mode)});
    check(session);
    const auto file = tw::map_npy(files.table);
    const auto now = file.elements<float>();
    const Floats last(now.begin() + 10, now.end());
    if (mode == MapMode::copy_on_write) CHECK(last == Floats{20, 21, 22, 23, 24});
    else CHECK(last == Floats{100, 200, 300, 400, 500});  // the load that faulted gave zeros
    CHECK(now[9] == 14);
  }
  write_file(files.table, table_file);
  TestSession<small, tw::ipu_model> session({.arrays = files.arrays(MapMode::shared)});
  CHECK(elements(session.run("row"_s = 0u)["y"_s]) == Floats{100, 201, 302, 403, 504});
  CHECK(element<float>(files.table, 14) == 504);
}

TEST_CASE("given arrays: a variable begins with the array, and others with what they have without it") {
  const Files files;
  Small plain({.arrays = files.arrays(MapMode::copy_on_write)});
  const float ones[] = {1, 1, 1, 1, 1};
  Small session({.arrays = files.with({"noise", ones})});
  CHECK(elements(session.get_tensor_data("noise"_s)) == Floats{1, 1, 1, 1, 1});
  CHECK(session.run("row"_s = 0u)["noise"_s]() == 5);
  CHECK(elements(session.get_tensor_data("weight"_s)) == Floats(weight, weight + 5));
  CHECK(plain.get_tensor_data("state"_s)(0) != 0);
  Small detached({.attach = false, .arrays = files.with({"noise", std::vector<float>{2, 2, 2, 2, 2}})});
  CHECK(elements(detached.get_tensor_data("state"_s)) == elements(plain.get_tensor_data("state"_s)));
  detached.attach();
  CHECK(detached.run("row"_s = 0u)["noise"_s]() == 10);
}

TEST_CASE("given arrays: a file is the host copy of a variable") {
  const Files files;
  const auto in_file = [&] { return element<float>(files.state, 4); };
  {
    Small session({.attach = false, .arrays = files.with({"state", tw::map_npy(files.state, MapMode::shared)})});
    {
      const auto context = session.context();
      session.run("row"_s = 0u);
      CHECK(in_file() == 5);
    }
    CHECK(in_file() == 5 + 504);  // copied when the context ended
    session.write_variable_data("state"_s, Floats{0, 0, 0, 0, 8});
    CHECK(in_file() == 8);
  }
  {
    Small session({.arrays = files.with({"state", tw::map_npy(files.state, MapMode::copy_on_write)})});
    session.run("row"_s = 0u);
    CHECK(session.get_tensor_data("state"_s)(4) == 8 + 504);
    CHECK(in_file() == 8);
  }
  const std::string refused = ": 'state' of " + files.state.string() +
                              " is mapped read-only: MapMode::copy_on_write or MapMode::shared expected";
  Small session({.arrays = files.with({"state", tw::map_npy(files.state)})});
  CHECK(session.get_tensor_data("state"_s)(4) == 8);
  CHECK_THROWS_WITH(session.write_variable_data("state"_s, Floats{0, 0, 0, 0, 8}), "write_variable_data" + refused);
  session.run("row"_s = 0u);
  CHECK_THROWS_WITH(session.weights_to_host(), "weights_to_host" + refused);
  CHECK(in_file() == 8);

  Small fixed({.arrays = files.with({"noise", tw::map_npy(files.state)})});
  fixed.run("row"_s = 0u);  // changes no read-only variable
  CHECK(fixed.get_tensor_data("noise"_s)(4) == 8);
}

TEST_CASE("given arrays: those that do not fit are refused before anything runs") {
  const Files files;
  const auto without = [&](std::size_t i) {
    auto arrays = files.arrays(MapMode::copy_on_write);
    arrays.erase(arrays.begin() + static_cast<std::ptrdiff_t>(i));
    return arrays;
  };
  const std::string start = "SessionOptions::arrays: ";
  CHECK(error_of(without(0)) == start + "none for variable 'weight': (5,) float32 expected");
  CHECK(error_of(without(1)) == start + "none for mapped buffer 'table': (3, 5) float32 expected");
  CHECK(error_of(files.arrays(MapMode::read_only)) ==
        start + "'table' of " + files.table.string() +
            " is mapped read-only, and the program stores rows: MapMode::copy_on_write or MapMode::shared expected");
  CHECK(error_of(files.with({"state", tw::map_npy(files.other)})) ==
        start + "'state' of " + files.other.string() + " is (1, 2, 2) int16: (5,) float32 expected");
  CHECK(error_of(files.with({"state", std::vector<double>(5)})) == start + "'state' is (5,) float64: (5,) float32 expected");
  CHECK(error_of(files.with({"state", std::vector<float>(4)})) == start + "'state' is (4,) float32: (5,) float32 expected");
  CHECK(error_of(files.with({"weight", weight})) == start + "'weight' twice: each name once expected");
  CHECK(error_of(files.with({"table", tw::map_npy(files.table, MapMode::shared)})) ==
        start + "'table' of " + files.table.string() + " twice: each name once expected");
  CHECK(error_of(files.with({"other", std::vector<std::int16_t>(4)})) ==
        start + "'other' is (4,) int16: (1, 2, 2) int16 expected");
  const std::int16_t rows_of_host[1][2][2]{};
  CHECK(error_of(files.with({"other", rows_of_host})) ==
        start + "'other' is an array of the host, and mapped buffers are files: map_npy expected");
  CHECK(error_of(files.with({"bias", 1.f})) == start +
                                                   "'bias': no variable or mapped buffer of this name: one of coin, place, code, "
                                                   "pair.0, pair.1, weight, noise, state, table, other expected");
  const xt::xtensor<float, 2, xt::layout_type::column_major> by_columns({2, 3});
  CHECK_THROWS_WITH(tw::GivenArray("state", by_columns),
                    "SessionOptions::arrays: 'state' has strides: a row-major array without gaps expected");
}

TEST_CASE("initialisers: functions of the seed and of an element's place, and tensors in turn") {
  const Files files;
  Small session({.seed = 7, .arrays = files.arrays(MapMode::copy_on_write)});
  tw::Random random(7);
  const auto coins = session.get_tensor_data("coin"_s);
  for (std::size_t i = 0; i < 64; ++i) CHECK(coins(i) == (random.uniform() < 0.5));
  CHECK(elements(session.get_tensor_data("place"_s)) == Floats{0, 1, 2, 10, 11, 12, 0, 1, 2, 10, 11, 12});
  CHECK(elements(session.get_tensor_data("code"_s)) == std::vector<std::int8_t>{0, 1, 2});
  CHECK(elements(session.run("row"_s = 0u)["evens"_s]) == Ints{0, 2, 4});
  CHECK(elements(session.get_tensor_data("pair.0"_s)) == Ints{1, 2});
  CHECK(elements(session.get_tensor_data("pair.1"_s)) == Ints{3, 4});
  first_code = 126;
  CHECK(error_of(files.arrays(MapMode::copy_on_write)) == "computed_by: 128 as int8: a whole number from -128 to 127 expected");
  first_code = 0;
}

TEST_CASE("memmap_dir: variables live in a folder, and the next session begins with them") {
  const Files files;
  const auto folder = files.path / "weights" / "run";
  const auto session_of = [&](std::uint64_t seed, const tw::MemmapOptions& options) {
    auto arrays = files.arrays(MapMode::copy_on_write);
    for (auto& array : tw::memmap_dir<Small>(folder, options)) arrays.push_back(array);
    return Small({.seed = seed, .arrays = std::move(arrays)});
  };
  const Small plain({.seed = 1, .arrays = files.arrays(MapMode::copy_on_write)});
  Floats after;
  {
    auto session = session_of(1, {.only = {"state", "place"}});
    CHECK(elements(session.get_tensor_data("state"_s)) == elements(plain.get_tensor_data("state"_s)));
    CHECK(elements(session.get_tensor_data("noise"_s)) == elements(plain.get_tensor_data("noise"_s)));
    session.run("row"_s = 0u);
    session.weights_to_host();
    after = elements(session.get_tensor_data("state"_s));
  }
  CHECK(!exists(folder / "noise.npy"));
  for (std::size_t i = 0; i < 5; ++i) CHECK(element<float>(folder / "state.npy", i) == after[i]);
  CHECK(tw::map_npy(folder / "place.npy").spec() == tw::TensorSpec{{2, 2, 3}, tw::float32});
  CHECK(elements(session_of(2, {.only = {"state"}}).get_tensor_data("state"_s)) == after);

  auto fixed = session_of(3, {.only = {"st*"}, .read_only_if_exists = true});
  CHECK_THROWS_AS(fixed.write_variable_data("state"_s, after), std::logic_error);
  CHECK_THROWS_WITH(tw::memmap_dir<Small>(folder, {.only = {"stat"}}),
                    "memmap_dir: 'stat': a pattern of variables' names expected");
  CHECK_THROWS_AS(tw::memmap_dir<Small>(folder, {.only = {"weight"}}), tw::LoadError);  // given() has no initial value
  CHECK(!exists(folder / "weight.npy"));
}

TEST_CASE("memmap_dir: a start that fails leaves no file to the next one") {
  const Files files;
  const auto folder = files.path / "weights";
  const tw::MemmapOptions two{.only = {"state", "place"}};
  const auto options_of = [&](std::vector<tw::GivenArray> of_folder) {
    tw::SessionOptions options{.seed = 1, .threads = 1, .arrays = files.arrays(MapMode::copy_on_write)};
    for (auto& array : of_folder) options.arrays.push_back(array);
    return options;
  };
  const auto options = [&] { return options_of(tw::memmap_dir<Small>(folder, two)); };
  const Floats initial = elements(Small({.seed = 1, .arrays = files.arrays(MapMode::copy_on_write)}).get_tensor_data("state"_s));
  const auto check_next = [&] {
    const Small next(options());
    CHECK(elements(next.get_tensor_data("state"_s)) == initial);
    CHECK(elements(next.get_tensor_data("place"_s)) == Floats{0, 1, 2, 10, 11, 12, 0, 1, 2, 10, 11, 12});
    CHECK(std::distance(std::filesystem::directory_iterator(folder), {}) == 2);
    std::filesystem::remove_all(folder);
  };

  (void)options();  // without a session
  CHECK(std::filesystem::is_empty(folder));
  check_next();

  auto wrong = options();
  wrong.threads = -1;
  CHECK_THROWS_AS(Small(wrong), std::invalid_argument);
  CHECK(!exists(folder / "state.npy"));
  wrong.threads = 1;
  first_code = 126;  // an initial value of another variable fails
  CHECK_THROWS(Small(wrong));
  first_code = 0;
  wrong = {};
  CHECK(std::filesystem::is_empty(folder));
  check_next();

  write_file(folder.parent_path() / "damaged", "no array");
  std::filesystem::create_directories(folder);
  std::filesystem::rename(folder.parent_path() / "damaged", folder / "state.npy");
  CHECK_THROWS_AS(options(), tw::LoadError);
  CHECK(!exists(folder / "place.npy"));
  std::filesystem::remove(folder / "state.npy");
  check_next();

  const pid_t child = fork();
  if (child == 0) {
    const auto arrays = tw::memmap_dir<Small>(folder, two);
    kill(getpid(), SIGKILL);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(WIFSIGNALED(status));
  CHECK(std::distance(std::filesystem::directory_iterator(folder), {}) == 2);  // unfinished files
  CHECK(!exists(folder / "place.npy"));
  check_next();
}

TEST_CASE("memmap_dir: a second session with the same arrays begins with the values of the first, and no file is replaced") {
  const Files files;
  const auto folder = files.path / "weights";
  const auto options = [&](std::uint64_t seed) {
    tw::SessionOptions result{.seed = seed, .threads = 1, .arrays = files.arrays(MapMode::copy_on_write)};
    for (auto& array : tw::memmap_dir<Small>(folder, {.only = {"state"}})) result.arrays.push_back(array);
    return result;
  };
  const auto first = options(1), second = options(2);
  {
    Small session(first);
    session.write_variable_data("state"_s, Floats{1, 2, 3, 4, 5});
  }
  CHECK(elements(Small(first).get_tensor_data("state"_s)) == Floats{1, 2, 3, 4, 5});
  CHECK_THROWS_WITH(Small(second), "memmap_dir: " + (folder / "state.npy").string() +
                                       ": a file that cannot be created (File exists): the path of a new file expected");
  CHECK(element<float>(folder / "state.npy", 4) == 5);
}

TEST_CASE("memmap_dir, create_npy: a disk that is full is an error before anything is written") {
  const TemporaryFolder folder;
  rlimit before{};
  REQUIRE(getrlimit(RLIMIT_FSIZE, &before) == 0);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);  // then a file beyond the limit is an error
  rlimit limit = before;
  limit.rlim_cur = 130;  // a header fits
  REQUIRE(setrlimit(RLIMIT_FSIZE, &limit) == 0);
  CHECK_THROWS_AS(tw::memmap_dir<Small>(folder.path, {.only = {"state"}}), tw::LoadError);
  CHECK_THROWS_AS(tw::create_npy(folder.path / "x.npy", {{3}, tw::float32}), tw::LoadError);
  setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  CHECK(std::filesystem::is_empty(folder.path));

  const std::filesystem::path memory = "/dev/shm";
  std::error_code unknown;
  const auto space = std::filesystem::space(memory, unknown);
  if (unknown || space.capacity == 0 || space.available > std::uintmax_t{1} << 50) {
    WARN("skipped: no file system in memory here");
    return;
  }
  const auto path = memory / folder.path.filename();
  CHECK_THROWS_AS(tw::create_npy(path, {{static_cast<std::int64_t>(space.capacity) + 1}, tw::uint8}), tw::LoadError);
  CHECK(!exists(path));
}

TEST_CASE("write_variables_pb: the values of a WeightsDict, by one transfer") {
  const Files files;
  Small session({.arrays = files.arrays(MapMode::copy_on_write)});
  const auto noise = elements(session.get_tensor_data("noise"_s));
  const auto before = session.transfers();
  tw::WeightsDict weights(session.host_tensors());
  weights.set("state", Floats{5, 4, 3, 2, 1});
  weights.set("pair.1", Ints{-1, -2});
  tw::write_variables_pb(session, weights);
  CHECK(session.transfers().from_host == before.from_host + 1);
  CHECK(elements(session.get_tensor_data("state"_s)) == Floats{5, 4, 3, 2, 1});
  CHECK(elements(session.get_tensor_data("pair.1"_s)) == Ints{-1, -2});
  CHECK(elements(session.get_tensor_data("noise"_s)) == noise);
  session.run("row"_s = 0u);
  CHECK(session.get_tensor_data("state"_s)(0) == 5 + 100);
}
