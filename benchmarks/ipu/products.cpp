// What square products of matrices take on the models of IPUs, as Markdown. Nothing runs: all figures are the planner's. `./dev
// bench fidelity` has products beside measurements.
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>
#include <tilewright/lower/products/product_partition.hpp>

namespace tw = tilewright;
using std::int64_t;

namespace {

struct Kind {
  std::string_view name;
  tw::DType dtype, partials;
};
constexpr Kind kinds[] = {{"float16", tw::float16, tw::float16},
                          {"float16, sums in float32", tw::float16, tw::float32},
                          {"float32", tw::float32, tw::float32}};

struct Machine {
  std::string_view name;
  const tw::Target& target;
};
constexpr Machine machines[] = {{"gc2", tw::gc2}, {"gc200", tw::gc200}, {"bow", tw::bow}};

void print_row(const Machine& machine, const Kind& kind, int64_t size) {
  const tw::Target& target = machine.target;
  const int64_t bytes = tw::size_of(kind.dtype), memory = target.tiles * target.bytes_per_tile;
  if (3 * size * size * bytes > memory / 10 * 8) return;  // operands and result alone would fill the machine
  const auto part = tw::internal::partition_product({.rows = size,
                                                     .inner = size,
                                                     .columns = size,
                                                     .element_bytes = bytes,
                                                     .partial_bytes = tw::size_of(kind.partials),
                                                     .output_bytes = bytes},
                                                    tw::internal::product_machine(target));
  const int64_t barriers = part.phases() * target.ipu->sync_cycles, cycles = part.cycles.total() + barriers;
  const double flops = 2.0 * static_cast<double>(size) * static_cast<double>(size) * static_cast<double>(size);
  const double rate = flops / target.seconds(cycles), peak = static_cast<double>(target.peak_flops(kind.dtype, kind.partials));
  const auto share = [&](int64_t part_cycles) { return 100 * static_cast<double>(part_cycles) / static_cast<double>(cycles); };
  std::printf(
      "| %s | %s | %lld | %lld | %.1f | %.0f | %lld x %lld x %lld, %lld | %lld x %lld x %lld | %.0f / %.0f / %.0f / %.0f |\n",
      std::string(machine.name).c_str(), std::string(kind.name).c_str(), static_cast<long long>(size),
      static_cast<long long>(cycles), rate / 1e12, 100 * rate / peak, static_cast<long long>(part.row_parts),
      static_cast<long long>(part.column_parts), static_cast<long long>(part.inner_parts), static_cast<long long>(part.slices()),
      static_cast<long long>(part.tile_rows), static_cast<long long>(part.tile_inner), static_cast<long long>(part.tile_columns),
      share(part.cycles.compute), share(part.cycles.inputs + part.cycles.weights + part.cycles.partials),
      share(part.cycles.reduction + part.cycles.slices), share(barriers));
}

}  // namespace

int main() {
  std::puts(
      "| target | dtype | size | cycles | Tflop/s | % of peak | parts of rows x columns x inner axis, slices | of a tile: "
      "rows x inner axis x columns | % compute / exchange / sums and slices / barriers |");
  std::puts("| --- | --- | --- | --- | --- | --- | --- | --- | --- |");
  for (const Machine& machine : machines)
    for (const Kind& kind : kinds)
      for (const int64_t size : {256, 512, 1024, 2048, 3072, 3584, 4096}) print_row(machine, kind, size);
}
