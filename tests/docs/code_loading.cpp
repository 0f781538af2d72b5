namespace ops = tw::ops;
constexpr int batch = 8, features = 16;
struct Project : tw::Module<Project> {
  constexpr tw::Tensor build(tw::Tensor x) { return x.matmul(add_variable_input("weight", tw::zeros(), {features, features})); }
};
constexpr void program(tw::Ir& ir) {
  tw::Tensor x = ops::host_load(ir.h2d_stream("x", {batch, features}));
  const auto [factories, project] = tw::create_graph(Project{}, x);
  const auto bound = project.bind(factories.init());
  struct Normalise {
    tw::Graph of;
    constexpr tw::Graph graph() const { return of; }
    constexpr tw::Tensor call(tw::Tensor y) const { return tw::call(of, {y})[0]; }
  };
  const Normalise normalise{ir.create_graph([](tw::Tensor y) { return ops::softmax(y, -1); }, x)};
// the block
  ops::host_store(ir.d2h_stream("y", x.spec()), x);
}
