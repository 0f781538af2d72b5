// labels: none
// A program that does not fit into the memory of a machine that the library does not know.
#include <tilewright/tilewright.hpp>

#include "run/scratchpad/programs.hpp"

using scratchpad::target, scratchpad::train_step;

// CASE small
// expect: memory: the scratchpad needs 151552 bytes for two vertices of a step: at most 131072 expected; 32 vertices of
// expect: 16 x 8 x 784: MatMul, 75776 bytes each, of which 784 x 16 of fc1.weight has 50176
// expect-place: small;
tilewright::Session<train_step, target.with_bytes_per_tile(128 * 1024)> small;
