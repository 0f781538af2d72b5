// labels: clang
// Names and arrays that do not fit a session's program.
#include <array>
#include <tilewright/tilewright.hpp>

namespace tw = tilewright;
using namespace tw::literals;

struct Linear : tw::Module<Linear> {
  constexpr tw::Tensor build(tw::Tensor x) { return x.matmul(add_variable_input("weight", tw::zeros(), {4, 4})); }
};
struct Net : tw::Module<Net> {
  BOOST_HANA_DEFINE_STRUCT(Net, (Linear, fc1), (Linear, fc2));
  constexpr tw::Tensor build(tw::Tensor x) { return fc2(fc1(x)); }
};
constexpr void test_step(tw::Ir& ir) {
  ir.constant({1, 2}, {2}, tw::int32, "table");
  const auto images = tw::ops::host_load(ir.h2d_stream("image", {2, 4}));
  const auto scale = tw::ops::host_load(ir.h2d_stream("scale", {}, tw::int32));
  const auto [factories, forward] = tw::create_graph(Net{}, images);
  const tw::Tensor outputs = forward.bind(factories.init()).call(images) * scale.cast(tw::float32);
  tw::ops::host_store(ir.d2h_stream("outputs", outputs.spec()), outputs);
}
using Session = tw::Session<test_step>;
using Images = xt::xtensor_fixed<float, xt::xshape<2, 4>>;

/// The same with one layer, whose variable is called bias.
constexpr void other_step(tw::Ir& ir) { ir.variable(tw::zeros(), {4}, tw::float32, "bias"); }
/// One of its name, but wider.
constexpr void wider_step(tw::Ir& ir) { ir.variable(tw::zeros(), {4, 5}, tw::float32, "fc1.weight"); }

void run(Session& session, const Images& images) {
  session.run("image"_s = images, "scale"_s = 2)["outputs"_s];
  session.write_variables_data(session.get_tensors_data());
  session.get_tensor_data("table"_s);
  Images outputs;
  session.run_with_outputs("image"_s = images, "scale"_s = 2, "outputs"_s = outputs);
  auto all = session.create_host_outputs();
  session.run_with_outputs(all, "image"_s = images, "scale"_s = 2);
}

// CASE unknown_variable
// expect: variables: `fc1.wait` is no variable: one of fc1.weight, fc2.weight expected
void unknown_variable(Session& session) { session.variables()["fc1"_s]["wait"_s]; }

// CASE unknown_module
// expect: variables: `fc3` is no variable: one of fc1.weight, fc2.weight expected
void unknown_module(Session& session) { session.variables()["fc3"_s]["weight"_s]; }

// CASE unknown_tensor
// expect: get_tensor_data: `weight` is no variable or constant: one of fc1.weight, fc2.weight, table expected
void unknown_tensor(Session& session) { session.get_tensor_data("weight"_s); }

// CASE variables_of_another_session
// expect: write_variable_data: `bias` is no variable: one of fc1.weight, fc2.weight expected
void variables_of_another_session(tw::Session<other_step>& from, Session& to) {
  to.write_variables_data(from.get_tensors_data());
}

// CASE load_from_a_session_without_a_variable
// expect: load_from_session: `fc1.weight` is no variable: one of bias expected
void load_from_a_session_without_a_variable(const tw::Session<other_step>& from, Session& to) { to.load_from_session(from); }

// CASE load_from_a_session_of_another_shape
// expect: load_from_session: `fc1.weight` is (4, 5) float32: (4, 4) float32 expected
void load_from_a_session_of_another_shape(const tw::Session<wider_step>& from, Session& to) { to.load_from_session(from); }

// CASE intermediate_tensor
// expect: get_tensor_data: `scale_hostload` is no variable or constant: one of fc1.weight, fc2.weight, table expected; other
// expect: tensors can be read if they are stored in a stream
void intermediate_tensor(Session& session) { session.get_tensor_data("scale_hostload"_s); }

// CASE data_of_a_stream
// expect: get_tensor_data: `image` is a stream: one of fc1.weight, fc2.weight, table expected
void data_of_a_stream(Session& session) { session.get_tensor_data("image"_s); }

// CASE no_variables
// expect: get_tensor_data: `x` is a stream: the program has none
constexpr void copy(tw::Ir& ir) { tw::ops::host_store(ir.d2h_stream("y", {2}), tw::ops::host_load(ir.h2d_stream("x", {2}))); }
void no_variables(tw::Session<copy>& session) { session.get_tensor_data("x"_s); }

// CASE write_to_a_constant
// expect: write_variable_data: `table` is a constant: one of fc1.weight, fc2.weight expected
void write_to_a_constant(Session& session) { session.write_variable_data("table"_s, std::array{1, 2}); }

// CASE dtype_of_a_variable
// expect: write_variable_data: `fc1.weight` is int32: (4, 4) float32 expected
void dtype_of_a_variable(Session& session, const xt::xtensor<std::int32_t, 2>& values) {
  session.write_variable_data("fc1.weight"_s, values);
}

// CASE profile_without_its_header
// expect: session.profile() needs #include <tilewright/profile/make_profile.hpp>
void profile_without_its_header(const Session& session) { session.profile("forward"); }

// CASE log_figures_without_its_header
// expect: session.log_figures() needs #include <tilewright/profile/figures.hpp>
void log_figures_without_its_header(const Session& session) { session.log_figures(); }

// CASE in_sync_of_no_variable
// expect: in_sync: `table` is a constant: one of fc1.weight, fc2.weight expected
bool in_sync_of_no_variable(const Session& session) { return session.in_sync("table"_s); }

// CASE missing_input
// expect: run: no `scale`: each of image, scale expected
void missing_input(Session& session, const Images& images) { session.run("image"_s = images); }

// CASE doubled_input
// expect: run: `image` 2 times: each of image, scale once expected
void doubled_input(Session& session, const Images& images) { session.run("image"_s = images, "image"_s = images, "scale"_s = 2); }

// CASE unknown_input
// expect: run: no stream `images` that the program loads from: one of image, scale expected
void unknown_input(Session& session, const Images& images) { session.run("images"_s = images, "scale"_s = 2); }

// CASE extra_input
// expect: run: no stream `label` that the program loads from: one of image, scale expected
void extra_input(Session& session, const Images& images) { session.run("image"_s = images, "scale"_s = 2, "label"_s = 3); }

// CASE unnamed_input
// expect: no match
// expect: NamedArgument
void unnamed_input(Session& session, const Images& images) { session.run(images, 2); }

// CASE dtype_of_an_input
// expect: run: `scale` is float32: () int32 expected
void dtype_of_an_input(Session& session, const Images& images) { session.run("image"_s = images, "scale"_s = 2.f); }

// CASE shape_of_an_input
// expect: run: `image` has shape (2, 5): (2, 4) float32 expected
void shape_of_an_input(Session& session, const xt::xtensor_fixed<float, xt::xshape<2, 5>>& images) {
  session.run("image"_s = images, "scale"_s = 2);
}

// CASE scalar_for_an_array
// expect: run: `image` has shape (): (2, 4) float32 expected
void scalar_for_an_array(Session& session) { session.run("image"_s = 1.f, "scale"_s = 2); }

// CASE no_dtype
// expect: run: `image` is no number or array of numbers: (2, 4) float32 expected
void no_dtype(Session& session, const std::vector<long double>& images) { session.run("image"_s = images, "scale"_s = 2); }

// CASE no_array
// expect: run: `image` is no number or array of numbers: (2, 4) float32 expected
void no_array(Session& session) { session.run("image"_s = "digits.png", "scale"_s = 2); }

// CASE expression
// expect: run: `image` is no number or array of numbers: (2, 4) float32 expected; an expression has no elements in memory, an
// expect: xt::xtensor made of it has
void expression(Session& session, const Images& images) { session.run("image"_s = images + images, "scale"_s = 2); }

// CASE shape_of_a_built_in_array
// expect: run: `image` has shape (2, 5): (2, 4) float32 expected
void shape_of_a_built_in_array(Session& session) {
  const float images[2][5]{};
  session.run("image"_s = images, "scale"_s = 2);
}

// CASE doubles
// expect: run: `image` is float64: (2, 4) float32 expected; 64-bit numbers are not narrowed: convert the array first
void doubles(Session& session, const xt::xtensor<double, 2>& images) { session.run("image"_s = images, "scale"_s = 2); }

// CASE shape_without_transfers
// expect: run: `x` has shape (3,): (4, 3) float32 expected, where 4 is num_host_transfers
constexpr void four_times(tw::Ir& ir) {
  ir.set_num_host_transfers(4);
  tw::ops::host_store(ir.d2h_stream("y", {3}), tw::ops::host_load(ir.h2d_stream("x", {3})));
}
void shape_without_transfers(tw::Session<four_times>& session) { session.run("x"_s = xt::xtensor_fixed<float, xt::xshape<3>>()); }

// CASE shape_without_own_transfers
// expect: run: `x` has shape (3,): (2, 3) float32 expected, where 2 is the number of transfers of this stream in a run
constexpr void twice(tw::Ir& ir) {
  const auto x = ir.h2d_stream("x", {3});
  tw::ops::host_store(ir.d2h_stream("y", {3}), tw::ops::host_load(x) + tw::ops::host_load(x));
}
void shape_without_own_transfers(tw::Session<twice>& session) { session.run("x"_s = xt::xtensor_fixed<float, xt::xshape<3>>()); }

// CASE missing_output
// expect: run_with_outputs: no `outputs`: each of image, scale, outputs expected
void missing_output(Session& session, const Images& images) { session.run_with_outputs("image"_s = images, "scale"_s = 2); }

// CASE output_of_another_name
// expect: run_with_outputs: no stream `loss` that the program uses: one of image, scale, outputs expected
void output_of_another_name(Session& session, const Images& images, Images& loss) {
  session.run_with_outputs("image"_s = images, "scale"_s = 2, "loss"_s = loss);
}

// CASE output_given_twice
// expect: run_with_outputs: no stream `outputs` that the program loads from: one of image, scale expected
void output_given_twice(Session& session, const Images& images, Images& outputs) {
  auto all = session.create_host_outputs();
  session.run_with_outputs(all, "image"_s = images, "scale"_s = 2, "outputs"_s = outputs);
}

// CASE output_given_to_run
// expect: run: no stream `outputs` that the program loads from: one of image, scale expected
void output_given_to_run(Session& session, const Images& images, Images& outputs) {
  session.run("image"_s = images, "scale"_s = 2, "outputs"_s = outputs);
}

// CASE constant_output
// expect: run_with_outputs: `outputs` is const or temporary: an array to fill expected
void constant_output(Session& session, const Images& images, const Images& outputs) {
  session.run_with_outputs("image"_s = images, "scale"_s = 2, "outputs"_s = outputs);
}

// CASE temporary_output
// expect: run_with_outputs: `sum` is const or temporary: an array to fill expected
constexpr void sum(tw::Ir& ir) {
  tw::ops::host_store(ir.d2h_stream("sum", {}), tw::ops::sum(tw::ops::host_load(ir.h2d_stream("x", {2})), 0));
}
void temporary_output(tw::Session<sum>& session) { session.run_with_outputs("x"_s = std::array{1.f, 2.f}, "sum"_s = 0.f); }

// CASE temporary_array_output
// expect: run_with_outputs: `outputs` is const or temporary: an array to fill expected
void temporary_array_output(Session& session, const Images& images) {
  session.run_with_outputs("image"_s = images, "scale"_s = 2, "outputs"_s = Images());
}

// CASE strict_without_its_header
// expect: strict: #include <tilewright/execute/strict_executor.hpp> before its use expected
void strict_without_its_header() { tw::Session<test_step, tw::ipu_model> session({.strict = true}); }

// CASE copied_session
// expect: deleted
Session copied_session(const Session& session) { return session; }

// CASE dtype_of_an_output
// expect: run_with_outputs: `outputs` is int32: (2, 4) float32 expected
void dtype_of_an_output(Session& session, const Images& images, xt::xtensor<std::int32_t, 2>& outputs) {
  session.run_with_outputs("image"_s = images, "scale"_s = 2, "outputs"_s = outputs);
}

// CASE shape_of_an_output
// expect: run_with_outputs: `outputs` has shape (2, 5): (2, 4) float32 expected
void shape_of_an_output(Session& session, const Images& images, xt::xtensor_fixed<float, xt::xshape<2, 5>>& outputs) {
  session.run_with_outputs("image"_s = images, "scale"_s = 2, "outputs"_s = outputs);
}

// CASE unknown_host_output
// expect: outputs: no stream `output` to the host: `outputs` expected
void unknown_host_output(Session& session) { session.create_host_outputs()["output"_s]; }

// CASE unknown_output
// expect: outputs: no stream `logits` to the host: `outputs` expected
void unknown_output(Session& session, const Images& images) { session.run("image"_s = images, "scale"_s = 2)["logits"_s]; }
