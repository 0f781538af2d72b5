// What a session does besides `run`: values of variables go to the device and come back, and outputs go to arrays of the caller.
//
// labels: more
// test:
// expect: a machine called cpu, 1 input: x (4,) float32
// expect: not attached: 1
// expect: attached in the outer context, and after the inner one
// expect: error: run: the session is not attached: a context() or attach() expected
// expect: after two contexts: 5, 2 transfers to the device, 2 to the host
// expect: written: 40, then 42
// expect: five reads, one run: 1 transfer
// expect: products: 1 2 3 4 3 6 9 12 5 10 15 20; sum of the last: 50
// expect: next: 7 and 70
#include <iostream>
#include <span>
#include <tilewright/tilewright.hpp>
#include <vector>

namespace tw = tilewright;
using namespace tw::literals;

/// Stores w x, and then adds `step` to w.
constexpr void program(tw::Ir& ir) {
  const auto x = tw::ops::host_load(ir.h2d_stream("x", {4}));
  const auto w = ir.variable(tw::ones(), {}, tw::float32, "w");
  const auto step = ir.constant({2}, {}, tw::float32, "step");
  const auto product = w * x;
  tw::ops::host_store(ir.d2h_stream("product", product.spec()), product);
  const auto sum = tw::ops::sum(product, 0);
  tw::ops::host_store(ir.d2h_stream("sum", sum.spec()), sum);
  tw::ops::scaled_add_(w, step);
}
using Session = tw::Session<program>;

float w(const Session& session) { return session.get_tensor_data("w"_s)(); }

/// A session that waits for contexts, as those of PopXL do.
void contexts(const std::vector<float>& x) {
  Session session({.attach = false});
  std::cout << "not attached: " << w(session) << '\n';  // the host's copy is there all the same
  {
    const auto outer = session.context();  // to the device
    {
      const auto inner = session.context();  // nothing: the session is attached
      session.run("x"_s = x);
    }
    if (session.is_attached()) std::cout << "attached in the outer context, and after the inner one\n";
  }  // back to the host
  try {
    session.run("x"_s = x);
  } catch (const std::logic_error& error) {
    std::cout << "error: " << error.what() << '\n';
  }
  {
    const auto context = session.context();  // w goes on where it was
    session.run("x"_s = x);
  }
  std::cout << "after two contexts: " << w(session) << ", " << session.transfers().from_host << " transfers to the device, "
            << session.transfers().to_host << " to the host\n";
}

/// Variables come to the host when somebody reads them, all at once.
void laziness(const std::vector<float>& x) {
  Session session;  // attached for as long as it lives
  session.write_variable_data("w"_s, 40.f);
  std::cout << "written: " << w(session);
  session.run("x"_s = x);  // the host's copy is stale now
  std::cout << ", then " << w(session) << '\n';
  for (int i = 0; i < 3; ++i) w(session);
  std::cout << "five reads, one run: " << session.transfers().to_host << " transfer\n";
}

/// The program writes to memory of ours: here each run fills a row of a table.
void own_outputs(const std::vector<float>& x) {
  Session session;
  xt::xtensor<float, 2> table = xt::zeros<float>({3, 4});
  float sum = 0;
  for (std::size_t run = 0; run < 3; ++run)
    session.run_with_outputs("x"_s = x, "product"_s = std::span(&table(run, 0), 4), "sum"_s = sum);
  std::cout << "products:";
  for (const float product : table) std::cout << ' ' << product;
  std::cout << "; sum of the last: " << sum << '\n';

  auto outputs = session.create_host_outputs();  // arrays for all of them
  session.run_with_outputs(outputs, "x"_s = x);
  std::cout << "next: " << outputs["product"_s](0) << " and " << outputs["sum"_s]() << '\n';
}

int main() {
  constexpr auto inputs = Session::expected_inputs();
  std::cout << "a machine called " << Session::device << ", " << inputs.size() << " input: " << inputs[0].name << ' '
            << to_text(inputs[0].spec) << '\n';
  const std::vector<float> x{1, 2, 3, 4};
  contexts(x);
  laziness(x);
  own_outputs(x);
}
