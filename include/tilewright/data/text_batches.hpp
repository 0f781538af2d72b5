#pragma once
#include "tilewright/core/requirements.hpp"

#include <algorithm>
#include <boost/hana/adapt_struct.hpp>
#include <boost/hana/define_struct.hpp>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tilewright/core/philox.hpp"
#include "tilewright/core/xtensor.hpp"
#include "tilewright/data/data_error.hpp"
#include "tilewright/data/shards.hpp"

namespace tilewright::data {

/// Rows of a text and their targets: targets(r, t) is the token that follows tokens(r, t).
struct TextBatch {
  using Tokens = xt::xtensor<std::int32_t, 2>;
  /// Both (rows, context).
  BOOST_HANA_DEFINE_STRUCT(TextBatch, (Tokens, tokens), (Tokens, targets));
};

struct TextBatchesOptions {
  std::size_t batch_size = 1;  ///< rows of a whole batch, of all shards
  std::size_t context = 1;  ///< tokens of a row
  std::uint64_t seed = 0;  ///< determines all batches, on every platform
  std::size_t shards = 1;  ///< objects that share each batch, as in LoaderOptions
  std::size_t shard = 0;  ///< index of this object's shard
  std::size_t runs = 1;  ///< equal runs of rows in a batch, such as micro-batches; the shards divide each run
};

/// Position of a TextBatches. Another process can continue with the same batches from it.
struct TextBatchesState {
  std::uint64_t seed = 0;  ///< of the batches
  std::uint64_t step = 0;  ///< number of batches before the next
  std::uint64_t batch_size = 0, context = 0, tokens = 0;  ///< of the batches and their text, to detect differences
  bool operator==(const TextBatchesState&) const = default;
};

/// Batches of random crops of a text. The start of a row is uniform over all positions that leave `context` tokens and one more.
/// It depends on seed, step and row only (Philox, see core/philox.hpp), so batches can be made in any order. If the options of
/// several objects differ in `shard` only, the objects return parts of the same batches. The object does not copy the text, which
/// must outlive it. next() does not allocate. For validation, use a separate object with its own seed, and call go_to(0) before
/// each validation.
///
///     tw::data::TextBatches batches(corpus.training, {.batch_size = 12, .context = 64, .seed = 1});
///     for (int step = 0; step < 2000; ++step) {
///       const auto& [tokens, targets] = batches.next();
///       session.run("tokens"_s = tokens, "targets"_s = targets);
///     }
class TextBatches {
 public:
  /// Throws DataError for a text that is too short for a row, batches without tokens, and shards that do not divide all batches.
  TextBatches(std::span<const std::int32_t> text, const TextBatchesOptions& options) : text_(text), options_(options) {
    if (options.batch_size == 0 || options.context == 0 || options.batch_size > most)
      fail("TextBatches",
           "batches of " + std::to_string(options.batch_size) + " x " + std::to_string(options.context) + " tokens",
           "at least 1 x 1, of at most 2^32 - 1 rows,");
    if (text.size() <= options.context || text.size() - options.context > most)
      fail("TextBatches", "a text of " + std::to_string(text.size()) + " tokens for rows of " + std::to_string(options.context),
           "1 to 2^32 - 1 more");
    if (options.runs == 0 || options.shard >= options.shards || !detail::divide(options.shards, options.runs, options.batch_size))
      fail("TextBatches",
           "shard " + std::to_string(options.shard) + " of " + std::to_string(options.shards) + " of batches of " +
               std::to_string(options.batch_size) + " in " + std::to_string(options.runs) + " runs",
           "a batch size that shards times runs divides, and a shard below shards,");
    const std::size_t rows = options.batch_size / options.shards;
    batch_ = detail::with_memory(
        "TextBatches", [&] { return "batches of " + std::to_string(rows) + " x " + std::to_string(options.context) + " tokens"; },
        tilewright::detail::saturated_product({2, rows, options.context, sizeof(std::int32_t)}),
        [&] {
          return TextBatch{TextBatch::Tokens::from_shape({rows, options.context}),
                           TextBatch::Tokens::from_shape({rows, options.context})};
        });
  }
  TextBatches(const std::vector<std::int32_t>&&, const TextBatchesOptions&) = delete;  // the text would not outlive the object

  /// Returns the next batch, or this object's shard of it. The batch is valid until the next call.
  const TextBatch& next() {
    const std::size_t rows = options_.batch_size / options_.shards, run = rows / options_.runs, context = options_.context;
    for (std::size_t i = 0; i < rows; ++i) {
      const auto crop = text_.subspan(begin_of((i / run * options_.shards + options_.shard) * run + i % run), context + 1);
      std::copy_n(crop.begin(), context, batch_.tokens.data() + i * context);
      std::copy_n(crop.begin() + 1, context, batch_.targets.data() + i * context);
    }
    ++step_;
    return batch_;
  }

  /// Returns the number of batches before the next.
  std::uint64_t step() const { return step_; }
  void go_to(std::uint64_t step) { step_ = step; }

  TextBatchesState state() const { return {options_.seed, step_, options_.batch_size, options_.context, text_.size()}; }
  /// Moves to a state of an object with an equal text and equal options; seed and step become those of the state. Throws
  /// DataError, and changes nothing, for a state of an object that differs; the shards may differ.
  void resume(const TextBatchesState& state) {
    const auto require_own = [](std::string_view what, std::uint64_t given, std::uint64_t own) {
      if (given != own) fail("TextBatches::resume", std::string(what) + std::to_string(given), "its own " + std::to_string(own));
    };
    require_own("a batch size of ", state.batch_size, options_.batch_size);
    require_own("a context of ", state.context, options_.context);
    require_own("a number of tokens of ", state.tokens, text_.size());
    options_.seed = state.seed;
    step_ = state.step;
  }

 private:
  static constexpr std::uint64_t most = 0xffffffff;

  [[noreturn]] static void fail(std::string_view function, const std::string& found, const std::string& expected) {
    throw DataError(function, found, expected);
  }
  /// Returns the start of a row of the next batch: the upper part of (a random number of 64 bits) x (number of positions). The
  /// probabilities of two positions differ by at most 2^-64.
  std::size_t begin_of(std::size_t row) const {
    const auto low = [](std::uint64_t value) { return static_cast<std::uint32_t>(value); };
    const PhiloxCounter random = philox({low(row), low(step_), low(step_ >> 32), low(static_cast<std::uint64_t>(use))},
                                        {low(options_.seed), low(options_.seed >> 32)});
    const std::uint64_t places = text_.size() - options_.context;
    return static_cast<std::size_t>((random[0] * places + (random[1] * places >> 32)) >> 32);
  }
  static constexpr auto use = tilewright::detail::PhiloxUse::text_crops;

  std::span<const std::int32_t> text_;
  TextBatchesOptions options_;
  std::uint64_t step_ = 0;
  TextBatch batch_{};
};

}  // namespace tilewright::data

BOOST_HANA_ADAPT_STRUCT(tilewright::data::TextBatchesState, seed, step, batch_size, context, tokens);
