#pragma once
#include <cstdint>
#include <memory>
#include <string_view>
#include <tilewright/data/text_batches.hpp>
#include <tilewright/session/host_tensor.hpp>
#include <vector>

namespace gpt {

/// Steps of training, whatever program runs them.
class Trainer {
 public:
  Trainer() = default;
  Trainer(const Trainer&) = delete;
  Trainer& operator=(const Trainer&) = delete;
  virtual ~Trainer() = default;

  /// One step on a batch; its mean loss. `step` is the number of steps before it: dropout depends on it.
  virtual float run(const tilewright::data::TextBatch& batch, float rate, std::uint64_t step) = 0;
  /// All variables, of the network and of the optimiser, as Session::host_tensors() gives them.
  virtual std::vector<tilewright::HostTensor> host_tensors() const = 0;
  virtual void load_tensors(const tilewright::HostTensors& tensors, const tilewright::LoadPolicy& policy) = 0;
};

/// Names of variables, with a * for any characters: those of loss scaling, which training in float32 has not; and all that are no
/// weights, with those of optimisers, and with the keys and values that generation remembers.
inline const std::vector<std::string_view> of_loss_scaling{"loss_scaling.*"};
inline const std::vector<std::string_view> no_weights{"optimiser.*", "loss_scaling.*", "*.cache.*"};

/// Makes a trainer, with random weights of a seed. Host threads as SessionOptions has them.
using MakeTrainer = std::unique_ptr<Trainer> (*)(std::uint64_t seed, int threads);

}  // namespace gpt
