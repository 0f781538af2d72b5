// labels: none
// What a language model computes for one token, in half precision: a row times matrices, one query's attention, a norm.
#include "painted.hpp"

using tw::Ir, tw::Tensor;
namespace ops = tw::ops;

constexpr void program(Ir& ir) {
  const auto matrix = [&](const char* name, std::int64_t rows, std::int64_t columns) {
    return ir.variable(tw::normal(0, 0.02), {rows, columns}, tw::float16, name);
  };
  const auto cache = [&](const char* name) { return ir.variable(tw::normal(0, 1), {1, 8, 1024, 128}, tw::float16, name); };
  const Tensor x = ir.variable(tw::normal(0, 1), {1, 1024}, tw::float16, "x");
  const Tensor q = ops::matmul(x, matrix("query", 1024, 1024)).reshape({1, 8, 1, 128});
  const Tensor mixed = ops::scaled_dot_product_attention(q, cache("keys"), cache("values")).reshape({1, 1024});
  const Tensor hidden = ops::relu(ops::matmul(mixed, matrix("up", 1024, 4096)));
  const Tensor logits = ops::matmul(ops::matmul(hidden, matrix("down", 4096, 1024)),
                                    ops::transpose(matrix("tokens", 5000, 1024)));
  ops::host_store(ir.d2h_stream("logits", logits.spec()), logits);
}

int main() { return check_memory<program>("generation"); }
