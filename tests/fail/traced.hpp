#pragma once
#include <tilewright/tilewright.hpp>

namespace tw = tilewright;
namespace ops = tw::ops;
using tw::Ir, tw::Shape, tw::Tensor;

/// A program, a function of an Ir, traced and planned as a session has it. The errors are those of a session.
template <auto program>
struct Traced {
  char errors[sizeof(tw::Program<program>::errors)];
};

template <auto function>
struct Layer : tw::Module<Layer<function>> {
  constexpr auto build(Tensor x) { return function(x); }
};
template <auto function>
struct Net : tw::Module<Net<function>> {
  BOOST_HANA_DEFINE_STRUCT(Net, (Layer<function>, layer));
  constexpr auto build(Tensor x) { return layer(x); }
};
template <Shape shape, auto function>
constexpr void program_of_net(Ir& ir) {
  tw::create_graph(Net<function>{}, ops::host_load(ir.h2d_stream("x", shape)));
}
/// A program with a function of a float32 tensor of the shape, which is the module Net/layer.
template <Shape shape, auto function>
using InNet = Traced<program_of_net<shape, function>>;

/// Another tensor of x's graph.
constexpr Tensor tensor(Tensor x, const Shape& shape, tw::DType dtype = tw::float32) { return ops::init(x.ir(), shape, dtype); }
