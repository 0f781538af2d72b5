// A run allocates nothing, whatever its number of threads.
#include <atomic>
#include <cstdlib>
#include <new>

#include "../../examples/tutorial/steps.hpp"
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

TEST_CASE("a run allocates nothing") {
  const int threads = GENERATE(0, 1, 2);  // 0: the first runs are measured
  using Session = tw::Session<train_step<Linear<3>, 4, 6>>;
  Session session({.threads = threads});
  const xt::xtensor<float, 2> image = xt::ones<float>({4, 6});
  const xt::xtensor<std::int32_t, 1> label{0, 1, 2, 1};
  float loss = 0;
  allocations = 0;
  counting = true;
  for (int run = 0; run < 100; ++run) loss += session.run("image"_s = image, "label"_s = label)["loss"_s]();
  counting = false;
  auto outputs = session.create_host_outputs();
  counting = true;
  for (int run = 0; run < 20; ++run) {
    session.run_with_outputs("image"_s = image, "label"_s = label, "loss"_s = outputs["loss"_s]);
    session.run_with_outputs(outputs, "image"_s = image, "label"_s = label);
    loss += outputs["loss"_s]();
  }
  counting = false;
  INFO(threads << " threads");
  CHECK(allocations == 0);
  CHECK(loss > 0);
  counting = true;
  Session({.threads = 1});
  counting = false;
  CHECK(allocations > 0);  // the counter works
}
