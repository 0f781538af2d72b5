// labels: ubsan
// Variables that no program changes, in memory that cannot be written.
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "../../catch.hpp"
#include "../../support/both_sessions.hpp"
#include "../../support/programs.hpp"
#include "tilewright/checkpoint/safetensors.hpp"
#include "tilewright/layers/conv.hpp"
#include "tilewright/layers/embedding.hpp"
#include "tilewright/layers/linear.hpp"
#include "tilewright/layers/recurrent.hpp"
#include "tilewright/layers/transformer_block.hpp"
#include "tilewright/ops/nn/pool.hpp"
#include "tilewright/session/one_object/exported_programs.hpp"
#include "tilewright/session/static_session.hpp"
#include "tilewright/tilewright.hpp"
#include "tilewright/train/step.hpp"

namespace tw = tilewright;
namespace ops = tw::ops;
using namespace tw::literals;
using support::load, support::store, support::variable;
using tw::Ir, tw::RunResult, tw::RunStatus, tw::Tensor, tw::layers::Linear;

namespace {

constexpr tw::UnchangedVariables read_only = tw::UnchangedVariables::read_only;
template <auto build>
using ReadOnly = tw::StaticSession<build, tw::one_core, read_only>;
using Bytes = std::vector<std::byte>;

/// A copy of some bytes which cannot be written, and behind which nothing can be read. Its address is a multiple of 4.
class Rom {
 public:
  explicit Rom(std::span<const std::byte> bytes) : count_(bytes.size()) {
    const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    size_ = (count_ + page - 1) / page * page;
    memory_ = mmap(nullptr, size_ + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    REQUIRE(memory_ != MAP_FAILED);
    size_ += page;
    begin_ = static_cast<std::byte*>(memory_) + size_ - page - count_;
    std::memcpy(begin_, bytes.data(), count_);
    mprotect(memory_, size_ - page, PROT_READ);
    mprotect(static_cast<std::byte*>(memory_) + size_ - page, page, PROT_NONE);
  }
  ~Rom() { munmap(memory_, size_); }
  Rom(const Rom&) = delete;
  Rom& operator=(const Rom&) = delete;
  std::span<const std::byte> bytes() const { return {begin_, count_}; }

 private:
  std::size_t count_, size_ = 0;
  void* memory_ = nullptr;
  std::byte* begin_ = nullptr;
};

/// The .safetensors file of a session's variables.
Bytes file_of(const auto& session) {
  Bytes file;
  const auto tensors = session.host_tensors();
  const tw::detail::SafetensorsParts parts("test", tensors, {});
  for (const auto& part : parts.parts) file.insert(file.end(), part.begin(), part.end());
  return file;
}
std::string text_of(const RunStatus& status) {
  char memory[400];
  return std::string(write_text(status, memory));
}
bool equal(std::span<const std::byte> a, std::span<const std::byte> b) { return std::ranges::equal(a, b); }

bool has_equal_variables(const auto& a, const auto& b) {
  return std::ranges::equal(a.host_tensors(), b.host_tensors(), [](const auto& one, const auto& other) {
    return one.name == other.name && equal(one.bytes, other.bytes);
  });
}

/// Runs a program of streams x and y in both kinds of session, with the weights of the first.
template <auto build>
void check_inference() {
  constexpr tw::StaticBytes bytes = tw::static_bytes<build, tw::one_core>,
                            left = tw::static_bytes<build, tw::one_core, read_only>;
  static_assert(left.variables == 0 && left.read_only > 0 && sizeof(ReadOnly<build>) == static_cast<std::size_t>(left.total()));
  static_assert(left.total() - left.state == bytes.total() - bytes.state - bytes.variables);
  support::SessionOnArrays<build, tw::one_core> session({.seed = 1, .threads = 1});
  const Rom rom(file_of(session));
  const auto one = std::make_unique<ReadOnly<build>>();
  const RunStatus status = one->init(2, rom.bytes());
  INFO(text_of(status));
  REQUIRE(status.is_done());
  const auto x = one->stream("x"_s);
  using Element = typename decltype(x)::element_type;
  std::mt19937 random(7);
  for (Element& each : x) each = static_cast<Element>(static_cast<int>(random() % 9));
  REQUIRE(one->run().is_done());
  const auto y = std::as_bytes(one->stream("y"_s));
  Bytes expected(y.size());
  tw::StreamMemory<decltype(session)::plan> arrays{};
  for (std::size_t i = 0; i < arrays.size(); ++i)
    arrays[i] = session.plan.stream_name(i) == "x" ? std::as_writable_bytes(x).data() : expected.data();
  session.run_on(arrays);
  CHECK(equal(y, expected));
  CHECK(has_equal_variables(*one, session));
}

struct Images : tw::Module<Images> {
  BOOST_HANA_DEFINE_STRUCT(Images, (tw::layers::Conv2d<8, 3, {.padding = 1}>, conv1), (tw::layers::Conv2d<8, 3>, conv2),
                           (Linear<10>, head));
  constexpr Tensor build(Tensor x) {
    x = ops::max_pool(ops::relu(conv1(x)), {2, 2});
    return head(ops::relu(conv2(x)).reshape({-1, 8 * 9 * 9}));
  }
};
struct Sequence : tw::Module<Sequence> {
  BOOST_HANA_DEFINE_STRUCT(Sequence, (tw::layers::LSTM<20>, lstm), (tw::layers::GRU<7>, gru), (Linear<3>, head));
  constexpr Tensor build(Tensor x) {
    const auto [states, last, cell] = lstm(x);
    return head(gru(states).first);
  }
};
struct Words : tw::Module<Words> {
  using Table = tw::layers::Embedding<11, 24>;
  using Block = tw::layers::TransformerBlock<24, 3, {.dim_feedforward = 33, .is_causal = true, .dropout = 0}>;
  BOOST_HANA_DEFINE_STRUCT(Words, (Table, table), (Block, block));
  constexpr Tensor build(Tensor x) { return table.logits(block(table(x))); }
};
template <class Net>
constexpr void answer(Ir& ir, const tw::Shape& shape, tw::DType dtype = tw::float32) {
  const Tensor x = load(ir, "x", shape, dtype);
  const auto [factories, net] = tw::create_graph(Net{}, x);
  store("y", net.bind(factories.init()).call(x));
}
constexpr void images(Ir& ir) { answer<Images>(ir, {3, 1, 12, 12}); }
constexpr void sequence(Ir& ir) { answer<Sequence>(ir, {5, 9, 4}); }
constexpr void words(Ir& ir) { answer<Words>(ir, {2, 6}, tw::int32); }
/// Weights that called graphs, an iteration of a loop and a branch use, and one in three dtypes.
constexpr void passed(Ir& ir) {
  const Tensor x = load(ir, "x", {3, 5});
  const auto weight = [&](std::string_view name, int rows, tw::DType dtype) {
    return ir.variable(tw::normal(0, 1), {rows, 5}, dtype, name);
  };
  const Tensor a = weight("a", 5, tw::float32), b = weight("b", 2, tw::float16), c = weight("c", 5, tw::float64);
  const auto product = ir.create_graph([](Tensor t, Tensor w) { return ops::tanh(t.matmul(w)); }, x, a);
  const Tensor looped = tw::repeat(product, 3, {x, a});
  const auto less = ir.create_graph([](Tensor t, Tensor w) { return t - ops::slice(w, {0}, {3}); }, x, a);
  const Tensor chosen = tw::conditional(ops::greater(ops::sum(x), 50.0), {product, {looped, a}}, {less, {looped, a}});
  store("y", ops::cast(chosen, tw::float64).matmul(c) + ops::cast(ops::slice(b, {1}, {2}), tw::float64));
}

struct Net : tw::Module<Net> {
  BOOST_HANA_DEFINE_STRUCT(Net, (Linear<12>, base), (Linear<3>, head));
  constexpr Tensor build(Tensor x) { return head(ops::relu(base(x))); }
};
/// Changes the last layer only.
constexpr void adapt_step(Ir& ir) {
  tw::train::train_step(ir, Net{}, tw::optim::SgdParameters{.lr = 0.05}, {{6, 4}}, {.groups = {tw::train::only("head.*")}});
}
constexpr void test_step(Ir& ir) { tw::train::test_step(ir, Net{}, {{1, 4}}); }

}  // namespace

TEST_CASE("inference has the bits of a session where no weight can be written") {
  check_inference<images>();
  check_inference<sequence>();
  check_inference<words>();
  check_inference<passed>();
}

namespace {
/// Changes a variable in each way that there is.
constexpr void changed(Ir& ir) {
  const Tensor x = load(ir, "x", {2, 3}), row = load(ir, "row", {1, 3}), one = ir.constant(1.0);
  const auto add = ir.create_graph([](tw::TensorByRef w, Tensor t) { ops::scaled_add_(w, t); }, x, x);
  const auto nested = ir.create_graph([&](tw::TensorByRef w, Tensor t) { tw::call(add, {w, t}); }, x, x);
  ops::scaled_add_(variable(ir, "by an op", {2, 3}), x);
  ops::copy_var_update_(variable(ir, "by a copy", {2, 3}), x);
  ops::add_(ops::slice_(variable(ir, "in a view", {3, 2}).reshape_({6}), {2}, {5}), one);
  ops::dynamic_update_(variable(ir, "in a row", {2, 3}), load(ir, "index", {1}, tw::uint32), row, {0}, {1});
  for (const auto name : {"in a call", "in another call"}) tw::call(add, {variable(ir, name, {2, 3}), x});
  tw::call(nested, {variable(ir, "in a nested call", {2, 3}), x});
  const auto count = ir.create_graph([](tw::TensorByRef w, Tensor t) { return ops::scaled_add_(w, t), t + 1; }, x, x);
  store("looped", tw::repeat(ir.create_graph([&](Tensor t, tw::TensorByRef w) { return tw::call(count, {w, t}); }, x, x), 3,
                             {x, variable(ir, "in a loop", {2, 3})}));
  const Tensor first = variable(ir, "in a branch", {2, 3}), second = variable(ir, "in the other branch", {2, 3});
  tw::conditional(ops::greater(ops::sum(x), 0.0), {add, {first, x}}, {add, {second, x}});
  {
    const auto upload = tw::execution_context(ir, tw::ExecutionContext::WeightsFromHostFragment);
    ops::add_(variable(ir, "after an upload", {2, 3}), one);
  }
  const Tensor kept = variable(ir, "read", {2, 3}), seen = variable(ir, "read by a call", {2, 3});
  store("read", kept + x);
  tw::call(add, {variable(ir, "with a read one", {2, 3}), seen});
}
using Changed = ReadOnly<changed>;
template <class Session, tw::NameText name>
constexpr bool is_const(Session&, tw::Name<name> of) {
  return std::is_const_v<typename decltype(std::declval<Session&>().variable(of))::element_type>;
}
}  // namespace

TEST_CASE("a variable that a step writes in any way is in the object") {
  const auto session = std::make_unique<Changed>();
  CHECK(!is_const(*session, "by an op"_s));
  CHECK(!is_const(*session, "by a copy"_s));
  CHECK(!is_const(*session, "in a view"_s));
  CHECK(!is_const(*session, "in a row"_s));
  CHECK(!is_const(*session, "in a call"_s));
  CHECK(!is_const(*session, "in another call"_s));
  CHECK(!is_const(*session, "in a nested call"_s));
  CHECK(!is_const(*session, "in a loop"_s));
  CHECK(!is_const(*session, "in a branch"_s));
  CHECK(!is_const(*session, "in the other branch"_s));
  CHECK(!is_const(*session, "after an upload"_s));
  CHECK(!is_const(*session, "with a read one"_s));
  CHECK(is_const(*session, "read"_s));
  CHECK(is_const(*session, "read by a call"_s));
  CHECK(tw::static_bytes<changed, tw::one_core, read_only>.read_only == 2 * 6 * sizeof(float));
}

namespace {
constexpr float weight[4][12] = {{0.5f, -1, 0.25f, 1, -0.5f, 2, 1, 0, -1, 0.5f, 1, 1},
                                 {1, 0.25f, 0.5f, -1, 1, 0, 0.5f, 1, 1, -0.5f, 0, 2}};
constexpr float bias[12] = {0, 1, -1, 0.5f, 0, 0.25f, 1, 0, 0, -0.5f, 0, 1};
constexpr float x[6][4] = {{1, 0, 2, 1}, {0, 1, 1, 3}, {2, 2, 0, 1}, {3, 1, 0, 0}, {1, 1, 1, 1}, {0, 2, 3, 1}};
constexpr std::int32_t labels[6] = {0, 1, 2, 0, 1, 2};
constinit ReadOnly<adapt_step> adapting;
}  // namespace

TEST_CASE("arrays of constants are used in place, and others are trained") {
  constexpr tw::StaticBytes bytes = tw::static_bytes<adapt_step, tw::one_core, read_only>;
  static_assert(bytes.read_only == sizeof weight + sizeof bias && sizeof adapting == static_cast<std::size_t>(bytes.total()));
  static_assert(sizeof adapting + 192 + 64 == sizeof(tw::StaticSession<adapt_step, tw::one_core>));
  REQUIRE(adapting.init(3, "base.weight"_s = weight, "base.bias"_s = bias).is_done());
  CHECK(adapting.variable("base.weight"_s).data() == weight[0]);
  const ReadOnly<adapt_step> before = adapting;
  tw::Session<adapt_step, tw::one_core> session(
      {.seed = 3, .threads = 1, .arrays = {{"base.weight", weight}, {"base.bias", bias}}});
  for (int step = 0; step < 20; ++step) {
    REQUIRE(adapting.run("image"_s = x, "label"_s = labels).is_done());
    session.run("image"_s = x, "label"_s = labels);
  }
  CHECK(has_equal_variables(adapting, session));
  CHECK(!std::ranges::equal(adapting.variable("head.weight"_s), before.variable("head.weight"_s)));
  tw::StaticSession<adapt_step, tw::one_core> other;
  REQUIRE(other.init().is_done());
  REQUIRE(other.load_from_session(adapting).is_done());
  CHECK(has_equal_variables(other, session));
}

TEST_CASE("files have the variables of the object, and must agree with those in read-only memory") {
  tw::StaticSession<adapt_step, tw::one_core> whole;
  REQUIRE(whole.init(5).is_done());
  Bytes file = file_of(whole);
  const Rom rom(file);
  ReadOnly<adapt_step> session;
  CHECK(session.load_safetensors(file).result == RunResult::not_initialised);
  REQUIRE(session.init(3, rom.bytes()).is_done());
  ReadOnly<adapt_step> same_seed;
  REQUIRE(same_seed.init(3, "base.weight"_s = weight, "base.bias"_s = bias).is_done());
  CHECK(std::ranges::equal(session.variable("head.weight"_s), same_seed.variable("head.weight"_s)));
  REQUIRE(session.load_safetensors(file).is_done());
  CHECK(std::ranges::equal(session.variable("head.weight"_s), whole.variable("head.weight"_s)));

  REQUIRE(session.run("image"_s = x, "label"_s = labels).is_done());
  Bytes saved(session.safetensors_bytes());
  REQUIRE(session.save_safetensors(saved).is_done());
  const auto read = tw::parse_safetensors(saved, "saved");
  CHECK(read.find("base.weight") == nullptr);
  CHECK(equal(read.find("head.weight")->bytes, std::as_bytes(session.variable("head.weight"_s))));
  ReadOnly<adapt_step> again;
  REQUIRE(again.init(1, rom.bytes()).is_done());
  REQUIRE(again.load_safetensors(saved).is_done());
  CHECK(has_equal_variables(again, session));

  whole.variable("base.bias"_s)[11] += 1;
  const RunStatus status = session.load_safetensors(file_of(whole));
  CHECK(status.result == RunResult::unfit_file);
  CHECK(text_of(status) == "load_safetensors: another tensor than that in read-only memory for variable base.bias");
  CHECK(has_equal_variables(again, session));
}
TEST_CASE("files that do not fit are refused, and nothing runs") {
  tw::StaticSession<adapt_step, tw::one_core> whole;
  REQUIRE(whole.init(5).is_done());
  const Bytes file = file_of(whole);
  ReadOnly<adapt_step> session;
  const auto refuses = [&](std::span<const std::byte> bytes, RunResult result, std::string_view text) {
    const RunStatus status = session.init(1, bytes);
    CHECK(status.result == result);
    CHECK(text_of(status).starts_with(text));
    CHECK(session.run("image"_s = x, "label"_s = labels).result == RunResult::not_initialised);
  };
  refuses(std::span(file).first(file.size() - 1), RunResult::unfit_file, "load_safetensors: data_offsets outside of the file");
  Bytes moved(file.size() + 64);
  const std::size_t odd = 64 - reinterpret_cast<std::uintptr_t>(moved.data()) % 64 + 2;
  std::memcpy(moved.data() + odd, file.data(), file.size());
  refuses(std::span(moved).subspan(odd, file.size()), RunResult::misaligned_memory,
          "init: a file whose elements are not aligned: one at a multiple of 8 bytes expected, for variable base.");
  tw::StaticSession<test_step, tw::one_core> renamed;
  REQUIRE(renamed.init(5).is_done());
  Bytes other = file_of(renamed);
  const auto at = std::ranges::search(other, std::as_bytes(std::span("base.bias").first<9>()));
  std::memcpy(at.data(), "base.bi_s", 9);
  refuses(other, RunResult::unfit_file, "load_safetensors: no tensor for variable base.bias");
}
TEST_CASE("results are not written over variables in read-only memory") {
  std::array<float, 48> values{};
  std::array<float, 12> more{};
  ReadOnly<adapt_step> session;
  REQUIRE(session.init(1, "base.weight"_s = values, "base.bias"_s = more).is_done());
  const RunStatus status = session.run("image"_s = x, "label"_s = labels, "loss"_s = std::span(more).last<1>());
  CHECK(status.result == RunResult::shared_memory);
  CHECK(more[11] == 0);
  CHECK(session.run("image"_s = std::span(values).first<24>(), "label"_s = labels).is_done());  // an input may be one
}

namespace {
/// Two programs, one with arguments and no streams, and one with streams and no calls.
constexpr void nine_arguments(Ir& ir) {
  const Tensor a = variable(ir, "a", {2}), b = variable(ir, "b", {2});
  const auto sum = ir.create_graph(
      [](tw::TensorByRef r, Tensor s, Tensor t, Tensor u, Tensor v, Tensor w) { ops::scaled_add_(r, s + t * u - v / w); }, a, b,
      b, b, b, b);
  for (int i = 0; i < 2; ++i) tw::call(sum, {a, b, b * 2, b * 3, b * 4, b + 1});
}
constexpr void many_streams(Ir& ir) {
  Tensor sum = variable(ir, "b", {2});
  for (const auto name : {"0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11"}) sum = sum + load(ir, name, {2});
  store("y", sum);
}
}  // namespace

TEST_CASE("pointers of several programs are all in the memory of the object") {
  using Programs = tw::ExportedPrograms<tw::one_core, tw::UnchangedVariables::in_object, nine_arguments, many_streams>;
  constexpr auto bytes = [] {
    std::size_t number = 0;
    const tw::Text facts = Programs::facts();
    for (const char c : facts.view().substr(6)) {
      if (c == '\n') break;
      number = number * 10 + static_cast<std::size_t>(c - '0');
    }
    return number;
  }();
  alignas(64) std::byte memory[bytes + 256];
  std::ranges::fill(memory, std::byte{7});
  float values[12][2] = {}, y[2];
  void* arrays[13];
  for (std::size_t i = 0; i < 12; ++i) arrays[i] = values[i];
  arrays[12] = y;
  REQUIRE(Programs::init(memory, 1, nullptr) == 0);
  CHECK(Programs::run<0>(memory, nullptr, nullptr) == 0);
  CHECK(Programs::run<1>(memory, arrays, nullptr) == 0);
  for (std::size_t i = bytes; i < sizeof memory; ++i) CHECK(memory[i] == std::byte{7});
}
