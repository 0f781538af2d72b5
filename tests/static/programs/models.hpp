#pragma once
// The tests use the tutorial's models.
#include "../../../examples/tutorial/net.hpp"
