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
#ifdef CASE_unknown_variable
void read(Session& session) { session.variables()["fc1"_s]["wait"_s]; }
#endif

// CASE unknown_module
// expect: variables: `fc3` is no variable: one of fc1.weight, fc2.weight expected
#ifdef CASE_unknown_module
void read(Session& session) { session.variables()["fc3"_s]["weight"_s]; }
#endif

// CASE unknown_tensor
// expect: get_tensor_data: `weight` is no variable or constant: one of fc1.weight, fc2.weight, table expected
#ifdef CASE_unknown_tensor
void read(Session& session) { session.get_tensor_data("weight"_s); }
#endif

// CASE variables_of_another_session
// expect: write_variable_data: `bias` is no variable: one of fc1.weight, fc2.weight expected
#ifdef CASE_variables_of_another_session
void copy(tw::Session<other_step>& from, Session& to) { to.write_variables_data(from.get_tensors_data()); }
#endif

// CASE intermediate_tensor
// expect: get_tensor_data: `scale_hostload` is no variable or constant: one of fc1.weight, fc2.weight, table expected; other
// tensors can be read if they are stored in a stream
#ifdef CASE_intermediate_tensor
void read(Session& session) { session.get_tensor_data("scale_hostload"_s); }
#endif

// CASE data_of_a_stream
// expect: get_tensor_data: `image` is a stream: one of fc1.weight, fc2.weight, table expected
#ifdef CASE_data_of_a_stream
void read(Session& session) { session.get_tensor_data("image"_s); }
#endif

// CASE no_variables
// expect: get_tensor_data: `x` is a stream: the program has none
#ifdef CASE_no_variables
constexpr void copy(tw::Ir& ir) { tw::ops::host_store(ir.d2h_stream("y", {2}), tw::ops::host_load(ir.h2d_stream("x", {2}))); }
void read(tw::Session<copy>& session) { session.get_tensor_data("x"_s); }
#endif

// CASE write_to_a_constant
// expect: write_variable_data: `table` is a constant: one of fc1.weight, fc2.weight expected
#ifdef CASE_write_to_a_constant
void write(Session& session) { session.write_variable_data("table"_s, std::array{1, 2}); }
#endif

// CASE dtype_of_a_variable
// expect: write_variable_data: `fc1.weight` is int32: (4, 4) float32 expected
#ifdef CASE_dtype_of_a_variable
void write(Session& session, const xt::xtensor<std::int32_t, 2>& values) { session.write_variable_data("fc1.weight"_s, values); }
#endif

// CASE missing_input
// expect: run: no `scale`: each of image, scale expected
#ifdef CASE_missing_input
void test(Session& session, const Images& images) { session.run("image"_s = images); }
#endif

// CASE doubled_input
// expect: run: `image` 2 times: each of image, scale once expected
#ifdef CASE_doubled_input
void test(Session& session, const Images& images) { session.run("image"_s = images, "image"_s = images, "scale"_s = 2); }
#endif

// CASE unknown_input
// expect: run: no stream `images` that the program loads from: image, scale expected
#ifdef CASE_unknown_input
void test(Session& session, const Images& images) { session.run("images"_s = images, "scale"_s = 2); }
#endif

// CASE extra_input
// expect: run: no stream `label` that the program loads from: image, scale expected
#ifdef CASE_extra_input
void test(Session& session, const Images& images) { session.run("image"_s = images, "scale"_s = 2, "label"_s = 3); }
#endif

// CASE unnamed_input
// expect: no match
// expect: NamedArgument
#ifdef CASE_unnamed_input
void test(Session& session, const Images& images) { session.run(images, 2); }
#endif

// CASE dtype_of_an_input
// expect: run: `scale` is float32: () int32 expected
#ifdef CASE_dtype_of_an_input
void test(Session& session, const Images& images) { session.run("image"_s = images, "scale"_s = 2.f); }
#endif

// CASE shape_of_an_input
// expect: run: `image` has shape (2, 5): (2, 4) float32 expected
#ifdef CASE_shape_of_an_input
void test(Session& session, const xt::xtensor_fixed<float, xt::xshape<2, 5>>& images) {
  session.run("image"_s = images, "scale"_s = 2);
}
#endif

// CASE scalar_for_an_array
// expect: run: `image` has shape (): (2, 4) float32 expected
#ifdef CASE_scalar_for_an_array
void test(Session& session) { session.run("image"_s = 1.f, "scale"_s = 2); }
#endif

// CASE no_dtype
// expect: run: `image` is no number or array of numbers: (2, 4) float32 expected
#ifdef CASE_no_dtype
void test(Session& session, const std::vector<long double>& images) { session.run("image"_s = images, "scale"_s = 2); }
#endif

// CASE no_array
// expect: run: `image` is no number or array of numbers: (2, 4) float32 expected
#ifdef CASE_no_array
void test(Session& session) { session.run("image"_s = "digits.png", "scale"_s = 2); }
#endif

// CASE expression
// expect: run: `image` is no number or array of numbers: (2, 4) float32 expected; an expression has no elements in memory, an
// xt::xtensor made of it has
#ifdef CASE_expression
void test(Session& session, const Images& images) { session.run("image"_s = images + images, "scale"_s = 2); }
#endif

// CASE shape_of_a_built_in_array
// expect: run: `image` has shape (2, 5): (2, 4) float32 expected
#ifdef CASE_shape_of_a_built_in_array
void test(Session& session) {
  const float images[2][5]{};
  session.run("image"_s = images, "scale"_s = 2);
}
#endif

// CASE doubles
// expect: run: `image` is float64: (2, 4) float32 expected; 64-bit numbers are not narrowed: convert the array first
#ifdef CASE_doubles
void test(Session& session, const xt::xtensor<double, 2>& images) { session.run("image"_s = images, "scale"_s = 2); }
#endif

// CASE shape_without_transfers
// expect: run: `x` has shape (3,): (4, 3) float32 expected, where 4 is num_host_transfers
#ifdef CASE_shape_without_transfers
constexpr void four_times(tw::Ir& ir) {
  ir.set_num_host_transfers(4);
  tw::ops::host_store(ir.d2h_stream("y", {3}), tw::ops::host_load(ir.h2d_stream("x", {3})));
}
void test(tw::Session<four_times>& session) { session.run("x"_s = xt::xtensor_fixed<float, xt::xshape<3>>()); }
#endif

// CASE shape_without_own_transfers
// expect: run: `x` has shape (3,): (2, 3) float32 expected, where 2 is the number of its transfers in a run
#ifdef CASE_shape_without_own_transfers
constexpr void twice(tw::Ir& ir) {
  const auto x = ir.h2d_stream("x", {3});
  tw::ops::host_store(ir.d2h_stream("y", {3}), tw::ops::host_load(x) + tw::ops::host_load(x));
}
void test(tw::Session<twice>& session) { session.run("x"_s = xt::xtensor_fixed<float, xt::xshape<3>>()); }
#endif

// CASE missing_output
// expect: run_with_outputs: no `outputs`: each of image, scale, outputs expected
#ifdef CASE_missing_output
void test(Session& session, const Images& images) { session.run_with_outputs("image"_s = images, "scale"_s = 2); }
#endif

// CASE output_of_another_name
// expect: run_with_outputs: no stream `loss` that the program uses: image, scale, outputs expected
#ifdef CASE_output_of_another_name
void test(Session& session, const Images& images, Images& loss) {
  session.run_with_outputs("image"_s = images, "scale"_s = 2, "loss"_s = loss);
}
#endif

// CASE output_given_twice
// expect: run_with_outputs: no stream `outputs` that the program loads from: image, scale expected
#ifdef CASE_output_given_twice
void test(Session& session, const Images& images, Images& outputs) {
  auto all = session.create_host_outputs();
  session.run_with_outputs(all, "image"_s = images, "scale"_s = 2, "outputs"_s = outputs);
}
#endif

// CASE output_given_to_run
// expect: run: no stream `outputs` that the program loads from: image, scale expected
#ifdef CASE_output_given_to_run
void test(Session& session, const Images& images, Images& outputs) {
  session.run("image"_s = images, "scale"_s = 2, "outputs"_s = outputs);
}
#endif

// CASE constant_output
// expect: run_with_outputs: `outputs` is const or temporary: an array to fill expected
#ifdef CASE_constant_output
void test(Session& session, const Images& images, const Images& outputs) {
  session.run_with_outputs("image"_s = images, "scale"_s = 2, "outputs"_s = outputs);
}
#endif

// CASE temporary_output
// expect: run_with_outputs: `sum` is const or temporary: an array to fill expected
#ifdef CASE_temporary_output
constexpr void sum(tw::Ir& ir) {
  tw::ops::host_store(ir.d2h_stream("sum", {}), tw::ops::sum(tw::ops::host_load(ir.h2d_stream("x", {2})), 0));
}
void test(tw::Session<sum>& session) { session.run_with_outputs("x"_s = std::array{1.f, 2.f}, "sum"_s = 0.f); }
#endif

// CASE temporary_array_output
// expect: run_with_outputs: `outputs` is const or temporary: an array to fill expected
#ifdef CASE_temporary_array_output
void test(Session& session, const Images& images) {
  session.run_with_outputs("image"_s = images, "scale"_s = 2, "outputs"_s = Images());
}
#endif

// CASE copied_session
// expect: deleted
#ifdef CASE_copied_session
Session test(const Session& session) { return session; }
#endif

// CASE dtype_of_an_output
// expect: run_with_outputs: `outputs` is int32: (2, 4) float32 expected
#ifdef CASE_dtype_of_an_output
void test(Session& session, const Images& images, xt::xtensor<std::int32_t, 2>& outputs) {
  session.run_with_outputs("image"_s = images, "scale"_s = 2, "outputs"_s = outputs);
}
#endif

// CASE shape_of_an_output
// expect: run_with_outputs: `outputs` has shape (2, 5): (2, 4) float32 expected
#ifdef CASE_shape_of_an_output
void test(Session& session, const Images& images, xt::xtensor_fixed<float, xt::xshape<2, 5>>& outputs) {
  session.run_with_outputs("image"_s = images, "scale"_s = 2, "outputs"_s = outputs);
}
#endif

// CASE unknown_host_output
// expect: outputs: no stream `output` to the host: outputs expected
#ifdef CASE_unknown_host_output
void test(Session& session) { session.create_host_outputs()["output"_s]; }
#endif

// CASE unknown_output
// expect: outputs: no stream `output` to the host: outputs expected
#ifdef CASE_unknown_output
void test(Session& session, const Images& images) { session.run("image"_s = images, "scale"_s = 2)["output"_s]; }
#endif
