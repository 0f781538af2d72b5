#pragma once
// Everything a user needs, in one include.
#include "tilewright/module/create_graph.hpp"
#include "tilewright/module/graph_cache.hpp"
#include "tilewright/module/named_remote_buffers.hpp"
#include "tilewright/ops/ops.hpp"
#include "tilewright/session/session.hpp"
#include "tilewright/transform/autodiff.hpp"
