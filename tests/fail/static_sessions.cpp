// labels: clang
// Programs that a StaticSession cannot run, and names and arrays that do not fit its program.
#include <array>
#include <span>
#include <tilewright/session/one_object/exported_programs.hpp>
#include <tilewright/session/static_session.hpp>
#include <tilewright/tilewright.hpp>

namespace tw = tilewright;
using namespace tw::literals;

constexpr void step(tw::Ir& ir) {
  const auto x = tw::ops::host_load(ir.h2d_stream("x", {4}));
  const auto w = ir.variable(tw::zeros(), {4}, tw::float32, "weight");
  tw::ops::host_store(ir.d2h_stream("y", {4}), x + w);
}
using One = tw::StaticSession<step>;

// CASE several_replicas
// expect: StaticSession: 4 replicas: one expected
constexpr void replicated(tw::Ir& ir) {
  ir.set_replication_factor(4);
  ir.variable(tw::zeros(), {4}, tw::float32, "w");
}
tw::StaticSession<replicated> several_replicas;

// CASE simulated_ipu
// expect: StaticSession: a simulated IPU: a target of the host, such as tw::one_core, expected
tw::StaticSession<step, tw::ipu_model> simulated_ipu;

// CASE prints
// expect: StaticSession: print_tensor or print_text: a program that prints nothing expected; streams give tensors out
constexpr void printing(tw::Ir& ir) { tw::ops::print_tensor(tw::ops::host_load(ir.h2d_stream("x", {4}))); }
tw::StaticSession<printing> prints;

// CASE rows_in_a_file
// expect: StaticSession: mapped buffer `rows`: a remote buffer in memory expected
constexpr void mapped(tw::Ir& ir) {
  const auto rows = tw::mapped_buffer(ir, "rows", {4}, tw::float32, 100);
  tw::ops::host_store(ir.d2h_stream("y", {4}), tw::ops::remote_load(rows, 0));
}
tw::StaticSession<mapped> rows_in_a_file;

// CASE unknown_stream
// expect: stream: no stream `image` that the program uses: one of x, y expected
void unknown_stream(One& one) { one.stream("image"_s); }

// CASE unknown_array
// expect: run: no stream `image` that the program uses: one of x, y expected
void unknown_array(One& one, std::array<float, 4>& x) { static_cast<void>(one.run("image"_s = x)); }

// CASE unknown_variable
// expect: variable: `bias` is no variable: one of weight expected
void unknown_variable(One& one) { one.variable("bias"_s); }

// CASE array_of_another_size
// expect: run: `x` with 5 elements: (4,) float32, as a span or array of 4 elements, expected
void array_of_another_size(One& one, std::array<float, 5>& x) { static_cast<void>(one.run("x"_s = x)); }

// CASE array_of_another_dtype
// expect: run: `x` with an array of another dtype: (4,) float32, as a span or array of 4 elements, expected
void array_of_another_dtype(One& one, std::array<double, 4>& x) { static_cast<void>(one.run("x"_s = x)); }

// CASE array_without_a_size
// expect: run: `x` with an array without a constant size: (4,) float32, as a span or array of 4 elements, expected
void array_without_a_size(One& one, std::span<float> x) { static_cast<void>(one.run("x"_s = x)); }

// CASE constant_result
// expect: run: `y` with an array of constants: (4,) float32, as a span or array of 4 elements, expected
void constant_result(One& one, const std::array<float, 4>& y) { static_cast<void>(one.run("y"_s = y)); }

// CASE without_a_given_value
// expect: init: none for variable `scale`: (3,) float32 expected
constexpr void scaled(tw::Ir& ir) { ir.variable(tw::given(), {3}, tw::float32, "scale"); }
void without_a_given_value(tw::StaticSession<scaled>& one) { static_cast<void>(one.init()); }

// CASE load_from_a_session_without_a_variable
// expect: load_from_session: `scale` is no variable: one of weight expected
void load_from_a_session_without_a_variable(const One& from, tw::StaticSession<scaled>& to) {
  static_cast<void>(to.load_from_session(from));
}

// CASE read_only_without_an_array
// expect: init: none for variable `weight` in read-only memory: (4,) float32 expected
using ReadOnly = tw::StaticSession<step, tw::cpu, tw::UnchangedVariables::read_only>;
void read_only_without_an_array(ReadOnly& one) { static_cast<void>(one.init(1)); }

// CASE read_only_of_a_temporary_array
// expect: init: a temporary array for a variable in read-only memory: one that lasts as long as the session expected
void read_only_of_a_temporary_array(ReadOnly& one) { static_cast<void>(one.init(1, "weight"_s = std::array<float, 4>{})); }

// CASE file_without_a_given_value
// expect: init: none for variable `scale`: (3,) float32 expected
constexpr void changes_scale(tw::Ir& ir) { tw::ops::add_(ir.variable(tw::given(), {3}, tw::float32, "scale"), ir.constant(1.0)); }
using Scaled = tw::StaticSession<changes_scale, tw::cpu, tw::UnchangedVariables::read_only>;
void file_without_a_given_value(Scaled& one, std::span<const std::byte> file) { static_cast<void>(one.init(1, file)); }

// CASE read_only_is_copied
// expect: load_from_session: variable `weight` is in read-only memory: UnchangedVariables::in_object expected
void read_only_is_copied(ReadOnly& to, const One& from) { static_cast<void>(to.load_from_session(from)); }

// CASE exported_without_a_given_value
// expect: export: variable `scale` of given(): another initialiser, such as zeros(), expected; programs in C
// expect: write the variable after init
int exported_without_a_given_value(void* memory) {
  return tw::ExportedPrograms<tw::cpu, tw::UnchangedVariables::in_object, scaled>::init(memory, 1, nullptr);
}

// CASE shared_variable_of_two_shapes
// expect-in-source: TraceError(text("programs: variable '", name, "' is ", to_text(T::variables[v].spec), " and "
constexpr void wider(tw::Ir& ir) { ir.variable(tw::zeros(), {5}, tw::float32, "weight"); }
int shared_variable_of_two_shapes(void* memory) {
  return tw::ExportedPrograms<tw::cpu, tw::UnchangedVariables::in_object, step, wider>::init(memory, 1, nullptr);
}
