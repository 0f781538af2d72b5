#pragma once
#include "tilewright/core/requirements.hpp"

#include <cstdint>
#include <type_traits>

#include "tilewright/module/create_graph.hpp"
#include "tilewright/ops/elementwise/arithmetic.hpp"
#include "tilewright/ops/elementwise/compare.hpp"
#include "tilewright/ops/index/dynamic_slice.hpp"
#include "tilewright/ops/index/gather.hpp"
#include "tilewright/ops/nn/attention.hpp"
#include "tilewright/ops/reduce/sum.hpp"
#include "tilewright/ops/shape/concat.hpp"
#include "tilewright/ops/shape/shape.hpp"
#include "tilewright/ops/shape/slice.hpp"
#include "tilewright/ops/shape/subscript.hpp"
#include "tilewright/ops/update/accumulate.hpp"
#include "tilewright/program/check_parameter.hpp"

namespace tilewright::layers {

/// Options of KvCache, and of attention layers with a cache, whose options name `length` `cache_length`. `sliding_window` is that
/// of Hugging Face's MistralConfig.
struct KvCacheOptions {
  /// Number of positions whose keys and values are kept for later calls, at least 1: the largest length of a text. A sliding
  /// window up to this number ends this limit
  int length = 0;
  int sliding_window = 0;  ///< number of last keys that a query sees, its own included; 0: all keys

  /// Returns whether a position overwrites the one that has left the window.
  constexpr bool is_ring() const { return sliding_window > 0 && sliding_window <= length; }
  /// Returns the number of positions whose keys and values are kept.
  constexpr int capacity() const { return is_ring() ? sliding_window : length; }
#ifndef slots
  [[deprecated("since 0.2.0: use capacity")]] constexpr int slots() const { return capacity(); }
#endif
};

namespace detail {
/// Returns the row `number` of the first axis, with this axis.
constexpr Tensor row_of(Tensor x, std::int64_t number) { return x[slice(number, number + 1)]; }
/// Returns whether `position` has the position of the last token of each of `batch` texts, or one for all. Fails if not.
constexpr bool check_position(Ir& ir, std::string_view layer, Tensor position, std::int64_t batch) {
  if (!position.is_usable()) return false;
  const bool is_whole = is_int(position.dtype()) && is_signed(position.dtype());
  if (is_whole && position.rank() == 1 && (position.shape(0) == 1 || position.shape(0) == batch)) return true;
  Text shapes("(1,)");
  if (batch > 1) shapes = text("(1,) or (", batch, ",)");
  ir.fail(text(layer, ": position ", to_text(position.spec()), " for ", batch, " texts: signed integers of shape ", shapes,
               " expected"));
  return false;
}
/// Returns whether the options of an attention layer with a cache are valid. Fails if not.
constexpr bool check_cache(Ir& ir, std::string_view layer, const KvCacheOptions& options, bool is_causal) {
  if (!tilewright::detail::check_parameter(ir, layer, "cache_length", options.length) ||
      !tilewright::detail::check_parameter(ir, layer, "sliding_window", options.sliding_window))
    return false;
  if (options.length == 0 || is_causal) return true;
  ir.fail(text(layer, ": cache_length ", options.length, " without is_causal: is_causal = true expected"));
  return false;
}
/// One of the two variables of a cache: (batch, heads, slots, head_dim), of keys or of values.
class KvSlots {
 public:
  constexpr KvSlots(ModuleBase& module, std::string_view name, const Tensor& x, const KvCacheOptions& options)
      : options_(options),
        all_(module.add_variable_input(name, zeros(), {x.shape(0), x.shape(1), options.capacity(), x.shape(3)}, x.dtype(),
                                       {.by_ref = true})) {}

  /// Writes one token of each text and returns all slots. x: (batch, heads, 1, head_dim).
  constexpr Tensor write_token(Tensor x, Tensor position) const {
    Tensor slot = position, all = all_;
    if (options_.is_ring()) slot = position % options_.capacity();
    if (slot.nelms() == 1) return ops::dynamic_update_(all, slot, x, {2}, {1});
    for (std::int64_t row = 0; row < slot.nelms(); ++row) {
      const Tensor number = x.ir().constant(List<double>{static_cast<double>(row)}, {1}, slot.dtype());
      const Tensor begin = ops::concat({number, row_of(slot, row)});
      all = ops::dynamic_update_(all, begin, row_of(x, row), {0, 2}, {1, 1});
    }
    return all;
  }
  /// Writes the tokens of prompts. x: (batch, heads, length, head_dim); position: of the last token of each prompt. A prompt that
  /// is not longer than the cache keeps its padding: steps do not see it, and overwrite it.
  constexpr void write_prompt(Tensor x, Tensor position) const {
    const std::int64_t length = x.shape(2), kept = options_.capacity();
    if (length <= kept) {
      ops::copy_var_update_(ops::slice_(all_, {0}, {length}, {}, {2}), x);
      return;
    }
    // slot s gets the largest position p with p % slots == s that is not after the last token
    const Tensor last = by_text(position);
    const Tensor sources = last - (last - places(position)) % kept;
    if (position.nelms() == 1) ops::copy_var_update_(all_, ops::gather(x, sources.reshape({-1}), 2));
    else ops::copy_var_update_(all_, ops::groupedgather(x, sources, 2, position.nelms()));
  }
  /// Returns which slots have keys of positions up to `position`: (batch, slots) bool.
  constexpr Tensor seen(Tensor position) const {
    const Tensor at = places(position), mask = ops::less_equal(at, by_text(position));
    const Shape all{all_.shape(0), options_.capacity()};
    return mask.shape() == all ? mask : ops::expand(mask, all);
  }

 private:
  /// Returns positions as (batch, 1); one for all texts is unchanged.
  static constexpr Tensor by_text(Tensor position) { return position.nelms() == 1 ? position : position.reshape({-1, 1}); }
  constexpr Tensor places(Tensor position) const {
    return position.ir().constant(range(), {1, options_.capacity()}, position.dtype(), "places");
  }
  KvCacheOptions options_;
  Tensor all_;
};

/// Attention with the variables `keys` and `values` of a module. position: none for a prompt without padding.
constexpr Tensor attend_with_cache(ModuleBase& module, Tensor q, Tensor k, Tensor v, Tensor position,
                                   const KvCacheOptions& options) {
  Ir& ir = module.ir();
  if (!q.is_usable() || !k.is_usable() || !v.is_usable()) return Tensor::invalid(ir);
  if (!tilewright::detail::check_parameter(ir, "KvCache", "length", options.length, 1) ||
      !tilewright::detail::check_parameter(ir, "KvCache", "sliding_window", options.sliding_window))
    return Tensor::invalid(ir);
  if (q.rank() != 4 || k.rank() != 4 || k.shape() != v.shape() || q.shape(2) != k.shape(2))
    return ir.fail(text("KvCache: queries ", to_text(q.spec()), ", keys ", to_text(k.spec()), ", values ", to_text(v.spec()),
                        ": axes (batch, heads, length, head_dim) of one length expected"));
  const std::int64_t length = k.shape(2);
  if (length > options.capacity() && !options.is_ring())
    return ir.fail(text("KvCache: a prompt of ", length, " tokens for a cache of ", options.capacity(), ": at most ",
                        options.capacity(), " expected"));
  const bool is_step = length == 1 && position.valid();
  if (!position.valid()) position = ir.constant(List<double>{static_cast<double>(length - 1)}, {1}, int32, "position");
  if (!check_position(ir, "KvCache", position, k.shape(0))) return Tensor::invalid(ir);
  const KvSlots keys(module, "keys", k, options), values(module, "values", v, options);
  if (is_step) {
    const Tensor all_keys = keys.write_token(k, position), all_values = values.write_token(v, position);
    return ops::scaled_dot_product_attention(q, all_keys, all_values, keys.seen(position));
  }
  keys.write_prompt(k, position);
  values.write_prompt(v, position);
  return ops::scaled_dot_product_attention(q, k, v, {.is_causal = true, .window = options.sliding_window});
}
}  // namespace detail

/// Causal attention to the tokens of this call and to those of earlier calls, whose keys and values it keeps: Hugging Face's
/// StaticCache, or SlidingWindowCache, with the attention that reads it. build(q, k, v) and build(q, k, v, position). q: (batch,
/// heads, length, head_dim); k, v: (batch, kv_heads, length, head_dim), float16, bfloat16 or float32; position: (1,) or (batch,)
/// signed integers, the position of the last token of each text. The result has q's shape and dtype.
///
/// With a length of 1 and a position, the token is at this position. It sees the kept keys of the positions before it. Otherwise
/// the call has a prompt: tokens 0 to length - 1. Those after `position` are padding; without it, there is none. A prompt sees
/// nothing that was kept before. Positions of a text come one after the other.
///
/// With a `sliding_window` of at most `length`, the cache is a ring: the token at a position overwrites the one that has left the
/// window, and a text has no end. Without it, the run throws FaultError for a position of `length` or more. For a negative
/// position it always does. The cache of this text is then unchanged.
///
///     using Cache = tw::layers::KvCache<{.length = 1024}>;  // a member `cache` of a module for attention
///     y = cache(q, k, v, position);
///
/// Variables: `keys` and `values`, (batch, kv_heads, slots, head_dim), of k's dtype and by reference. There are `sliding_window`
/// slots in a ring, otherwise `length`. Initial values are zeros.
///
/// Errors: a length below 1; a negative window; a prompt that is longer than a cache that is no ring; other axes; a position of
/// another shape or dtype.
template <KvCacheOptions options>
struct KvCache : Module<KvCache<options>> {
  constexpr Tensor build(Tensor q, Tensor k, Tensor v, std::same_as<Tensor> auto... position)
    requires(sizeof...(position) <= 1)
  {
    Tensor last;
    if constexpr (sizeof...(position) == 1) last = (position, ...);
    return detail::attend_with_cache(*this, q, k, v, last, options);
  }
};

namespace detail {
/// Member of attention layers without a cache.
struct NoKvCache {};
/// Member `cache` of attention layers.
template <KvCacheOptions options>
using CacheMember = std::conditional_t<(options.length > 0), KvCache<options>, NoKvCache>;
}  // namespace detail

/// Returns the token at a position of each text, for example the last one of a prompt that is padded. x: (batch, length, width);
/// position: (1,) or (batch,) signed integers. Result: (batch, 1, width), x itself if its length is 1. A position outside of the
/// text is a fault: the run throws FaultError when it ends. Errors: other axes; a position of another shape or dtype.
[[nodiscard]] constexpr Tensor last_token(Tensor x, Tensor position) {
  if (!x.is_usable() || !position.is_usable()) return Tensor::invalid(x.ir());
  if (x.rank() != 3) return x.ir().fail(text("last_token: ", to_text(x.spec()), ": axes (batch, length, width) expected"));
  if (!detail::check_position(x.ir(), "last_token", position, x.shape(0))) return Tensor::invalid(x.ir());
  if (x.shape(1) == 1) return x;
  if (position.nelms() == 1) return ops::dynamic_slice(x, position, {1}, {1});
  List<Tensor> tokens;
  for (std::int64_t row = 0; row < x.shape(0); ++row) {
    const Tensor its_row = detail::row_of(x, row);
    tokens.push_back(ops::dynamic_slice(its_row, detail::row_of(position, row), {1}, {1}));
  }
  return ops::concat({tokens.begin(), tokens.size()});
}

}  // namespace tilewright::layers
