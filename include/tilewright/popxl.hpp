#pragma once
// What programs that come from PopXL may use, and tilewright.hpp leaves out. docs/reference/popxl-index.md has a row for each
// name.
#include "tilewright/core/requirements.hpp"

#include "tilewright/core/text/table_text.hpp"
#include "tilewright/core/timer.hpp"
#include "tilewright/graph/dot_checkpoint.hpp"
#include "tilewright/lower/figures/flops.hpp"
#include "tilewright/module/module_list.hpp"
#include "tilewright/ops/collective/distributed_norm.hpp"
#include "tilewright/ops/collective/sharded_loss.hpp"
#include "tilewright/ops/reduce/grad_reduce_square_add.hpp"
#include "tilewright/program/comm_group.hpp"
#include "tilewright/program/instance_grouping.hpp"
#include "tilewright/program/named_streams.hpp"
#include "tilewright/session/array_munging.hpp"
#include "tilewright/session/weights_dict.hpp"
#include "tilewright/tilewright.hpp"
#include "tilewright/transform/batch_serialise_gradients.hpp"
#include "tilewright/transform/decompose_sum.hpp"
#include "tilewright/transform/repeat_graph.hpp"
#include "tilewright/transform/route_tensor.hpp"
