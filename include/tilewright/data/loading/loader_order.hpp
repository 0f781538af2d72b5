#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "tilewright/core/built_with.hpp"
#include "tilewright/core/random/random.hpp"
#include "tilewright/data/loader_options.hpp"
#include "tilewright/data/loader_state.hpp"

namespace tilewright::data::detail {

/// The part of a Loader that does not depend on its data set: the order of the samples, and the position in the epochs. `Build`:
/// the options that this code is compiled with, as a part of the names of its functions.
template <class Build>
class LoaderOrder {
 public:
  /// The orders of a data set of `samples` samples. Throws the DataErrors of a Loader for its options.
  LoaderOrder(const LoaderOptions& options, std::size_t samples);

  std::size_t samples() const { return order_.size(); }
  /// Returns a sample of the epoch as its number in the data set.
  std::size_t sample(std::size_t i) const { return order_[i]; }
  std::uint64_t seed() const { return seed_; }
  /// Returns the number of epochs before the current one.
  std::uint64_t epoch() const { return begun_ - 1; }
  /// Returns the number of batches in an epoch.
  std::size_t batches() const;
  /// Returns the number of batches of the current epoch that were handed out.
  std::size_t handed_out() const { return static_cast<std::size_t>(handed_out_); }
  void hand_out(std::size_t batches) { handed_out_ = batches; }

  /// Draws the order of the next epoch, or goes on with the current one after move_to.
  void start_epoch();
  LoaderState state() const;
  /// Throws the DataErrors of Loader::resume.
  void require_equal(const LoaderState& state) const;
  /// Draws the orders of all epochs up to a state.
  void move_to(const LoaderState& state);

 private:
  // Drawing their orders takes hours, and training on them longer than any run: a larger number comes from a broken state.
  static constexpr std::uint64_t most_samples = std::uint64_t{1} << 40;
  void draw_order();

  std::size_t batch_size_;
  bool drops_last_, shuffles_;
  std::uint64_t seed_;
  Random random_;
  std::vector<std::size_t> order_;  // a permutation of the data set's indices
  std::uint64_t begun_ = 0;  // epochs, with the current one
  std::uint64_t handed_out_ = 0;  // batches of the current epoch
  bool resumes_ = false;  // the next pass goes on with the current epoch
};

}  // namespace tilewright::data::detail
