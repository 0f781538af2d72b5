// Gives the tests that it is linked to a strict mode.
#include "tilewright/execute/strict_executor.hpp"
