// labels: none
// Programs that need more than tw::require_budget allows. Bytes of stack, and the step that needs most, depend on the width of
// vectors.
#include <tilewright/budget.hpp>
#include <tilewright/layers/linear.hpp>
#include <tilewright/tilewright.hpp>
#include <tilewright/train/step.hpp>

namespace tw = tilewright;

struct Net : tw::Module<Net> {
  BOOST_HANA_DEFINE_STRUCT(Net, (tw::layers::Linear<64>, fc1), (tw::layers::Linear<10>, fc2));
  constexpr tw::Tensor build(tw::Tensor x) { return fc2(tw::ops::gelu(fc1(x))); }
};
constexpr void train_step(tw::Ir& ir) { tw::train::train_step(ir, Net{}, tw::optim::AdamParameters{.lr = 0.05}, {{8, 100}}); }
inline constexpr tw::Target ipu = tw::gc200.with_tiles(16);

// CASE variables
// expect: require_budget: variables 85696 bytes: at most 80000 expected;
// expect: of these optimiser state 57216 (docs/how-to/phases.md#training-in-phases, docs/how-to/sharding.md#sharded-state),
// expect: weights and other variables 28480 (docs/how-to/remote-memory.md#one-variable);
// expect: largest: fc1.weight (100, 64) float32 25600, optimiser.fc1.weight.first_order (100, 64) float32 25600,
// expect: optimiser.fc1.weight.second_order (100, 64) float32 25600;
// expect: most in fc1: 77696
static_assert(tw::require_budget<train_step, tw::cpu, tw::Limits{.variables = 80'000}>());

// CASE frame
// expect: require_budget: frame 4928 bytes: at most 4000 expected; most in the step MatMul [Add];
// expect: CrossEntropyWithGrad; Identity;
// expect: ReduceSum [Accumulate, Accumulate, ScaledAddLhsInplace <AdamUpdater>] in Net_subgraph(0)/fc2:
// expect: activations kept for gradients 4096 (recompute_graph: docs/how-to/micro-batches.md#many-micro-batches-little-memory),
// expect: other tensors 832 (smaller micro-batches: docs/how-to/micro-batches.md#many-micro-batches-little-memory);
// expect: largest: Gelu (8, 64) float32 of Net_subgraph(0) 2048, GeluSlope (8, 64) float32 of Net_subgraph(0) 2048,
// expect: CrossEntropyWithGrad (8, 10) float32 of the main graph 320;
// expect: most in Net_subgraph(0): 4096
static_assert(tw::require_budget<train_step, tw::cpu, tw::Limits{.frame = 4'000}>());

// CASE stack
// expect: require_budget: stack 11
// expect: bytes: at most 9000 expected; of these arrays of kernels
// expect: , of the step MatMul [
// expect: in Net_subgraph(0)
// expect: /fc2 (a thread with more stack: docs/how-to/sessions.md#memory-and-stack), functions 108
static_assert(tw::require_budget<train_step, tw::cpu, tw::Limits{.stack = 9'000}>());

// CASE code
// expect: require_budget: code 12804 bytes: at most 12000 expected;
// expect: of these code of vertices 12480 (one graph for equal layers: docs/how-to/graphs.md#calls),
// expect: state of vertices 224 (fewer vertices: docs/how-it-works/simulated-ipu.md#where-tensors-are),
// expect: control code 100 (docs/how-to/code-loading.md#code-loading); most in the step MatMul [Mul];
// expect: ReduceSum [Accumulate, Accumulate, ScaledAddLhsInplace <AdamUpdater>];
// expect: MatMul [Accumulate, Accumulate, ScaledAddLhsInplace <AdamUpdater>] in Net_subgraph(0)_bwd/fc2: 4380;
// expect: most in Net_subgraph(0)_bwd/fc2: 4380
static_assert(tw::require_budget<train_step, tw::cpu, tw::Limits{.code = 12'000}>());

// CASE host_cycles
// expect: require_budget: cycles of the host, which are not counted: a simulated IPU, such as gc200, expected
static_assert(tw::require_budget<train_step, tw::cpu, tw::Limits{.cycles = 1'000'000}>());

// CASE negative
// expect: require_budget: frame -1: at least 0 expected
static_assert(tw::require_budget<train_step, tw::cpu, tw::Limits{.frame = -1}>());

// CASE frame_and_variables_of_a_tile
// expect: require_budget: variables 6968 bytes on tile 0 of 16: at most 6000 expected;
// expect: of these optimiser state 4656 (docs/how-to/phases.md#training-in-phases, docs/how-to/sharding.md#sharded-state),
// expect: weights and other variables 2312 (docs/how-to/remote-memory.md#one-variable);
// expect: largest: fc1.weight (100, 64) float32 2048, optimiser.fc1.weight.first_order (100, 64) float32 2048,
// expect: optimiser.fc1.weight.second_order (100, 64) float32 2048;
// expect: most in fc1: 6352
// expect: require_budget: frame 34608 bytes on tile 0 of 16: at most 2000 expected;
// expect: most in the step MatMul [GeluGrad];
// expect: ReduceSum [Accumulate, Accumulate, ScaledAddLhsInplace <AdamUpdater>] in Net_subgraph(0)_bwd/fc2:
// expect: received and sent slices 1488 (available_memory_proportion: docs/how-it-works/simulated-ipu.md#where-tensors-are),
// expect: other tensors 624 (smaller micro-batches: docs/how-to/micro-batches.md#many-micro-batches-little-memory),
// expect: gradients 512 (docs/how-it-works/speed.md#gradients-in-the-frame),
// expect: activations kept for gradients 256 (recompute_graph: docs/how-to/micro-batches.md#many-micro-batches-little-memory);
// expect: largest: slices received of fc2.weight (64, 10) float32 of Net_subgraph(0)_bwd/fc2 640,
// expect: slices received of Add (8, 64) float32 of Net_subgraph(0)_bwd/fc2 512, GeluGrad (8,
// expect: 64) float32 of Net_subgraph(0)_bwd 512;
// expect: most in Net_subgraph(0)_bwd/fc2: 1488
static_assert(tw::require_budget<train_step, ipu, tw::Limits{.variables = 6'000, .frame = 2'000}>());

// CASE code_and_cycles_of_a_tile
// expect: require_budget: code 14820 bytes on tile 0 of 16: at most 14000 expected;
// expect: of these code of vertices 13360 (one graph for equal layers: docs/how-to/graphs.md#calls),
// expect: code of exchanges 1020 (docs/how-it-works/simulated-ipu.md#what-is-exchanged),
// expect: state of vertices 256 (fewer vertices: docs/how-it-works/simulated-ipu.md#where-tensors-are),
// expect: control code 184 (docs/how-to/code-loading.md#code-loading); most in the step AdamFactors;
// expect: CrossEntropyWithGrad; Identity;
// expect: ReduceSum [Accumulate, Accumulate, ScaledAddLhsInplace <AdamUpdater>] in Adam_subgraph(3): 3340;
// expect: most in Net_subgraph(0)_bwd/fc2: 4380
// expect: require_budget: cycles 62694: at most 50000 expected;
// expect: of these computation 38114 (docs/how-it-works/simulated-ipu.md#cycles),
// expect: streams 19184 (several micro-batches in a run: docs/how-it-works/simulated-ipu.md#the-report),
// expect: barriers 3150 (docs/how-it-works/simulated-ipu.md#the-report),
// expect: exchange 2246 (docs/how-it-works/simulated-ipu.md#what-is-exchanged);
// expect: most in the step MatMul in Net_subgraph(0)/fc1: 17655; most in Net_subgraph(0)/fc1: 18999
static_assert(tw::require_budget<train_step, ipu, tw::Limits{.code = 14'000, .cycles = 50'000}>());

// CASE memory_of_the_target
// expect: memory: tile 0 of 16 needs 34140 bytes: at most 20000 expected; variables 6968
static_assert(tw::require_budget<train_step, ipu.with_bytes_per_tile(20'000), tw::Limits{.frame = 3'000}>());
