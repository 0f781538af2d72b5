#include <tilewright/checkpoint/best_checkpoint.hpp>
#include <tilewright/checkpoint/task_session.hpp>
#include <tilewright/data/loader.hpp>
#include <tilewright/layers/dropout.hpp>
#include <tilewright/layers/linear.hpp>
#include <tilewright/ops/nn/losses.hpp>
#include <tilewright/profile/write_report.hpp>
#include <tilewright/tilewright.hpp>
#include <tilewright/train/early_stopping.hpp>
#include <tilewright/train/log.hpp>
#include <tilewright/train/minimise.hpp>
#include <tilewright/train/train.hpp>
namespace tw = tilewright;
using namespace tw::literals;
struct Net : tw::Module<Net> {
  BOOST_HANA_DEFINE_STRUCT(Net, (tw::layers::Linear<8>, hidden), (tw::layers::Dropout, dropout), (tw::layers::Linear<10>, head));
  constexpr tw::Tensor build(tw::Tensor x, tw::Tensor seed) { return head(dropout(tw::ops::relu(hidden(x)), seed)); }
  constexpr tw::Tensor build(tw::Tensor x) { return head(dropout(tw::ops::relu(hidden(x)))); }
};
