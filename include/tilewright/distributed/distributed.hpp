#pragma once
// Programs whose replicas are in several processes; it needs MPI. Not in tilewright.hpp.
#include "tilewright/core/requirements.hpp"

#include "tilewright/distributed/session.hpp"
#include "tilewright/distributed/shard.hpp"
