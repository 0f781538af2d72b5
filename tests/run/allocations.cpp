// A run allocates nothing, whatever its number of threads.
#include <atomic>
#include <cstdlib>
#include <new>

#include "../static/models.hpp"
#include "elements.hpp"

namespace {
std::atomic<bool> counting = false;
std::atomic<int> allocations = 0;

void* allocate(std::size_t bytes, std::size_t alignment = alignof(std::max_align_t)) {
  if (counting) ++allocations;
  if (void* memory = std::aligned_alloc(alignment, (bytes + alignment) / alignment * alignment)) return memory;
  throw std::bad_alloc();
}
}  // namespace

void* operator new(std::size_t bytes) { return allocate(bytes); }
void* operator new(std::size_t bytes, std::align_val_t alignment) { return allocate(bytes, static_cast<std::size_t>(alignment)); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }

namespace {

constexpr void train_step(tw::Ir& ir) {
  const auto x = tw::ops::host_load(ir.h2d_stream("x", {4, 6}));
  const auto label = tw::ops::host_load(ir.h2d_stream("label", {4}, tw::int32));
  const auto [factories, forward] = tw::create_graph(Linear<3>{}, x);
  const auto variables = factories.init();
  const auto backward = tw::autodiff(forward);
  const auto call = forward.bind(variables).call_with_info(x);
  const auto [loss, gradient] = tw::ops::cross_entropy_with_grad(call.output(0), label);
  store("loss", loss);
  const auto info = backward.grad_graph_info();
  const auto gradients = info.fwd_parent_ins_to_grad_parent_outs(call, backward.call_with_info({gradient}, info.inputs_dict(call)));
  for (tw::Tensor variable : variables.tensors()) tw::ops::scaled_add_(variable, gradients[variable], {.b = -0.1});
}

}  // namespace

TEST_CASE("a run allocates nothing") {
  const int threads = GENERATE(0, 1, 2);  // 0: the first runs are measured
  tw::Session<train_step> session({.threads = threads});
  const xt::xtensor<float, 2> x = xt::ones<float>({4, 6});
  const xt::xtensor<std::int32_t, 1> label{0, 1, 2, 1};
  float loss = 0;
  allocations = 0;
  counting = true;
  for (int run = 0; run < 100; ++run) loss += session.run("x"_s = x, "label"_s = label)["loss"_s]();
  counting = false;
  INFO(threads << " threads");
  CHECK(allocations == 0);
  CHECK(loss > 0);
  counting = true;
  ::operator delete(::operator new(1));
  counting = false;
  CHECK(allocations == 1);
}
