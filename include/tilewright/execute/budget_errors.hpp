#pragma once
#include <algorithm>
#include <cstdint>
#include <limits>
#include <string_view>
#include <utility>

#include "tilewright/core/items.hpp"
#include "tilewright/lower/figures/frame_peak.hpp"
#include "tilewright/lower/lower.hpp"

namespace tilewright {

/// Limits of a program's figures, for tw::require_budget. A figure without a limit is free. On a simulated IPU, bytes are those
/// of the tile that has most of them; on the host, those of one replica.
struct Limits {
  static constexpr std::int64_t none = (std::numeric_limits<std::int64_t>::max)();  ///< of a figure without a limit
  std::int64_t variables = none;  ///< bytes of weights, optimiser state and other variables outside of remote memory, at least 0
  std::int64_t frame = none;  ///< bytes of tensors of a run, with the gaps between them, at least 0
  /// Bytes of stack of each thread of the host that runs the program, at least 0: tw::stack_bytes
  std::int64_t stack = none;
  std::int64_t code = none;  ///< bytes of code, at least 0: an estimate, on the host that of gc200
  std::int64_t cycles = none;  ///< of a run on a simulated IPU, at least 0; the host counts none
  constexpr bool operator==(const Limits&) const = default;
};

namespace internal {

/// A figure that Limits bound.
enum class Resource : std::uint8_t { variables, frame, stack, code, cycles };
inline constexpr std::size_t resource_count = 5;

constexpr std::int64_t limit_of(const Limits& limits, Resource resource) {
  const std::int64_t by_resource[] = {limits.variables, limits.frame, limits.stack, limits.code, limits.cycles};
  return by_resource[static_cast<int>(resource)];
}
constexpr std::string_view name_of(Resource resource) {
  constexpr std::string_view names[] = {"variables", "frame", "stack", "code", "cycles"};
  return names[static_cast<int>(resource)];
}

/// Fails for a negative limit, and for a limit of the host's cycles.
constexpr Text check_limits(const Limits& limits, const Target& target) {
  for (std::size_t i = 0; i < resource_count; ++i)
    if (const std::int64_t limit = limit_of(limits, Resource(i)); limit < 0)
      return text("require_budget: ", name_of(Resource(i)), " ", limit, ": at least 0 expected");
  if (target.ipu == nullptr && limits.cycles != Limits::none)
    return "require_budget: cycles of the host, which are not counted: a simulated IPU, such as gc200, expected";
  return {};
}

/// Returns a figure of a plan, of the set of tiles with most of it. The stack is not among them.
constexpr std::int64_t figure_of(const PlanTotals& totals, const auto& tile_sets, int set_count, Resource resource) {
  if (resource == Resource::cycles) return totals.cycles.total();
  const auto of_set = [&](const TileMemory& tile) {
    if (resource == Resource::variables) return tile.variables;
    return resource == Resource::frame ? tile.frame + tile.padding : tile.code.total();
  };
  if (set_count == 0) {
    if (resource == Resource::variables) return totals.memory.variables;
    return resource == Resource::frame ? totals.memory.frame : totals.memory.code + totals.memory.loaded_code;
  }
  std::int64_t most = 0;
  for (int set = 0; set < set_count; ++set) most = (std::max)(most, of_set(tile_sets[static_cast<std::size_t>(set)].tile));
  return most;
}

/// Bytes of stack of a program, and what needs most of them.
struct StackUse {
  std::int64_t bytes = 0;
  std::int64_t of_set = 0;  ///< of these, arrays of kernels and scratch of `compute_set`
  int compute_set = -1;  ///< the set with most; -1: the plan has none
};

namespace detail {

/// A part of a figure, and the remedy if it is too large: what helps, and the section of a page.
struct BudgetPart {
  std::string_view name{};
  std::string_view remedy{};
  std::int64_t amount = 0;
};

/// Sums by module.
class ModuleSums {
 public:
  constexpr void add(const Text& module, std::int64_t amount) {
    if (module.empty()) return;
    for (Sum& sum : sums_)
      if (sum.module == module) {
        sum.amount += amount;
        return;
      }
    sums_.push_back({module, amount});
  }
  /// Returns `; most in Net_subgraph(0)/fc1: 4096`; nothing if no module has any.
  constexpr Text largest() const {
    const Sum* most = nullptr;
    for (const Sum& sum : sums_)
      if (most == nullptr || sum.amount > most->amount) most = &sum;
    if (most == nullptr) return {};
    return text("; most in ", most->module, ": ", most->amount);
  }

 private:
  struct Sum {
    Text module;
    std::int64_t amount = 0;
  };
  List<Sum> sums_{};
};

/// Returns parts that are not 0, the largest first, each with its remedy.
constexpr Text list_parts(List<BudgetPart> parts) {
  sort_items(parts, [](const BudgetPart& a, const BudgetPart& b) { return a.amount > b.amount; });
  List<Text> texts;
  for (const BudgetPart& part : parts)
    if (part.amount > 0) texts.push_back(text(part.name, " ", part.amount, " (", part.remedy, ")"));
  return join(texts, ", ");
}

/// Writes the errors of figures that exceed their limits.
class BudgetErrors {
 public:
  constexpr BudgetErrors(const Prepared& prepared, const FramePeaks& peaks, const TileHomes& homes, const Plan& plan,
                         const Limits& limits)
      : target_(prepared.target()), sets_(prepared.target()), peaks_(peaks), homes_(homes), plan_(plan), limits_(limits) {}

  constexpr Text variables() const {
    const int set = fullest_set(Resource::variables);
    std::int64_t weights = 0, state = 0, kept = 0;
    ModuleSums modules;
    List<PeakTensor> tensors;
    for (const PlannedVariable& variable : plan_.variables) {
      if (variable.base != Base::variable) continue;
      const std::int64_t bytes = bytes_of(variable.offset, variable.spec, set);
      const PlannedVariable* const weight = weight_of(variable);
      (weight == nullptr ? weights : state) += bytes;
      modules.add(module_of(weight == nullptr ? variable : *weight), bytes);
      tensors.push_back({text(variable.name, " ", to_text(variable.spec)), {}, bytes});
    }
    kept = amount(Resource::variables) - weights - state;
    return text(
        head(Resource::variables, set), "; of these ",
        list_parts({{"weights and other variables", "docs/how-to/remote-memory.md#one-variable", weights},
                    {"optimiser state", "docs/how-to/phases.md#training-in-phases, docs/how-to/sharding.md#sharded-state", state},
                    {"tensors that are kept between runs", "docs/how-to/sessions.md#memory-and-stack", kept}}),
        largest_tensors(tensors), modules.largest());
  }
  constexpr Text frame() const {
    const int set = fullest_set(Resource::frame);
    const FramePeak peak = peaks_.peak(largest_root(set), set);
    std::int64_t by_part[5]{}, all = 0;
    ModuleSums modules;
    for (const PeakTensor& tensor : peak.tensors) {
      by_part[static_cast<int>(tensor.part)] += tensor.bytes;
      all += tensor.bytes;
      modules.add(tensor.module, tensor.bytes);
    }
    const auto of = [&](FramePart part) { return by_part[static_cast<int>(part)]; };
    const List<BudgetPart> parts{
        {"activations kept for gradients", "recompute_graph: docs/how-to/micro-batches.md#many-micro-batches-little-memory",
         of(FramePart::kept)},
        {"gradients", "docs/how-it-works/speed.md#gradients-in-the-frame", of(FramePart::gradients)},
        {"received and sent slices", "available_memory_proportion: docs/how-it-works/simulated-ipu.md#where-tensors-are",
         of(FramePart::exchanged)},
        {"scratch of vertices", "docs/how-it-works/simulated-ipu.md#memory-of-the-fullest-tile", of(FramePart::scratch)},
        {"other tensors", "smaller micro-batches: docs/how-to/micro-batches.md#many-micro-batches-little-memory",
         of(FramePart::others)},
        {"gaps", "docs/how-it-works/simulated-ipu.md#memory-of-the-fullest-tile", amount(Resource::frame) - all}};
    return text(head(Resource::frame, set), "; most in the step ", peak.step, ": ", list_parts(parts),
                largest_tensors(peak.tensors), modules.largest());
  }
  constexpr Text stack(const StackUse& use) const {
    Text result = text(head("stack", use.bytes, limits_.stack, -1), "; of these arrays of kernels ", use.of_set);
    if (use.compute_set >= 0) result += text(", of the step ", step_of_set(use.compute_set));
    return text(result, " (a thread with more stack: docs/how-to/sessions.md#memory-and-stack), functions ",
                use.bytes - use.of_set);
  }
  constexpr Text code() const {
    const int set = fullest_set(Resource::code);
    const CodeUse use = count_code(plan_, target_, set);
    CodeBytes bytes = use.always;
    bytes += use.loaded;
    int largest = -1;
    ModuleSums modules;
    List<bool> is_seen(plan_.compute_sets.size(), false);
    for (std::size_t s = 0; s < plan_.steps.size(); ++s) {
      const int of_step = plan_.steps[s].compute_set;
      if (of_step < 0 || is_seen[of_step] || !is_on(s, set)) continue;
      is_seen[of_step] = true;
      const std::int64_t vertex = plan_.compute_sets[of_step].code_bytes;
      modules.add(peaks_.modules()[s], vertex);
      if (largest < 0 || vertex > plan_.compute_sets[largest].code_bytes) largest = of_step;
    }
    Text result = text(
        head(Resource::code, set), "; of these ",
        list_parts({{"code of vertices", "one graph for equal layers: docs/how-to/graphs.md#calls", bytes.vertex},
                    {"state of vertices", "fewer vertices: docs/how-it-works/simulated-ipu.md#where-tensors-are", bytes.state},
                    {"code of exchanges", "docs/how-it-works/simulated-ipu.md#what-is-exchanged", bytes.exchange},
                    {"control code", "docs/how-to/code-loading.md#code-loading", bytes.control}}));
    if (largest >= 0) result += text("; most in the step ", step_of_set(largest), ": ", plan_.compute_sets[largest].code_bytes);
    return text(result, modules.largest());
  }
  constexpr Text cycles() const {
    const CycleUse& use = plan_.cycles;
    const List<std::int64_t> times = runs_of_steps();
    ModuleSums modules;
    std::int64_t most = -1;
    std::size_t slowest = 0;
    for (std::size_t s = 0; s < plan_.step_cycles.size(); ++s) {
      const std::int64_t in_run = times[s] * plan_.step_cycles[s].total();
      modules.add(peaks_.modules()[s], in_run);
      if (in_run > most && !plan_.steps[s].is_call()) most = in_run, slowest = s;
    }
    Text result = text(
        head(Resource::cycles, -1), "; of these ",
        list_parts({{"computation", "docs/how-it-works/simulated-ipu.md#cycles", use.compute},
                    {"exchange", "docs/how-it-works/simulated-ipu.md#what-is-exchanged", use.exchange},
                    {"barriers", "docs/how-it-works/simulated-ipu.md#the-report", use.sync},
                    {"streams", "several micro-batches in a run: docs/how-it-works/simulated-ipu.md#the-report", use.host},
                    {"remote memory", "docs/how-to/remote-memory.md#what-it-costs", use.remote},
                    {"collectives", "docs/reference/collectives.md#what-it-costs", use.collectives},
                    {"links between IPUs", "docs/how-to/several-ipus.md#on-simulated-ipus", use.links},
                    {"waiting for other IPUs", "docs/how-to/several-ipus.md#pipelines", use.waiting}}));
    if (most >= 0) result += text("; most in the step ", step_text(slowest), ": ", most);
    return text(result, modules.largest());
  }

  /// Returns the figure of the plan; not for the stack.
  constexpr std::int64_t amount(Resource resource) const {
    return figure_of(plan_, plan_.tile_sets, static_cast<int>(plan_.tile_sets.size()), resource);
  }

 private:
  /// Returns the set of tiles with most of a figure; 0 on the host.
  constexpr int fullest_set(Resource resource) const {
    int fullest = 0;
    std::int64_t most = -1;
    for (std::size_t set = 0; set < plan_.tile_sets.size(); ++set)
      if (const std::int64_t of_set = figure_of(plan_, plan_.tile_sets.data() + set, 1, resource); of_set > most)
        most = of_set, fullest = static_cast<int>(set);
    return fullest;
  }
  constexpr Text head(std::string_view what, std::int64_t amount, std::int64_t limit, int set) const {
    Text where;
    if (set >= 0 && target_.ipu != nullptr) where = text(" on tile ", sets_.first(set), " of ", sets_.all());
    return text("require_budget: ", what, " ", amount, what == "cycles" ? "" : " bytes", where, ": at most ", limit, " expected");
  }
  constexpr Text head(Resource resource, int set) const {
    return head(name_of(resource), amount(resource), limit_of(limits_, resource), set);
  }
  static constexpr Text largest_tensors(List<PeakTensor> tensors) {
    sort_items(tensors, [](const PeakTensor& a, const PeakTensor& b) { return a.bytes > b.bytes; });
    List<Text> names;
    for (std::size_t i = 0; i < tensors.size() && i < 3; ++i)
      names.push_back(text(tensors[i].name, tensors[i].module.empty() ? "" : " of ", tensors[i].module, " ", tensors[i].bytes));
    if (names.empty()) return {};
    return text("; largest: ", join(names, ", "));
  }

  constexpr std::int64_t bytes_of(std::int64_t offset, const TensorSpec& spec, int set) const {
    if (target_.ipu == nullptr) return align(spec.bytes());
    for (const Home& home : homes_.variables)
      if (home.offset == offset && home.layout.is_decided() && home.layout.places.set == set)
        return room_bytes(home.layout, home.spec.dtype, sets_);
    return 0;
  }
  /// Returns the variable whose name is a part of this one's, as `fc1.weight` is of `optimiser.fc1.weight.step`; null: none is.
  constexpr const PlannedVariable* weight_of(const PlannedVariable& variable) const {
    const std::string_view name = variable.name.view();
    for (const PlannedVariable& other : plan_.variables) {
      const std::size_t size = other.name.size(), at = size == 0 ? name.npos : name.find(other.name.view());
      if (at == name.npos || size == name.size() || (at > 0 && name[at - 1] != '.')) continue;
      if (at + size == name.size() || name[at + size] == '.') return &other;
    }
    return nullptr;
  }
  static constexpr Text module_of(const PlannedVariable& variable) {
    const std::string_view name = variable.name.view();
    const std::size_t end = name.rfind('.');
    if (end == name.npos) return {};
    return name.substr(0, end);
  }
  constexpr BodyId largest_root(int set) const {
    const auto frame_of = [&](BodyId body) {
      if (target_.ipu == nullptr) return plan_.bodies[body].frame_bytes;
      return homes_.bodies[body].frames[static_cast<std::size_t>(set)].bytes;
    };
    BodyId largest = BodyId::main;
    for (std::size_t b = 1; b < plan_.bodies.size(); ++b)
      if (plan_.is_root(BodyId(b)) && frame_of(BodyId(b)) > frame_of(largest)) largest = BodyId(b);
    return largest;
  }
  constexpr bool is_on(std::size_t step, int set) const {
    return plan_.moves.empty() || plan_.moves[step].set < 0 || plan_.moves[step].set == set;
  }
  constexpr Text step_text(std::size_t step) const {
    const int set = plan_.steps[step].compute_set;
    Text result = name_of_kind(plan_.steps[step].kind);
    if (set >= 0) result = print_stages(plan_, plan_.compute_sets[set]);
    if (!peaks_.modules()[step].empty()) result += text(" in ", peaks_.modules()[step]);
    return result;
  }
  static constexpr std::string_view name_of_kind(StepKind kind) {
    return kind == StepKind::load_code ? "a load of code" : "a call";
  }
  /// Returns the first step of a compute set.
  constexpr Text step_of_set(int set) const {
    for (std::size_t s = 0; s < plan_.steps.size(); ++s)
      if (plan_.steps[s].compute_set == set) return step_text(s);
    return {};
  }
  /// Returns how often each step runs in a run; both branches of a conditional count.
  constexpr List<std::int64_t> runs_of_steps() const {
    List<std::int64_t> result(plan_.steps.size(), 0);
    const List<std::int64_t, BodyId> runs = runs_of_bodies(plan_);
    for (std::size_t b = 0; b < plan_.bodies.size(); ++b)
      for (int s = 0; s < plan_.bodies[BodyId(b)].step_count; ++s)
        result[plan_.bodies[BodyId(b)].first_step + s] = runs[BodyId(b)];
    return result;
  }

  const Target& target_;
  TileSets sets_;
  const FramePeaks& peaks_;
  const TileHomes& homes_;
  const Plan& plan_;
  const Limits& limits_;
};

}  // namespace detail

/// Returns the errors of a traced program on a target, one for each figure that exceeds its limit, by number of the resource; an
/// empty text where the budget holds. The stack counts if `stack` is given.
constexpr List<Text> budget_errors(Ir&& ir, const Target& target, const Limits& limits, const StackUse& stack = {}) {
  const Prepared prepared = prepare(std::move(ir), target);
  FramePeaks peaks(prepared.ir(), prepared.target());
  TileHomes homes;
  const Plan plan = lower(prepared, peaks, &homes);
  const detail::BudgetErrors errors(prepared, peaks, homes, plan, limits);
  const auto exceeds = [&](Resource resource) { return errors.amount(resource) > limit_of(limits, resource); };
  List<Text> result(resource_count);
  if (exceeds(Resource::variables)) result[0] = errors.variables();
  if (exceeds(Resource::frame)) result[1] = errors.frame();
  if (stack.bytes > limits.stack) result[2] = errors.stack(stack);
  if (exceeds(Resource::code)) result[3] = errors.code();
  if (exceeds(Resource::cycles)) result[4] = errors.cycles();
  return result;
}

}  // namespace internal
}  // namespace tilewright
