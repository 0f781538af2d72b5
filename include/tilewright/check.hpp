#pragma once
#include "tilewright/core/requirements.hpp"

#include "tilewright/core/diagnostic.hpp"
#include "tilewright/core/text/constant_text.hpp"
#include "tilewright/transform/trace_for.hpp"

namespace tilewright {

namespace detail {
/// The error of a trace, or an empty text: evaluated once, because compilers ask for a message several times.
template <auto program, Target target>
inline constexpr ConstantText failure_of_trace = [] {
  Ir ir(OnError::record);
  trace_for(target, program, ir);
  ConstantText failure;
  failure.set(ir.failure().view());
  return failure;
}();
template <auto program, Target target>
constexpr const ConstantText& trace_failure() {
  return failure_of_trace<program, target>;
}
/// Fails with the user's call stack if the program is wrong: the trace throws.
template <auto program, Target target>
consteval bool trace_to_error() {
  Ir ir;
  trace_for(target, program, ir);
  return true;
}
template <auto program, Target target, std::size_t failure>
struct TraceErrors {
  static_assert(sizeof(decltype(error_in_pieces<trace_failure<program, target>, failure>(pieces<failure>))) > 0);
  static constexpr auto stack_of_trace = trace_to_error<program, target>();
  static_assert(sizeof(stack_of_trace) > 0);
};
template <auto program, Target target>
struct TraceErrors<program, target, 0> {};
}  // namespace detail

/// Traces a program, and compiles if shapes, dtypes, names and gradients are correct. Errors are those of a session of the
/// program. The check takes a fraction of a session's compile time, because nothing is planned and no kernel is compiled. It does
/// not check that the program fits into a machine's memory; tw::require_fits does.
///
///     #include "net.hpp"  // which includes tilewright/model.hpp
///     #include <tilewright/check.hpp>
///     static_assert(tw::check<train_step>);
template <auto program, Target target = cpu>
inline constexpr bool check = sizeof(detail::TraceErrors<program, target, detail::failure_of_trace<program, target>.size()>) > 0;

}  // namespace tilewright
