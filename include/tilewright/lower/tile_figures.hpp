#pragma once
#include <cstdint>

#include "tilewright/target/operand_banks.hpp"

namespace tilewright::internal {

/// Bytes of code on a tile, by purpose.
struct CodeBytes {
  std::int64_t vertex = 0;  ///< code of vertices, once for each compute set
  std::int64_t state = 0;  ///< each vertex's data about its operands
  std::int64_t exchange = 0;  ///< code that sends and receives
  std::int64_t control = 0;   ///< the order of steps
  constexpr std::int64_t total() const { return vertex + state + exchange + control; }
  constexpr CodeBytes& operator+=(const CodeBytes& other) {
    vertex += other.vertex;
    state += other.state;
    exchange += other.exchange;
    control += other.control;
    return *this;
  }
  constexpr bool operator==(const CodeBytes&) const = default;
};
constexpr const CodeBytes& larger(const CodeBytes& a, const CodeBytes& b) { return a.total() < b.total() ? b : a; }

/// Data that tiles of a simulated IPU exchange at one time. Bytes and pieces are those of the tile with most of each.
struct TileExchange {
  std::int64_t bytes_in = 0;
  std::int64_t pair_bytes_in = 0;  ///< part of bytes_in that both tiles of a pair receive
  std::int64_t bytes_out = 0;  ///< data for several tiles counts once
  std::int64_t fragments = 0;  ///< contiguous pieces that it receives; after a step, that it sends
  std::int64_t sends = 0;  ///< blocks of which it sends a part; after a step, of which it receives a part
  std::int64_t total_bytes = 0;  ///< received by all tiles together
  constexpr bool is_empty() const { return total_bytes == 0; }
  constexpr TileExchange& operator+=(const TileExchange& other) {
    bytes_in += other.bytes_in;
    pair_bytes_in += other.pair_bytes_in;
    bytes_out += other.bytes_out;
    fragments += other.fragments;
    sends += other.sends;
    total_bytes += other.total_bytes;
    return *this;
  }
};

/// Data that moves for one step of a body.
struct StepMoves {
  TileExchange before{}, after{};
  std::int64_t local_bytes = 0;  ///< copied on a tile for a call: arguments with equal layouts in the called body
  std::int64_t transposed_bytes = 0;  ///< by a tile before a product, see TransposedOperands: whole blocks
  std::int64_t host_in = 0, host_out = 0;  ///< bytes of streams, from the host and to it
  int set = -1;  ///< tiles that run it, in TileSets; -1: those of the bodies that it calls
  int from_set = -1;  ///< of a copy from other tiles: the set whose memory it reads; otherwise -1
  OperandBanks banks = OperandBanks::any;  ///< of its operands, if its cycles depend on them
};

/// Bytes on the fullest tile of a simulated IPU, by purpose.
struct TileMemory {
  std::int64_t variables = 0;  ///< with kept tensors
  std::int64_t constants = 0;
  std::int64_t frame = 0;  ///< of the largest root body: tensors, exchanged slices and scratch in use at the fullest step
  std::int64_t padding = 0;  ///< gaps between blocks of that frame
  CodeBytes code{};  ///< permanent code, and the largest amount that is loaded at a time
  std::int64_t stack = 0;
  std::int64_t reserve = 0;  ///< memory of the run-time system
  constexpr std::int64_t always_live() const { return variables + constants + code.total() + stack + reserve; }
  constexpr std::int64_t total() const { return always_live() + frame + padding; }
  constexpr bool operator==(const TileMemory&) const = default;
};

/// Cycles of a simulated IPU by activity: of a step, each time that it runs, or of a run.
struct CycleUse {
  std::int64_t compute = 0;      ///< of the slowest tile
  std::int64_t exchange = 0;     ///< between tiles of one IPU
  std::int64_t sync = 0;         ///< barriers of all tiles
  std::int64_t host = 0;         ///< streams
  std::int64_t remote = 0;       ///< rows and code, from streaming memory and to it
  std::int64_t collectives = 0;  ///< between replicas
  std::int64_t links = 0;        ///< copies from one IPU of the replica to another
  std::int64_t waiting = 0;      ///< for other IPUs, or for IO tiles
  std::int64_t assumed = 0;  ///< part of all cycles that rests on assumed or recalled numbers
  /// Not cycles: floating-point operations of products, all tiles together. What blocks of images have in common counts twice.
  std::int64_t flops = 0;
  constexpr std::int64_t total() const { return compute + exchange + sync + host + remote + collectives + links + waiting; }
  constexpr bool operator==(const CycleUse&) const = default;
};

}  // namespace tilewright::internal
