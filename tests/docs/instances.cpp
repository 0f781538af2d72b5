#include <tilewright/data/mnist.hpp>
#include <tilewright/distributed/checkpoints.hpp>
#include <tilewright/distributed/distributed.hpp>
#include <tilewright/train/loop.hpp>
namespace ops = tw::ops;
namespace collectives = tw::ops::collectives;
// the block
