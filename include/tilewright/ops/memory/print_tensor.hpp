#pragma once
#include <cstdint>
#include <optional>
#include <string_view>

#include "tilewright/core/log/log_level.hpp"
#include "tilewright/core/tensor_format.hpp"
#include "tilewright/op/op.hpp"
#include "tilewright/operand/view.hpp"
#include "tilewright/ops/elementwise/unary.hpp"

namespace tilewright {

/// Options of print_tensor.
struct PrintOptions {
  std::string_view title = "";  ///< at most 64 characters; none: print_<name of the tensor>, or print_<its op>.<number>
  Flag print_self = true;  ///< whether the tensor is printed
  Flag print_gradient = false;  ///< whether its gradient is printed
  std::int64_t summarise_threshold = 1000;  ///< with more elements, only the edges of each axis are shown; 0: all are shown
  std::int32_t edge_items = 3;  ///< elements at each edge of a summarised axis
  std::int32_t max_line_width = 75;  ///< in characters; longer rows continue in the next line; 0: no limit
  std::int32_t digits = 8;  ///< after the point, at most; 0: FloatFormat::none
  FloatFormat float_format = FloatFormat::automatic;  ///< notation of floating-point elements
  char separator = ' ';  ///< between elements of a row
  char open_bracket = '[';  ///< before each row and axis
  char close_bracket = ']';  ///< after each row and axis
  std::optional<LogLevel> level{};  ///< least importance for which it is written: see set_print_level; none: it is always written
};

struct PrintAttributes {
  static constexpr std::size_t max_title = 64;
  char title[max_title]{};  // zeros behind it
  TensorFormat format{};
  bool print_gradient = false;
  bool of_gradient = false;  // "_gradient" follows the title
  std::uint8_t level = 0;  // 1 + the level; 0: none
  bool is_text = false;  // the title alone is printed
  char unused[4]{};
};

namespace detail {
/// Prints dy, if requested, and passes it to the input.
constexpr void differentiate_print(GradientContext& op);
}  // namespace detail

/// A copy of x that prints it. One vertex sees the whole tensor. One worker runs all steps of one vertex, so texts come in the
/// order of the trace.
struct PrintTensor : Op<PrintTensor> {
  static constexpr std::string_view name = "PrintTensor";
  constexpr operator Effects() const { return Effects{.has_side_effect = true, .may_repeat = true}; }
  constexpr operator Fusion() const { return Fusion{.elementwise = true}; }
  constexpr operator OpKind() const { return OpKind{.work_kind = WorkKind::map, .code_kind = CodeKind::copy}; }
  constexpr operator VertexCost() const { return formula_cost(CostFormula::copy, Confidence::published); }
  using Attributes = PrintAttributes;
  static constexpr void infer(Inference& op) { op.output(op.input(0)); }
  static constexpr void gradient(GradientContext& op) { detail::differentiate_print(op); }
  template <PackedAttributes A, class X, class Y>
  static void compute(X x, Y y);
};

/// A copy for a tensor of which only the gradient is printed.
struct PrintGradientOnly : UnaryOp<PrintGradientOnly> {
  static constexpr std::string_view name = "PrintTensor";
  constexpr operator OpKind() const { return OpKind{.work_kind = WorkKind::map, .code_kind = CodeKind::copy}; }
  constexpr operator VertexCost() const { return formula_cost(CostFormula::copy, Confidence::published); }
  using Attributes = PrintAttributes;
  static constexpr void infer(Inference& op) { op.output(op.input(0)); }
  static constexpr void gradient(GradientContext& op) { detail::differentiate_print(op); }
  template <class X>
  static X forward(X x, const Attributes&) {
    return x;
  }
};

constexpr void detail::differentiate_print(GradientContext& op) {
  if (!op.needs(0)) return;
  auto attributes = op.attributes<PrintAttributes>();
  if (!attributes.print_gradient) return op.input_gradient(0, op.output_gradient(0));
  attributes.print_gradient = false;
  attributes.of_gradient = true;
  op.input_gradient(0, apply<PrintTensor>({op.output_gradient(0)}, attributes));
}

namespace detail {
/// Returns the tensor's name, or that of the op that produces it: Add.7.
constexpr Text name_for_title(Tensor x) {
  if (!x.name().empty()) return x.name();
  const Node* node = find_producer(x);
  if (!node) return "tensor";
  return text(node->op->name, ".", node->id);
}
/// Gives the attributes a title and a level. Fails for a title that is too long, and for LogLevel::off; the error names `what`.
constexpr bool set_print(Ir& ir, std::string_view what, PrintAttributes& attributes, const Text& title,
                         std::optional<LogLevel> level) {
  constexpr auto most = PrintAttributes::max_title;
  if (title.size() > most)
    ir.fail(text(what, attributes.is_text ? ": '" : ": title '", title, "' of ", title.size(), " characters: at most ", most,
                 " expected"));
  else if (level == LogLevel::off) ir.fail(text(what, ": level off: one from trace to error expected"));
  if (ir.failed()) return false;
  for (std::size_t i = 0; i < title.size(); ++i) attributes.title[i] = title.view()[i];
  if (level) attributes.level = static_cast<std::uint8_t>(1 + static_cast<int>(*level));
  return true;
}
}  // namespace detail

namespace ops {
/// Copies x (any shape and dtype) and prints it. Each execution writes `<title>: <elements>` and a line end to std::cerr, or to
/// the stream of set_print_stream, in one piece. Elements have NumPy's format, see format_tensor. The op runs even if nothing
/// uses its result, and prints appear in the order of the trace. Each replica prints; with several threads, their order is not
/// defined.
///
/// With .print_gradient, the gradient graph prints the gradient of the result, titled `<title>_gradient`. For this, the loss
/// must depend on the result, not only on x. With .print_self = false, x is not printed, and the op is removed if nothing uses
/// its result.
///
/// With .level, the text is written only if the level is at least that of set_print_level, which the environment sets at first.
/// The step is in the plan in any case.
///
/// A graph that is recomputed for its gradient (recompute_graph, branches of a conditional) prints again.
///
/// Fails for a title of more than 64 characters, edge_items below 1, negative limits, and LogLevel::off.
constexpr Tensor print_tensor(Tensor x, const PrintOptions& options = {}) {
  Ir& ir = x.ir();
  if (ir.failed() || !x.valid()) return Tensor::invalid(ir);
  PrintAttributes attributes{.format = {options.summarise_threshold, options.edge_items, options.max_line_width, options.digits,
                                        options.float_format, options.separator, options.open_bracket, options.close_bracket},
                             .print_gradient = options.print_gradient};
  Text title(options.title);
  if (title.empty()) title = text("print_", detail::name_for_title(x));
  const auto fail = [&](const auto&... message) {
    ir.fail(text("print_tensor: ", message...));
    return Tensor::invalid(ir);
  };
  if (options.edge_items < 1) return fail("edge_items ", options.edge_items, ": at least 1 expected");
  if (options.summarise_threshold < 0) return fail("summarise_threshold ", options.summarise_threshold, ": at least 0 expected");
  if (options.max_line_width < 0) return fail("max_line_width ", options.max_line_width, ": at least 0 expected");
  if (options.digits < 0) return fail("digits ", options.digits, ": at least 0 expected");
  if (!detail::set_print(ir, "print_tensor", attributes, title, options.level)) return Tensor::invalid(ir);
  return options.print_self ? apply<PrintTensor>({x}, attributes) : apply<PrintGradientOnly>({x}, attributes);
}

/// Prints a text and a line end each time that the current graph comes there, as print_tensor does, if the level is at least that
/// of set_print_level. Replicas name themselves before it. Fails for a text of more than 64 characters, and for LogLevel::off.
constexpr void print_text(Ir& ir, std::string_view text, LogLevel level = LogLevel::debug) {
  PrintAttributes attributes{.is_text = true};
  if (!ir.failed() && detail::set_print(ir, "print_text", attributes, text, level))
    apply<PrintTensor>({ir.constant(0)}, attributes);
}
}  // namespace ops

}  // namespace tilewright
