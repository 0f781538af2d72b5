#pragma once
// What models and graphs are written with, without sessions and planners: a file that includes this alone is traced in half the
// time that tilewright.hpp takes. tilewright/check.hpp checks such a file.
#include "tilewright/core/requirements.hpp"

#include "tilewright/module/create_graph.hpp"
#include "tilewright/module/graph_cache.hpp"
#include "tilewright/ops/collective/replica_sharding.hpp"
#include "tilewright/ops/memory/init_tensors.hpp"
#include "tilewright/ops/memory/named_remote_buffers.hpp"
#include "tilewright/ops/ops.hpp"
#include "tilewright/optim/optim.hpp"
#include "tilewright/program/conditional.hpp"
#include "tilewright/program/instance_grouping.hpp"
#include "tilewright/program/io_tile_exchange.hpp"
#include "tilewright/program/merge_exchange.hpp"
#include "tilewright/program/repeat.hpp"
#include "tilewright/program/replicated_variable.hpp"
#include "tilewright/transform/accumulation.hpp"
#include "tilewright/transform/autodiff.hpp"
#include "tilewright/transform/decompose_sum.hpp"
#include "tilewright/transform/pipeline.hpp"
#include "tilewright/transform/recompute_graph.hpp"
#include "tilewright/version.hpp"
