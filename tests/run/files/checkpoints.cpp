// labels: asan standard-library tsan ubsan
// Checkpoints of a run, and sessions that load their variables from files.
#include "tilewright/checkpoint/checkpoints.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>

#include "../../support/elements.hpp"
#include "../../support/reference.hpp"
#include "../../support/temporary_folder.hpp"
#include "files.hpp"

namespace {

using Strings = std::vector<std::string>;
using Steps = std::vector<std::uint64_t>;

/// Two layers' variables, which a run adds to.
constexpr void program(tw::Ir& ir) {
  const auto weight = ir.variable(tw::values({1, 2, 3, 4, 5, 6}), {2, 3}, tw::float32, "fc1.weight");
  const auto bias = ir.variable(tw::values({7, 8, 9}), {3}, tw::float16, "fc1.bias");
  const auto step = ir.variable(tw::zeros(), {}, tw::float32, "step");
  tw::ops::accumulate_(step, ir.constant(1));
  store("weight", tw::ops::accumulate_(weight, weight, 1));
  store("bias", tw::ops::accumulate_(bias, bias, 1));
}
using Session = tw::Session<program>;

/// The variables after `runs` runs.
std::vector<Bytes> values(const Session& session) {
  std::vector<Bytes> result;
  for (const auto& tensor : session.host_tensors()) result.push_back(bytes_of(tensor));
  return result;
}

struct Case {
  std::vector<Counting> tensors;
  std::string tensor, text;
};

Strings names_in(const std::filesystem::path& folder) {
  Strings names;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) names.push_back(entry.path().filename().string());
  std::ranges::sort(names);
  return names;
}

}  // namespace

TEST_CASE("Session: host_tensors are the variables, and load_tensors takes them from files of both formats") {
  const TemporaryFolder folder;
  Session session({.threads = 1});
  const auto tensors = session.host_tensors();
  REQUIRE(tensors.size() == 3);
  CHECK((tensors[0].name == "fc1.weight" && tensors[0].spec == tw::TensorSpec{{2, 3}, tw::float32}));
  CHECK((tensors[1].name == "fc1.bias" && tensors[1].spec == tw::TensorSpec{{3}, tw::float16}));
  CHECK((tensors[2].name == "step" && tensors[2].spec == tw::TensorSpec{{}, tw::float32}));

  const auto before = values(session);
  save(folder.path / "file.npz", tensors);
  save(folder.path / "file.safetensors", tensors);
  session.run();
  const auto after = values(session);
  CHECK(after != before);
  CHECK(elements(session.get_tensor_data("fc1.weight"_s)) == Floats{2, 4, 6, 8, 10, 12});
  for (const std::string name : {"file.npz", "file.safetensors"}) {
    session.load_tensors(load(folder.path / name));
    CHECK(values(session) == before);
    session.run();
    CHECK(values(session) == after);
  }
  Session other({.threads = 1});
  other.load_tensors({"a session", session.host_tensors()});
  CHECK(values(other) == after);
}

TEST_CASE("Session: tensors are loaded and saved without a device, and reach it later") {
  Session trained({.threads = 1}), waiting({.threads = 1, .attach = false});
  const auto first = values(trained);
  trained.run();
  const auto second = values(trained);
  CHECK(values(waiting) == first);
  waiting.load_tensors({"a session", trained.host_tensors()});
  CHECK(values(waiting) == second);
  CHECK(waiting.transfers() == tw::Transfers{});
  const auto context = waiting.context();
  waiting.run();
  trained.run();
  CHECK(values(waiting) == values(trained));
  // saving twice is one transfer
  const auto transfers = waiting.transfers();
  CHECK(values(waiting) == values(trained));
  CHECK(waiting.transfers() == transfers);
}

TEST_CASE("Session::load_tensors: what does not fit is refused before anything is written") {
  const TemporaryFolder folder;
  const auto path = folder.path / "file.safetensors";
  Session session({.threads = 1});
  const auto before = values(session);
  const Counting weight("fc1.weight", {2, 3}, tw::float32), bias("fc1.bias", {3}, tw::float16), step("step", {}, tw::float32);
  const Case cases[]{
      {{weight, bias}, "step", "no tensor of this name: () float32"},
      {{weight, bias, step, {"fc2.bias", {3}, tw::float32}},
       "fc2.bias",
       "no variable of this name: one of fc1.weight, fc1.bias, step"},
      {{weight, {"fc1.bias", {3}, tw::float32}, step},
       "fc1.bias",
       "(3,) float32: (3,) float16, by map_tensors with the rule tw::cast(),"},
      {{weight, {"fc1.bias", {4}, tw::float16}, step}, "fc1.bias", "(4,) float16: (3,) float16"},
      {{{"fc1.weight", {3, 2}, tw::float32}, bias, step},
       "fc1.weight",
       "(3, 2) float32: (2, 3) float32, by map_tensors with the rule tw::transposed(\"fc1.weight\"),"},
  };
  for (const auto& [tensors, tensor, text] : cases) {
    save(path, views(tensors));
    try {
      session.load_tensors(load(path));
      FAIL("it was loaded");
    } catch (const tw::LoadError& error) {
      CHECK(error.file() == path.string());
      CHECK(error.tensor() == tensor);
      CHECK(error.what() == "load_tensors: " + path.string() + ": '" + tensor + "': " + text + " expected");
    }
    CHECK(values(session) == before);
  }
  // all that does not fit is in one error
  const std::vector<Counting> wrong{{"fc1.bias", {4}, tw::float16}, {"fc2.bias", {3}, tw::float32}, step};
  CHECK_THROWS_WITH(
      session.load_tensors({"list", views(wrong)}),
      "load_tensors: list: 3 tensors: 'fc1.bias': (4,) float16: (3,) float16 expected; 'fc2.bias': no variable of this name; "
      "'fc1.weight': no tensor of this name: (2, 3) float32 expected");
  // lists that no file can hold
  tw::HostTensor cut = step;
  cut.bytes = cut.bytes.first(3);
  const std::vector<tw::HostTensor> twice{weight, bias, step, step}, short_one{weight, bias, cut};
  CHECK_THROWS_WITH(session.load_tensors({"list", twice}),
                    "load_tensors: list: 'step': this name twice: each name once expected");
  CHECK_THROWS_WITH(session.load_tensors({"list", short_one}), "load_tensors: list: 'step': 3 bytes: 4 bytes expected");
  CHECK(values(session) == before);
}

TEST_CASE("Session::load_tensors: a policy allows tensors and variables to be left out, and nothing else") {
  Session session({.threads = 1});
  const auto before = values(session);
  const Counting weight("fc1.weight", {2, 3}, tw::float32), other("other", {2}, tw::int32), wrong("step", {1}, tw::float32);
  session.load_tensors({"list", views({weight, other})}, {.allow_extra = true, .allow_missing = true});
  CHECK(values(session) == std::vector{weight.bytes, before[1], before[2]});
  CHECK_THROWS_AS(session.load_tensors({"list", views({weight, other})}, {.allow_extra = true}), tw::LoadError);
  CHECK_THROWS_AS(session.load_tensors({"list", views({weight, other})}, {.allow_missing = true}), tw::LoadError);
  CHECK_THROWS_AS(session.load_tensors({"list", views({wrong})}, {.allow_extra = true, .allow_missing = true}), tw::LoadError);
  // some names only
  session.load_tensors({"list", views({weight, other})}, {.allow_extra = {"oth*"}, .allow_missing = {"*.bias", "step"}});
  CHECK_THROWS_WITH(
      session.load_tensors({"list", views({weight, other})}, {.allow_extra = {"oth"}, .allow_missing = {"*.bias"}}),
      "load_tensors: list: 2 tensors: 'other': no variable of this name; 'step': no tensor of this name: () float32 "
      "expected");
  session.load_tensors({"list", views({weight, other})}, {.extra = {"oth*"}, .missing = {"*.bias", "step"}});  // earlier names
}

TEST_CASE("Session::load_tensors: a policy names the variables that are loaded") {
  Session session({.threads = 1});
  const auto before = values(session);
  const Counting weight("fc1.weight", {2, 3}, tw::float32), other("other", {2}, tw::int32), wrong("step", {1}, tw::float32);
  session.load_tensors({"list", views({weight, other, wrong})}, {.only = {"*.weight"}});
  CHECK(values(session) == std::vector{weight.bytes, before[1], before[2]});
  CHECK_THROWS_WITH(session.load_tensors({"list", views({weight})}, {.only = {"fc1.*"}}),
                    "load_tensors: list: 'fc1.bias': no tensor of this name: (3,) float16 expected");
  CHECK_THROWS_WITH(session.load_tensors({"list", views({weight})}, {.only = {"fc1.weight", "fc2.*"}}),
                    "load_tensors: list: 'fc2.*': no variable's name: one of fc1.weight, fc1.bias, step expected");
}

TEST_CASE("Checkpoints: the newest ones are kept, and the newest is found") {
  const TemporaryFolder folder;
  const tw::Checkpoints checkpoints(folder.path / "a" / "run", {.keep = 2});
  CHECK(!checkpoints.newest());
  CHECK(checkpoints.steps().empty());
  Session session({.threads = 1});
  std::vector<Bytes> at_30;
  for (std::uint64_t step = 10; step <= 40; step += 10) {
    session.run();
    tw::Metadata metadata;
    metadata.set("epoch", step / 10);
    checkpoints.save(step, session.host_tensors(), metadata);
    if (step == 30) at_30 = values(session);
  }
  CHECK(checkpoints.steps() == Steps{30, 40});
  CHECK(names_in(folder.path / "a" / "run") == Strings{"step-000000000030.safetensors", "step-000000000040.safetensors"});
  const auto newest = checkpoints.newest();
  REQUIRE(newest);
  CHECK(newest->step == 40);
  CHECK(newest->skipped.empty());
  CHECK(newest->file.metadata<int>("epoch") == 4);
  const auto last = values(session);
  session.load_tensors(checkpoints.load(30).file);
  CHECK(values(session) == at_30);
  session.load_tensors(newest->file);
  CHECK(values(session) == last);
  // it is an ordinary file of its format
  CHECK(tw::load_safetensors(checkpoints.path_of(40)).metadata() == newest->file.metadata());

  const tw::Checkpoints all(folder.path / "a" / "run", {.keep = 0});
  for (std::uint64_t step = 1; step < 5; ++step) all.save(step, session.host_tensors());
  all.save(1'234'567'890'123'456'789, session.host_tensors());
  CHECK(all.steps() == Steps{1, 2, 3, 4, 30, 40, 1'234'567'890'123'456'789});
  CHECK(all.newest()->step == 1'234'567'890'123'456'789);
}

TEST_CASE("Checkpoints: files that are not whole are passed over") {
  const TemporaryFolder folder;
  const tw::Checkpoints checkpoints(folder.path, {.keep = 3});
  Session session({.threads = 1});
  for (std::uint64_t step = 1; step <= 3; ++step) checkpoints.save(step, session.host_tensors());
  const auto path = checkpoints.path_of(3);
  const Bytes whole = read_all(path);
  const auto check_passed_over = [&](const Bytes& bytes) {
    write_all(path, bytes);
    const auto newest = checkpoints.newest();
    REQUIRE(newest);
    REQUIRE(newest->step == 2);
    REQUIRE(newest->skipped.size() == 1);
    REQUIRE(newest->skipped[0].starts_with("load_checkpoint: " + path.string() + ": "));
  };
  for (std::size_t size = 0; size < whole.size(); size += 7)  // cut off
    check_passed_over({whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size)});
  for (std::size_t size = 0; size < whole.size() - 1; size += 7) {  // whole in length, but only begun in content
    Bytes torn = whole;
    std::fill(torn.begin() + static_cast<std::ptrdiff_t>(size), torn.end(), std::byte{0});
    if (torn != whole) check_passed_over(torn);
  }
  for (std::size_t bit = 0; bit < 8 * whole.size(); bit += 5) {  // one bit, wherever it is
    Bytes changed = whole;
    changed[bit / 8] ^= std::byte{1} << bit % 8;
    check_passed_over(changed);
  }
  write_all(path, whole);
  CHECK(checkpoints.newest()->step == 3);

  std::filesystem::copy_file(path, checkpoints.path_of(4));
  CHECK_THROWS_WITH(checkpoints.load(4), "load_checkpoint: " + checkpoints.path_of(4).string() +
                                             ": another step's checkpoint: that of the file's name expected");
  save(checkpoints.path_of(4), session.host_tensors());
  CHECK_THROWS_WITH(checkpoints.load(4), "load_checkpoint: " + checkpoints.path_of(4).string() +
                                             ": no checksum: a file that Checkpoints::save wrote expected");
  CHECK_THROWS_WITH(checkpoints.load(5),
                    "load_checkpoint: " + checkpoints.path_of(5).string() + ": no such file: a readable file expected");
  CHECK(checkpoints.newest()->step == 3);
  for (std::uint64_t step = 1; step <= 3; ++step) write_all(checkpoints.path_of(step), {});
  CHECK_THROWS_AS(checkpoints.newest(), tw::LoadError);
}

TEST_CASE("Checkpoints: saving removes what killed runs left, and nothing that is not its own") {
  const TemporaryFolder folder;
  const tw::Checkpoints checkpoints(folder.path, {.keep = 1});
  for (const std::string name : {"step-000000000007.safetensors.0123456789abcdef.partial", "notes.partial",
                                 "notes.0123456789abcdef.partial", "step-7.safetensors.0123456789abcdef.partial",
                                 "step-7.safetensors", "step-00000000000x.safetensors", "step-000000000001.npz"})
    write_all(folder.path / name, {});
  const std::vector<Counting> counting{{"x", {2}, tw::float32}};
  const auto tensors = views(counting);
  checkpoints.save(9, tensors);
  CHECK(checkpoints.steps() == Steps{9});
  checkpoints.save(8, tensors);  // a later one stays: it may be another run's
  CHECK(checkpoints.steps() == Steps{8, 9});
  checkpoints.save(10, tensors);
  Strings left{"notes.0123456789abcdef.partial",
               "notes.partial",
               "step-000000000001.npz",
               "step-00000000000x.safetensors",
               "step-000000000010.safetensors",
               "step-7.safetensors",
               "step-7.safetensors.0123456789abcdef.partial"};
  if (!tw::internal::removes_abandoned_files)
    left.insert(left.begin() + 3, "step-000000000007.safetensors.0123456789abcdef.partial");
  CHECK(names_in(folder.path) == left);
}

TEST_CASE("Checkpoints: several processes save to one folder at the same time") {
  const TemporaryFolder folder;
  const std::vector<Counting> counting{{"x", {20'000}, tw::float32}};
  const auto tensors = views(counting);
  std::vector<pid_t> children;
  for (int i = 0; i < 3; ++i) {
    children.push_back(fork());
    if (children.back() != 0) continue;
    int failures = 0;
    for (std::uint64_t step = 1; step <= 60; ++step) {
      try {
        tw::Checkpoints(folder.path / "run", {.keep = 2}).save(step, tensors);
      } catch (const std::exception& error) {
        std::fprintf(stderr, "%s\n", error.what());
        ++failures;
      }
    }
    _exit(failures);
  }
  for (const pid_t child : children) {
    int status = 0;
    REQUIRE(waitpid(child, &status, 0) == child);
    CHECK((WIFEXITED(status) && WEXITSTATUS(status) == 0));
  }
  const tw::Checkpoints checkpoints(folder.path / "run", {.keep = 2});
  checkpoints.save(61, tensors);
  CHECK(names_in(folder.path / "run") == Strings{"step-000000000060.safetensors", "step-000000000061.safetensors"});
  check_tensors(checkpoints.load(60).file, counting);
}

TEST_CASE("Checkpoints: the newest is found while another process saves and removes") {
  const TemporaryFolder folder;
  const std::vector<Counting> counting{{"x", {1000}, tw::float32}};
  const tw::Checkpoints checkpoints(folder.path, {.keep = 1});
  checkpoints.save(0, views(counting));
  const pid_t child = fork();
  if (child == 0) {
    for (std::uint64_t step = 1; step <= 300; ++step) checkpoints.save(step, views(counting));
    _exit(0);
  }
  std::uint64_t last = 0;
  int status = 0;
  std::string problem;
  for (pid_t ended = 0; ended == 0;) {
    ended = waitpid(child, &status, WNOHANG);
    try {
      const auto newest = checkpoints.newest();
      if (!newest || !newest->skipped.empty() || newest->step < last) problem = "an older one after step " + std::to_string(last);
      else last = newest->step;
    } catch (const tw::LoadError& error) {
      problem = error.what();
    }
  }
  CHECK(problem.empty());
  CHECK(status == 0);
  CHECK(last == 300);
}

TEST_CASE("Checkpoints: paths that cannot be a folder's") {
  const TemporaryFolder folder;
  CHECK_THROWS_WITH(tw::Checkpoints(""), "Checkpoints: an empty path: that of a folder expected");
  const auto path = folder.path / "file";
  write_all(path, {});
  const tw::Checkpoints checkpoints(path), below(path / "run");
  const std::string error = "load_checkpoint: " + path.string() + ": a file: a folder expected";
  CHECK_THROWS_WITH(checkpoints.newest(), error);
  CHECK_THROWS_WITH(checkpoints.steps(), error);
  CHECK_THROWS_AS(checkpoints.save(1, {}), std::filesystem::filesystem_error);
  CHECK_THROWS_AS(below.save(1, {}), std::filesystem::filesystem_error);
  CHECK(!below.newest());
  CHECK(read_all(path).empty());
}

TEST_CASE("Checkpoints: names like the checksum's do not disturb it") {
  const TemporaryFolder folder;
  const tw::Checkpoints checkpoints(folder.path);
  const std::string entry = R"("tilewright.crc32":"00000000")";
  const std::vector<Counting> counting{{entry, {2}, tw::float32}, {"\\" + entry, {1}, tw::float32}};
  const auto tensors = views(counting);
  tw::Metadata metadata;
  metadata.set(entry, entry);
  checkpoints.save(1, tensors, metadata);
  const auto newest = checkpoints.newest();
  REQUIRE(newest);
  CHECK(newest->file.find(entry) != nullptr);
  CHECK(newest->file.metadata<std::string>(entry) == entry);
}

TEST_CASE("Checkpoints: those of an older version of the program are upgraded, step by step") {
  const TemporaryFolder folder;
  const std::vector<Counting> old{
      {"adam.w.first", {2, 3}, tw::float32}, {"w", {2, 3}, tw::float32}, {"adam.count", {}, tw::int32}};
  tw::Metadata metadata;
  metadata.set("epoch", 7);
  tw::Checkpoints(folder.path).save(1, views(old), metadata);
  const std::vector<tw::CheckpointUpgrade> upgrades{
      {.version = 1, .rules = {{"adam.*", "optimiser.*"}, tw::transposed("w")}},
      {.version = 3, .rules = {{"optimiser.*.first", "optimiser.*.first_order"}, tw::left_out("optimiser.count")}},
  };
  const auto names = [](const tw::TensorFile& file) {
    Strings result;
    for (const auto& tensor : file.tensors())
      result.push_back(std::string(tensor.name) + " " + tw::to_text(tensor.spec).string());
    std::ranges::sort(result);
    return result;
  };
  const tw::Checkpoints second(folder.path, {.version = 2, .upgrades = {upgrades[0]}}),
      third(folder.path, {.version = 3, .upgrades = upgrades});
  const auto at_1 = second.load(1);
  CHECK(names(at_1.file) == Strings{"optimiser.count () int32", "optimiser.w.first (2, 3) float32", "w (3, 2) float32"});
  CHECK(at_1.file.metadata<int>("epoch") == 7);
  CHECK(at_1.file.metadata<int>("tilewright.version") == TILEWRIGHT_VERSION);
  second.save(2, at_1.file.tensors());
  const Strings newest{"optimiser.w.first_order (2, 3) float32", "w (3, 2) float32"};
  CHECK(names(third.load(1).file) == newest);
  CHECK(names(third.newest()->file) == newest);
  CHECK(elements_of(*third.newest()->file.find("w")) == std::vector<double>{0, 3, 1, 4, 2, 5});
  third.save(3, third.newest()->file.tensors());
  CHECK(names(third.newest()->file) == newest);
  // a later version is no damage, which would be passed over
  const std::string error = "load_checkpoint: " + third.path_of(3).string() + ": version 3 of the program's variables: ";
  CHECK_THROWS_WITH(second.newest(), error + "2 or less expected");
  CHECK_THROWS_WITH(tw::Checkpoints(folder.path).load(3), error + "0 or less expected");
  CHECK(second.load(2).step == 2);

  const auto problem = [&](std::uint64_t version, std::vector<tw::CheckpointUpgrade> given) {
    return tw::Checkpoints(folder.path, {.version = version, .upgrades = std::move(given)});
  };
  CHECK_THROWS_WITH(problem(2, upgrades), "Checkpoints: an upgrade to version 3: one from 2 to the program's 2 expected");
  CHECK_THROWS_WITH(problem(3, {upgrades[1], upgrades[0]}),
                    "Checkpoints: an upgrade to version 1: one from 4 to the program's 3 expected");
  CHECK_THROWS_AS(problem(3, {{}}), std::invalid_argument);
}
