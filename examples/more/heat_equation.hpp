#pragma once
// The heat equation in two or three dimensions, explicit, as a program for simulated IPUs. Each tile has a block of the body. In
// a step it gets the edges of the blocks beside it, its halos, and nothing else.
#include <cstdint>
#include <tilewright/tilewright.hpp>

#include "heat_ops.hpp"

namespace heat {

/// Steps on a body of random temperatures, on one IPU or several, which share its first axis. Along each axis, the temperature
/// before the body stays 1, and behind it 0.
struct HeatEquation {
  tw::Shape blocks;  ///< of one IPU: at most one for each tile
  tw::Shape block;  ///< shape of a block
  int ipus = 1;
  std::int64_t steps = 1000;  ///< even
  double part = 0.1;  ///< time step times diffusivity, divided by the square of the distance between elements

  /// Returns the shape of an IPU's part of the body.
  constexpr tw::Shape part_of_ipu() const {
    tw::Shape shape = block;
    for (int axis = 0; axis < shape.rank; ++axis) shape[axis] *= blocks[axis];
    return shape;
  }
  /// Returns the bytes of the halos of all blocks.
  constexpr std::int64_t halo_bytes() const {
    std::int64_t elements = 0;
    for (int axis = 0; axis < block.rank; ++axis) elements += 2 * part_of_ipu().nelms() / block[axis];
    return ipus * elements * tw::size_of(tw::float32);
  }
  constexpr void operator()(tw::Ir& ir) const;
};

/// Two steps of all IPUs: from the variables to other memory, and back.
struct TwoSteps : tw::Module<TwoSteps> {
  HeatEquation heat;
  constexpr explicit TwoSteps(const HeatEquation& of) : heat(of) {}

  constexpr void build() {
    Parts now, next;
    for (int ipu = 0; ipu < heat.ipus; ++ipu) {
      const auto device = tw::ipu(ir(), ipu);
      const tw::Text name = tw::text("u", ipu);
      const tw::Shape shape = heat.part_of_ipu();
      now.push_back(in_blocks(add_variable_input(name.view(), tw::normal(0, 1), shape, tw::float32, {.by_ref = true})));
      next.push_back(in_blocks(tw::ops::init(ir(), shape, tw::float32, tw::InitType::undef)));
    }
    step(now, next);
    step(next, now);
  }

 private:
  using Parts = tw::List<tw::Tensor>;  ///< of the body, one for each IPU
  /// The edges of the blocks of a part, by axis.
  struct Edges {
    tw::List<tw::Tensor> first, last;
    constexpr explicit Edges(tw::Tensor part) {
      for (int axis = 0; axis < part.rank() / 2; ++axis) {
        first.push_back(authoring::apply<Edge>({part}, {axis, 0}));
        last.push_back(authoring::apply<Edge>({part}, {axis, 1}));
      }
    }
  };

  /// Returns an alias of a part: its blocks, then the elements of a block.
  constexpr tw::Tensor in_blocks(tw::Tensor x) const {
    tw::Shape shape, order;
    for (int axis = 0; axis < dimensions(); ++axis) shape.push_back(heat.blocks[axis]), shape.push_back(heat.block[axis]);
    for (int first = 0; first < 2; ++first)
      for (int axis = 0; axis < dimensions(); ++axis) order.push_back(2 * axis + first);
    return x.reshape_(shape).transpose_(order);
  }
  /// What an IPU gets from its neighbours: the planes beside its part. Without a neighbour, it is the rim.
  struct Planes {
    tw::Tensor before, behind;
  };
  /// Exchanges the planes between neighbours. All copies of IPUs 0 and 1, 2 and 3, ... are side by side, then those of 1 and 2,
  /// ... In the order of the IPUs, each copy would wait for the one before.
  constexpr tw::List<Planes> exchange(const tw::List<Edges>& edges) {
    tw::List<Planes> planes;
    for (int ipu = 0; ipu < heat.ipus; ++ipu) {
      const auto device = tw::ipu(ir(), ipu);
      planes.push_back({rim(0, 1), rim(0, 0)});
    }
    for (int first = 0; first < 2; ++first)
      for (int ipu = first; ipu + 1 < heat.ipus; ipu += 2) {
        planes[ipu + 1].before = tw::ops::slice(edges[ipu].last[0], -1).copy_to_ipu(ipu + 1);
        planes[ipu].behind = tw::ops::slice(edges[ipu + 1].first[0], 0, 1).copy_to_ipu(ipu);
      }
    return planes;
  }
  constexpr void step(const Parts& now, const Parts& next) {
    tw::List<Edges> edges;  // of all IPUs, before any moves to another
    for (const tw::Tensor part : now) edges.push_back(Edges(part));
    const tw::List<Planes> planes = exchange(edges);
    for (int ipu = 0; ipu < heat.ipus; ++ipu) {
      const auto device = tw::ipu(ir(), ipu);
      tw::List<tw::Tensor> inputs = {next[ipu], now[ipu]};
      for (int axis = 0; axis < dimensions(); ++axis) {
        const auto [before, behind] = axis == 0 ? planes[ipu] : Planes{rim(axis, 1), rim(axis, 0)};
        inputs.push_back(halos(before, edges[ipu].last[axis], 0, axis));
        inputs.push_back(halos(behind, edges[ipu].first[axis], 1, axis));
      }
      if (dimensions() == 2) authoring::apply_all<Diffuse<2>>(ir(), inputs, {heat.part});
      else authoring::apply_all<Diffuse<3>>(ir(), inputs, {heat.part});
    }
  }
  /// Returns the halos of all blocks on one side along an axis: the edges of the blocks from number `first`, without one, and the
  /// plane at that end of the body. Each is for the block that has its place among the blocks.
  constexpr tw::Tensor halos(tw::Tensor plane, tw::Tensor edges, int first, int axis) const {
    const std::int64_t blocks = heat.blocks[axis];
    if (blocks == 1) return plane;
    const tw::Tensor inner = tw::ops::slice(edges, first, first + blocks - 1, {}, {axis});
    if (first == 0) return tw::ops::concat({plane, inner}, axis);
    return tw::ops::concat({inner, plane}, axis);
  }
  /// Returns what is beside the body, as the edges of one more row of blocks along an axis.
  constexpr tw::Tensor rim(int axis, double temperature) {
    tw::Shape shape = heat.blocks;
    for (int other = 0; other < dimensions(); ++other) shape.push_back(heat.block[other]);
    shape[axis] = shape[dimensions() + axis] = 1;
    return ir().constant({temperature}, shape);
  }
  constexpr int dimensions() const { return heat.block.rank; }
};

constexpr void HeatEquation::operator()(tw::Ir& ir) const {
  const auto [factories, graph] = tw::create_graph(ir, TwoSteps(*this));
  tw::repeat(graph.bind(factories.init()), steps / 2);
}

}  // namespace heat
