// labels: none
// The library's ops have all members. Programs check only the ops of users, since checks of 260 ops take Clang half a second.
#define TILEWRIGHT_CHECK_ALL_OPS
#include <tilewright/tilewright.hpp>

// What each function of an op applies is checked when the header is read.
static_assert(tilewright::op_info<tilewright::Tan>.name == "Tan");
