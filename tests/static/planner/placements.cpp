// labels: none
// Where ops and tensors are: IPUs, sets of tiles, and the errors of those that do not fit.
#include "../../support/programs.hpp"
#include "../../support/same.hpp"
#include "../programs/models.hpp"

using support::failure, support::variable;
using tw::Graph, tw::Ir, tw::Tensor, tw::Text, tw::TileSet;
namespace ops = tw::ops;

constexpr Text ipus() {
  support::Facts facts;
  Ir ir;
  const Tensor w = variable(ir, "w", {2}), v = variable(ir, "v", {2}), u = variable(ir, "u", {2});
  const Tensor before = ops::exp(w);
  facts.check(w.ipu() == 0 && before.ipu() == 0, "IPU 0 without a scope");
  facts.check(!v.ipu() && !v.tile_set(), "no op has used it");
  Tensor y, inner, on_io;
  {
    const auto second = tw::ipu(ir, 1);
    y = ops::exp(v);
    {
      const auto third = tw::ipu(ir, 2);
      inner = ops::exp(u);
      const auto io = tw::io_tiles(ir);
      on_io = ops::init(ir, {2});
    }
    facts.check(ops::init(ir, {2}).ipu() == 1, "the outer scope is back");
  }
  facts.check(v.ipu() == 1 && y.ipu() == 1 && y.tile_set() == TileSet::compute, "the scope's IPU");
  facts.check(inner.ipu() == 2 && on_io.ipu() == 2 && on_io.tile_set() == TileSet::io, "the innermost scope's");
  facts.check(ops::exp(y).ipu() == 1, "an op without a scope follows its inputs");
  const Tensor copy = y.copy_to_ipu(3);
  facts.check(copy.ipu() == 3 && copy.spec() == y.spec() && y.ipu() == 1, "copy_to_ipu");
  facts.check(ops::io_tile_copy(y).tile_set() == TileSet::io && ops::io_tile_copy(y).ipu() == 1, "io_tile_copy");
  facts.check(ops::io_tile_copy(on_io).tile_set() == TileSet::compute, "io_tile_copy back");
  const Tensor unused = variable(ir, "unused", {2});
  return facts.check(unused.copy_to_ipu(3, 2).ipu() == 3 && unused.ipu() == 2, "copy_to_ipu with a source");
}
TW_SAME(ipus(), "");

/// Graphs, their calls, gradients and caches.
struct Scale : tw::Module<Scale> {
  constexpr Tensor build(Tensor x) { return x * add_variable_input("w", tw::ones(), x.shape()); }
};
constexpr Text graphs() {
  support::Facts facts;
  Ir ir;
  const Tensor x = variable(ir, "x", {2}), z = variable(ir, "z", {2});
  Tensor on_first, on_second;
  tw::GraphCache cache;
  const auto first = cache.create_graph(Scale{}, x);
  const auto variables = first.factories.init("first");
  on_first = first.graph.bind(variables).call(x)[0];
  const auto scope = tw::ipu(ir, 1);
  const auto second = cache.create_graph(Scale{}, z);
  const auto info = tw::autodiff(second.graph).grad_graph_info();
  on_second = second.graph.bind(second.factories.init("second")).call(z)[0];
  facts.check(cache.size() == 2, "a cache keeps IPUs apart");
  facts.check(on_first.ipu() == 0 && variables["w"].ipu() == 0, "a call gives its tensors the graph's IPU");
  facts.check(on_second.ipu() == 1 && z.ipu() == 1, "a graph that is made in a scope");
  return facts.check(info.graph().output(0).ipu() == 1 && info.graph().input(0).ipu() == 1, "a gradient graph");
}
TW_SAME(graphs(), "");
/// The gradient of a copy goes back.
constexpr Text gradient_of_a_copy() {
  support::Facts facts;
  Ir ir;
  const Graph graph = ir.create_graph([](Tensor a) { return ops::exp(ops::exp(a).copy_to_ipu(1)); },
                                      tw::TensorSpec{{2}, tw::float32});
  const auto info = tw::autodiff(graph);
  return facts.check(info.graph().input(0).ipu() == 1 && info.graph().output(0).ipu() == 0, "from IPU 1 to IPU 0");
}
TW_SAME(gradient_of_a_copy(), "");

TW_SAME(failure([](Ir& ir) { const auto scope = tw::ipu(ir, -1); }), "ipu: -1: a number of at least 0 expected");
TW_SAME(failure([](Ir& ir) {
          const Tensor x = ops::exp(variable(ir, "x", {2}));
          const auto second = tw::ipu(ir, 1);
          ops::exp(x);
        }),
        "Exp: Tensor[float32 (2,)] on IPU 0, for an op on IPU 1: a tensor of that IPU, such as copy_to_ipu(1) gives, expected");
TW_SAME(failure([](Ir& ir) {
          const Tensor x = ops::exp(variable(ir, "x", {2}));
          const auto io = tw::io_tiles(ir);
          ops::exp(x);
        }),
        "Exp: Tensor[float32 (2,)] on IPU 0, for an op on IO tiles of IPU 0: a tensor on its tiles, such as io_tile_copy gives, "
        "expected");
TW_SAME(failure([](Ir& ir) { (void)variable(ir, "x", {2}).copy_to_ipu(1); }),
        "ipu_copy: Tensor[x float32 (2,)] is on no IPU yet, as no op has used it: ipu_copy(t, destination, source) expected");
TW_SAME(failure([](Ir& ir) { (void)ops::exp(variable(ir, "x", {2})).copy_to_ipu(1, 2); }),
        "ipu_copy: Tensor[float32 (2,)] is on IPU 0: source 0, not 2, expected");
TW_SAME(failure([](Ir& ir) { (void)ops::exp(variable(ir, "x", {2})).copy_to_ipu(-1); }),
        "ipu_copy: Tensor[float32 (2,)] to IPU -1: a number of at least 0 expected");
TW_SAME(failure([](Ir& ir) {
          const Graph graph = ir.create_graph([](Tensor a) { return ops::exp(a); }, tw::TensorSpec{{2}, tw::float32});
          const auto second = tw::ipu(ir, 1);
          tw::call(graph, ops::exp(variable(ir, "x", {2})));
        }),
        "call of graph_subgraph(0): Tensor[float32 (2,)] on IPU 1 for input 0, which the graph uses on IPU 0: a tensor there "
        "expected");

/// Loads of one exchange on IO tiles.
constexpr Text exchange() {
  support::Facts facts;
  Ir ir;
  const auto a = ir.h2d_stream("a", {2}), b = ir.h2d_stream("b", {2});
  Tensor x, y;
  {
    const auto loads = tw::io_tile_exchange(ir);
    x = ops::host_load(a);
    y = ops::host_load(b);
  }
  facts.check(x.tile_set() == TileSet::io && y.tile_set() == TileSet::io, "on IO tiles");
  facts.check(ir.tables.merged_exchanges.size() == 1, "one exchange");
  const Text printed = tw::print_schedule(ir.main_graph());
  facts.check(printed.view().find("MultiExchange") != printed.view().npos, "printed as one");
  const Tensor z = ops::io_tile_copy(x).copy_to_ipu(1);
  const Text copied = tw::print_schedule(ir.main_graph());
  return facts.check(copied.view().find("{from IPU 0, to IPU 1} on IPU 1") != copied.view().npos && z.ipu() == 1,
                     "where an op runs is printed");
}
TW_SAME(exchange(), "");
TW_SAME(failure([](Ir& ir) {
          const auto stream = ir.h2d_stream("a", {2});
          const auto out = ir.d2h_stream("b", {2});
          const auto both = tw::io_tile_exchange(ir);
          ops::host_store(out, ops::host_load(stream));
        }),
        "merge_exchange: HostStore.101 has to come after HostLoad.100: loads and stores that one exchange can hold expected");
TW_SAME(failure([](Ir& ir) {
          const auto stream = ir.h2d_stream("a", {2});
          const auto loads = tw::io_tile_exchange(ir);
          ops::exp(ops::host_load(stream).reshape({1, 2}));
        }),
        "merge_exchange: Exp.102: a load or a store expected in a scope of these alone");
TW_SAME(failure([](Ir& ir) {
          const Tensor x = variable(ir, "x", {2});
          const auto loads = tw::io_tile_exchange(ir);
          ops::io_tile_copy(x);
        }),
        "merge_exchange: IoTileCopy.100: a load or a store expected in a scope of these alone");
TW_SAME(failure([](Ir& ir) {
          const auto stream = ir.h2d_stream("a", {2});
          const auto loads = tw::io_tile_exchange(ir, false);
          ops::exp(ops::host_load(stream));
        }),
        "");

// ---- pipelines

/// A pipeline of stages that `f` makes, of a variable x.
template <class F>
constexpr Text pipeline_failure(int steps, F f) {
  return failure([&](Ir& ir) {
    const Tensor x = variable(ir, "x", {2});
    auto pipeline = tw::pipelined_execution(ir, steps);
    f(pipeline, x);
  });
}
template <class F>
constexpr Tensor stage(tw::Pipeline& pipeline, int number, F f) {
  const auto scope = pipeline.stage(number);
  return f();
}
TW_SAME(pipeline_failure(4,
                         [](tw::Pipeline& p, Tensor x) {
                           stage(p, 0, [&] { return ops::exp(x); });
                           ops::exp(x);
                         }),
        "pipelined_execution: Exp.101 in no stage: ops in scopes of pipeline.stage(i) expected");
TW_SAME(pipeline_failure(3,
                         [](tw::Pipeline& p, Tensor x) {
                           const Tensor y = stage(p, 0, [&] { return ops::exp(x); });
                           stage(p, 1, [&] { return ops::exp(y); });
                         }),
        "pipelined_execution: 3 steps of 2 stages: at least 4 steps expected");
TW_SAME(pipeline_failure(4, [](tw::Pipeline& p, Tensor x) { stage(p, 1, [&] { return ops::exp(x); }); }),
        "pipelined_execution: no op in stage 0 of 2: at least one op in each stage, counted from 0, expected");
TW_SAME(pipeline_failure(6,
                         [](tw::Pipeline& p, Tensor x) {
                           const Tensor y = stage(p, 0, [&] { return ops::exp(x); });
                           stage(p, 1, [&] { return ops::exp(x); });
                           stage(p, 2, [&] { return ops::exp(y); });
                         }),
        "pipelined_execution: Exp.102 of stage 2 on Tensor[float32 (2,)] of stage 0: what stash_and_restore_tensor gives of it "
        "expected");
TW_SAME(pipeline_failure(4,
                         [](tw::Pipeline& p, Tensor x) {
                           const Tensor y = stage(p, 1, [&] { return ops::exp(x); });
                           stage(p, 0, [&] { return ops::exp(y); });
                         }),
        "pipelined_execution: Exp.101 of stage 0 on Tensor[float32 (2,)] of stage 1: a tensor of an earlier stage expected");
TW_SAME(pipeline_failure(4,
                         [](tw::Pipeline& p, Tensor x) {
                           stage(p, 0, [&] { return ops::add_(x, ops::exp(x)); });
                           stage(p, 1, [&] { return ops::exp(x); });
                         }),
        "pipelined_execution: Exp.102 of stage 1 on Tensor[x float32 (2,)], which stage 0 changes: a tensor that one stage alone "
        "uses expected");
TW_SAME(failure([](Ir& ir) {
          const auto stream = ir.h2d_stream("x", {2});
          auto pipeline = tw::pipelined_execution(ir, 4);
          for (int i = 0; i < 2; ++i) stage(pipeline, i, [&] { return ops::exp(ops::host_load(stream)); });
        }),
        "pipelined_execution: stream 'x' in stages 0 and 1: a stream of one stage expected");
namespace {
struct LoadTwo {
  tw::HostToDeviceStream stream;
  constexpr Tensor operator()(Tensor x) const { return x + ops::host_load(stream); }
};
/// The error of a pipeline of two stages, which get the tensor x and the stream "s".
constexpr Text stream_failure(auto first, auto second) {
  return failure([&](Ir& ir) {
    const auto stream = ir.h2d_stream("s", {2});
    const Tensor x = ir.constant({1, 2}, {2});
    auto pipeline = tw::pipelined_execution(ir, 4);
    stage(pipeline, 0, [&] { return first(stream, x); });
    stage(pipeline, 1, [&] { return second(stream, x); });
  });
}
constexpr auto called = [](tw::HostToDeviceStream stream, Tensor x) {
  return ops::call(x.ir().create_graph(LoadTwo{stream}, x), x)[0];
};
constexpr auto none = [](tw::HostToDeviceStream, Tensor x) { return ops::exp(x); };
/// The same with a remote buffer of two rows.
constexpr Text buffer_failure(auto first, auto second) {
  return failure([&](Ir& ir) {
    const tw::RemoteBuffer buffer = ir.remote_buffer({2}, tw::float32, 2);
    const Tensor x = ir.constant({1, 2}, {2});
    auto pipeline = tw::pipelined_execution(ir, 4);
    stage(pipeline, 0, [&] { return first(buffer, x); });
    stage(pipeline, 1, [&] { return second(buffer, x); });
  });
}
template <int row>
constexpr auto stores = [](tw::RemoteBuffer buffer, Tensor x) { return ops::remote_store(buffer, row, x), x; };
template <int row>
constexpr auto loads = [](tw::RemoteBuffer buffer, Tensor) { return ops::exp(ops::remote_load(buffer, row)); };
}  // namespace
TW_SAME(stream_failure(called, called), "pipelined_execution: stream 's' in stages 0 and 1: a stream of one stage expected");
TW_SAME(stream_failure([](tw::HostToDeviceStream stream, Tensor x) { return called(stream, x) * ops::host_load(stream); }, none),
        "pipelined_execution: stream 's' in stage 0 and in a graph that it calls: one of the two expected");
TW_SAME(buffer_failure(stores<0>, loads<0>),
        "pipelined_execution: remote buffer 1, to which stage 0 stores, in stage 1: rows that one stage alone uses expected");
TW_SAME(buffer_failure(loads<1>, stores<1>),
        "pipelined_execution: remote buffer 1, to which stage 1 stores, in stage 0: rows that one stage alone uses expected");
TW_SAME(buffer_failure(stores<0>, loads<1>), "");
TW_SAME(buffer_failure(loads<0>, loads<0>), "");
TW_SAME(pipeline_failure(4, [](tw::Pipeline& p, Tensor) { stage(p, -1, [] { return Tensor(); }); }),
        "pipeline.stage: -1: a number of at least 0 expected");
TW_SAME(pipeline_failure(4, [](tw::Pipeline& p, Tensor x) { stage(p, 0, [&] { return stage(p, 1, [&] { return x; }); }); }),
        "pipeline.stage: 1 in stage 0: one after the other expected");
TW_SAME(pipeline_failure(4, [](tw::Pipeline& p, Tensor x) { p.stash_and_restore_tensor(x); }),
        "stash_and_restore_tensor: Tensor[x float32 (2,)] in no stage: a scope of pipeline.stage(i) expected");
TW_SAME(pipeline_failure(4, [](tw::Pipeline& p, Tensor x) { stage(p, 1, [&] { return p.stash_and_restore_tensor(x); }); }),
        "stash_and_restore_tensor: Tensor[x float32 (2,)] is made outside of the pipeline: from_stage expected");
TW_SAME(pipeline_failure(4,
                         [](tw::Pipeline& p, Tensor x) {
                           const Tensor y = stage(p, 0, [&] { return ops::exp(x); });
                           stage(p, 1, [&] { return p.stash_and_restore_tensor(y, 1); });
                         }),
        "stash_and_restore_tensor: Tensor[float32 (2,)] of stage 0: from_stage 0, not 1, expected");
TW_SAME(pipeline_failure(4,
                         [](tw::Pipeline& p, Tensor x) {
                           const Tensor y = stage(p, 1, [&] { return ops::exp(x); });
                           stage(p, 0, [&] { return p.stash_and_restore_tensor(y); });
                         }),
        "stash_and_restore_tensor: Tensor[float32 (2,)] of stage 1 in stage 0: a tensor of an earlier stage expected");
TW_SAME(
    failure([](Ir& ir) {
      const Tensor x = variable(ir, "x", {2});
      Tensor y;
      {
        auto pipeline = tw::pipelined_execution(ir, 4);
        y = stage(pipeline, 0, [&] { return ops::exp(x); });
      }
      ops::exp(y);
    }),
    "Exp: Tensor[float32 (2,)] of a scope that has ended, of only_if or of a pipeline: a tensor that its ops change in place, or "
    "a stream, expected");

// ---- collectives between IPUs
constexpr tw::List<Tensor> on_ipus(Ir& ir, int count) {
  tw::List<Tensor> result;
  for (int i = 0; i < count; ++i) {
    const auto device = tw::ipu(ir, i);
    result.push_back(ops::exp(variable(ir, tw::text("x", i).view(), {2})));
  }
  return result;
}
constexpr Text collectives() {
  support::Facts facts;
  Ir ir;
  const auto reduced = ops::collectives::all_reduce(on_ipus(ir, 3), {.op = tw::CollectiveOperator::mean});
  facts.check(reduced.size() == 3, "one result for each");
  for (int i = 0; i < 3; ++i) facts.check(reduced[static_cast<std::size_t>(i)].ipu() == i, "on its IPU");
  return facts.check(reduced[2].spec() == tw::TensorSpec{{2}, tw::float32}, "the same spec");
}
TW_SAME(collectives(), "");
TW_SAME(failure([](Ir& ir) { ops::collectives::all_reduce({variable(ir, "x", {2})}); }),
        "all_reduce: Tensor[x float32 (2,)] is on no IPU yet, as no op has used it: the option ipus expected");
TW_SAME(failure([](Ir& ir) { ops::collectives::all_reduce(on_ipus(ir, 2), {.ipus = {0}}); }),
        "all_reduce: 1 IPUs for 2 tensors: one for each expected");
TW_SAME(failure([](Ir& ir) { ops::collectives::all_reduce(on_ipus(ir, 2), {.ipus = {0, 2}}); }),
        "all_reduce: Tensor[float32 (2,)] is on IPU 1: that IPU, not 2, in the option ipus expected");
TW_SAME(failure([](Ir& ir) {
          const Tensor x = ops::exp(variable(ir, "x", {2}));
          ops::collectives::all_reduce({x, ops::exp(x)});
        }),
        "all_reduce: Tensor[float32 (2,)] is on IPU 0, as another one: tensors on different IPUs expected");
TW_SAME(failure([](Ir& ir) {
          const Tensor x = ops::exp(variable(ir, "x", {2}));
          ops::collectives::all_reduce({x, ops::exp(variable(ir, "y", {3})).copy_to_ipu(1)});
        }),
        "all_reduce: Tensor[float32 (2,)] and Tensor[float32 (3,)]: equal shapes and dtypes expected");
TW_SAME(failure([](Ir& ir) {
          const Tensor x = ops::init(ir, {2}, tw::int8);
          ops::collectives::all_reduce({x});
        }),
        "all_reduce: Tensor[int8 (2,)]: float16, float32, int32 or uint32 expected");
TW_SAME(failure([](Ir& ir) { ops::collectives::all_reduce(on_ipus(ir, 2), {.op = tw::CollectiveOperator::local}); }),
        "all_reduce: `local` between IPUs: an operator that reduces expected");
