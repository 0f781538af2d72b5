#pragma once
// Everything a user needs, in one include.
#include "tilewright/graph/conditional.hpp"
#include "tilewright/graph/repeat.hpp"
#include "tilewright/lower/print_plan.hpp"
#include "tilewright/module/create_graph.hpp"
#include "tilewright/module/graph_cache.hpp"
#include "tilewright/ops/ops.hpp"
#include "tilewright/optim/optim.hpp"
#include "tilewright/session/session.hpp"
#include "tilewright/transform/accumulation.hpp"
#include "tilewright/transform/autodiff.hpp"
#include "tilewright/transform/recompute_graph.hpp"
