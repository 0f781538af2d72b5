// What run_gdb.py prints with GDB's pretty printers: values of each type that has one, where `look` is called.
#include <cstdio>
#include <tilewright/model.hpp>

namespace tw = tilewright;

struct Layer : tw::Module<Layer> {
  constexpr tw::Tensor build(tw::Tensor x) {
    const auto weight = add_variable_input("weight", tw::zeros(), {x.shape(-1), 3}, tw::float16);
    return x.matmul(weight.cast(tw::float32));
  }
};
struct Net : tw::Module<Net> {
  BOOST_HANA_DEFINE_STRUCT(Net, (Layer, first), (Layer, second));
  constexpr tw::Tensor build(tw::Tensor x) { return second(first(x)); }
};

[[gnu::noinline]] void look(const tw::Shape& shape, const tw::Shape& vector, const tw::Shape& scalar, const tw::TensorSpec& spec,
                            const tw::Tensor& input, const tw::Tensor& unnamed, const tw::Tensor& invalid,
                            const tw::NamedTensors& variables, const tw::NamedVariableFactories& factories, const tw::Text& text,
                            const tw::List<tw::Shape>& shapes) {
  std::printf("%d %d %d %s %s %s %d %zu %zu %s %zu\n", shape.rank, vector.rank, scalar.rank, to_text(spec).string().c_str(),
              to_text(input).string().c_str(), to_text(unnamed).string().c_str(), invalid.valid(), variables.size(),
              factories.size(), text.string().c_str(), shapes.size());
}

int main() {
  tw::Ir ir;
  const auto x = tw::ops::host_load(ir.h2d_stream("x", {8, 784}));
  const auto [factories, graph] = tw::create_graph(Net{}, x);
  const auto variables = factories.init("net");
  look({8, 784}, {512}, {}, {{2, 3, 4}, tw::boolean}, variables["first.weight"], x, {}, variables, factories, "a \"text\"",
       {{1}, {2, 3}});
}
