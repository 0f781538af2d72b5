#pragma once
#include "tilewright/module/named_tensors.hpp"
#include "tilewright/program/replicated_variable.hpp"

namespace tilewright {

/// Options of VariableFactory and NamedVariableFactories for new variables.
struct InitOptions {
  Flag empty = false;  ///< whether the variables start as zeros without a call of their initialisers: what loads them later
};

/// Creates a variable later, in the main graph: an initialiser with the shape and dtype of the input for it.
class VariableFactory {
 public:
  constexpr VariableFactory() = default;
  constexpr VariableFactory(Ir& ir, Initialiser initialiser, const TensorSpec& spec, bool by_ref = false,
                            ReplicaGrouping replica_grouping = {})
      : ir_(&ir),
        is_made_(true),
        initialiser_(std::move(initialiser)),
        shape_(spec.shape),
        spec_(spec),
        by_ref_(by_ref),
        replica_grouping_(std::move(replica_grouping)) {
    if (initialiser_.is_in_turn) begin_turns();
  }
  /// A factory of sharded variables with a spec: program/replicated_variable.hpp.
  constexpr VariableFactory(Ir& ir, Initialiser initialiser, const TensorSpec& spec, bool by_ref,
                            const ShardedVariableOptions& sharding, std::string_view name)
      : VariableFactory(ir, std::move(initialiser), spec, by_ref, sharding.replica_grouping) {
    shard_over_ = detail::shards(ir, "replica_sharded_variable", name, replica_grouping_, sharding.shard_over);
    if (!detail::check_spec(ir, "replica_sharded_variable", name, spec)) shard_over_ = 0;
    if (shard_over_ > 0) spec_ = detail::shard_spec(shape_, spec.dtype, shard_over_);
  }
  /// Returns a factory of sharded variables: in `shard_over` shards, or with 0 in one for each replica of a group. Returns this
  /// factory if the elements do not divide into equal shards, or if the variable already is sharded.
  [[nodiscard]] constexpr VariableFactory replica_sharded(std::string_view name, std::int64_t shard_over = 0) const {
    const std::int64_t group = replica_grouping().group_size();
    if (shard_over == 0) shard_over = group;
    const bool divides = shard_over > 0 && group % shard_over == 0;
    if (is_sharded() || (divides && !can_be_sharded(shape_.nelms(), shard_over))) return *this;
    VariableFactory result(ir(), initialiser_, {shape_, spec_.dtype}, by_ref_,
                           ShardedVariableOptions{.replica_grouping = replica_grouping_, .shard_over = shard_over}, name);
    result.turns_ = turns_;  // both take turns together
    return result;
  }
  /// Returns a factory of variables of another dtype; for an input by reference, this factory.
  [[nodiscard]] constexpr VariableFactory with_dtype(DType dtype) const {
    VariableFactory result = *this;
    if (!by_ref_) result.spec_.dtype = dtype;
    return result;
  }
  static constexpr VariableFactory invalid(Ir& ir) { return {ir, zeros(), {}}; }

  constexpr Ir& ir() const {
    if (!is_made_) TW_THROW TraceError("VariableFactory: a VariableFactory() of no program: one that create_graph gave expected");
    return *ir_;
  }
  /// Returns the spec of the variable on each replica.
  constexpr const TensorSpec& spec() const { return spec_; }
  /// Returns the groups of replicas that share a variable.
  constexpr ReplicaGrouping replica_grouping() const {
    if (replica_grouping_.valid()) return replica_grouping_;
    return ir().replica_grouping();
  }
  /// Returns the groups of replicas that together have one copy of all shards; single replicas for a variable that is not
  /// sharded.
  constexpr ReplicaGrouping shard_grouping() const {
    if (!is_sharded()) return ir().replica_grouping(1, 1);
    const ReplicaGrouping grouping = replica_grouping();
    if (shard_over_ == grouping.group_size()) return grouping;
    return ir().replica_grouping(grouping.stride(), shard_over_);
  }
  /// Adds an input for the variable to the graph that is being built.
  constexpr Tensor create_input(std::string_view name) const {
    if (const Text is = detail::random_fault(initialiser_, spec_.dtype); !is.empty())
      ir().fail(text("variable: '", name, "' of ", is));
    const Tensor input = detail::add_graph_input(ir(), spec_, name, by_ref_);
    set_meta_shape(input);
    return input;
  }
  /// Gives a tensor of spec() the meta_shape of the factory's variables, if they are sharded.
  constexpr void set_meta_shape(Tensor tensor) const {
    if (is_sharded()) ir().tables.set_meta_shape(tensor, shape_, shard_over_);
  }
  /// Creates a variable in the main graph.
  constexpr Tensor create_tensor(std::string_view name, const InitOptions& options = {}) const {
    if (is_sharded())
      return ir().replica_sharded_variable(initialiser(name, options), shape_, spec_.dtype, name,
                                           {.replica_grouping = replica_grouping_, .shard_over = shard_over_});
    return ir().variable(initialiser(name, options), shape_, spec_.dtype, name, {.replica_grouping = replica_grouping_});
  }
  /// Creates a remote buffer for `entries` such variables.
  constexpr RemoteBuffer create_buffer(std::int64_t entries) const {
    if (is_sharded())
      return ir().replica_sharded_buffer(shape_, spec_.dtype,
                                         {.replica_grouping = replica_grouping_, .shard_over = shard_over_, .entries = entries});
    return ir().remote_buffer(shape_, spec_.dtype, entries);
  }

  /// Creates a variable in row `entry` of a remote buffer, whose shape and dtype must be the factory's.
  constexpr Tensor create_remote_tensor(const RemoteBuffer& buffer, std::int64_t entry, std::string_view name,
                                        const InitOptions& options = {}) const {
    if (buffer.valid() && buffer.spec() != spec_)
      return ir().fail(text("remote_variable: '", name, "' ", to_text(spec_), " in ", to_text(buffer), ": ",
                            to_text(buffer.spec()), " expected"));
    if (is_sharded())
      return ir().remote_replica_sharded_variable(initialiser(name, options), buffer, entry, name, replica_grouping_);
    return ir().remote_variable(initialiser(name, options), buffer, entry, name, {.replica_grouping = replica_grouping_});
  }

 private:
  constexpr bool is_sharded() const { return shard_over_ > 0; }
  constexpr Initialiser initialiser(std::string_view name, const InitOptions& options) const {
    if (options.empty) return zeros();
    if (turns_ >= 0) return next_in_turn(name);
    return initialiser_;
  }
  constexpr void begin_turns() {
    const auto count = static_cast<std::int64_t>(initialiser_.values.size());
    if (shape_.nelms() == 0 || count % shape_.nelms() != 0 || initialiser_.values.list().empty())
      ir().fail(text("in_turn: ", count, " values for tensors of shape ", to_text(shape_), ": a multiple of ", shape_.nelms(),
                     " expected"));
    make_room(ir().tables.turns);
    ir().tables.turns.push_back(0);
    turns_ = static_cast<int>(ir().tables.turns.size()) - 1;
  }
  /// Returns the next tensors of the initialiser, one for each group of replicas. Copies of a factory take turns together.
  constexpr Initialiser next_in_turn(std::string_view name) const {
    std::size_t& taken = ir().tables.turns[static_cast<std::size_t>(turns_)];
    const std::size_t all = initialiser_.values.size(), groups = static_cast<std::size_t>(replica_grouping().num_groups());
    const std::size_t tensor = static_cast<std::size_t>(shape_.nelms()), count = groups * tensor;
    if (all - taken < count) {
      ir().fail(
          text("in_turn: '", name, "' after ", taken / tensor, " of ", all / tensor, " tensors: ", groups, " more expected"));
      return zeros();
    }
    Initialiser result = initialiser_;
    result.values = initialiser_.values.part(std::exchange(taken, taken + count), count);
    return result;
  }

  Ir* ir_ = nullptr;
  bool is_made_ = false;
  Initialiser initialiser_;
  Shape shape_;
  TensorSpec spec_;
  bool by_ref_ = false;
  ReplicaGrouping replica_grouping_{};
  std::int64_t shard_over_ = 0;  // 0: it is whole
  int turns_ = -1;  // index in IrTables::turns; -1: all variables have the same initialiser
};

[[nodiscard]] constexpr Text to_text(const VariableFactory& factory) {
  return text("VariableFactory(", to_text(factory.spec()), ")");
}

/// Remote buffers by name.
using NamedRemoteBuffers = DotTree<RemoteBuffer>;
/// Groupings of replicas by name.
class NamedReplicaGrouping : public DotTree<ReplicaGrouping> {
 public:
  constexpr NamedReplicaGrouping() = default;
  constexpr NamedReplicaGrouping(DotTree<ReplicaGrouping> tree) : DotTree(std::move(tree)) {}

  /// Returns a tree with one grouping under all dotted names.
  static constexpr NamedReplicaGrouping build_groups(const List<Text>& names, const ReplicaGrouping& grouping) {
    NamedReplicaGrouping result;
    for (const Text& name : names) result.insert(name.view(), grouping);
    return result;
  }
};

namespace detail {
inline constexpr NamedTensors no_tensors;
}

/// Factories of a module's variables by name.
class NamedVariableFactories : public DotTree<VariableFactory> {
 public:
  constexpr NamedVariableFactories() = default;
  constexpr NamedVariableFactories(DotTree<VariableFactory> tree) : DotTree(std::move(tree)) {}

  /// Returns the subtree of a dotted name, for example the factories of one module.
  [[nodiscard]] constexpr NamedVariableFactories subtree(std::string_view name) const { return DotTree::subtree(name); }
  /// Returns factories of sharded variables: in `shard_over` shards, or with 0 in one for each replica of a variable's group. A
  /// variable stays whole if its elements do not divide into equal shards, or if they are fewer than `threshold`. Fails unless
  /// `shard_over` divides the size of the groups, and for a negative `threshold`.
  [[nodiscard]] constexpr NamedVariableFactories replica_sharded(std::int64_t shard_over = 0, std::int64_t threshold = 0) const {
    return transform<VariableFactory>("", [&](std::string_view name, const VariableFactory& factory) {
      if (threshold < 0)
        factory.ir().fail(text("replica_sharded: threshold ", threshold, ": a number of elements, at least 0, expected"));
      if (factory.spec().shape.nelms() < threshold) return factory;
      return factory.replica_sharded(name, shard_over);
    });
  }
  /// Returns these factories, those of some dotted names with sharded variables, each in its number of shards. Fails for a name
  /// that the tree does not have.
  [[nodiscard]] constexpr NamedVariableFactories replica_sharded(
      std::initializer_list<std::pair<std::string_view, std::int64_t>> shard_over) const {
    NamedVariableFactories result = *this;
    for (const auto& [name, shards] : shard_over) result.insert(name, (*this)[name].replica_sharded(name, shards), true);
    return result;
  }
  /// Returns the groups of replicas that share each variable.
  constexpr NamedReplicaGrouping replica_groupings() const {
    return transform<ReplicaGrouping>(
        "", [](std::string_view, const VariableFactory& factory) { return factory.replica_grouping(); });
  }
  /// Returns the groups of replicas that together have one copy of all shards of each variable. They gather it, and reduce its
  /// gradient.
  constexpr NamedReplicaGrouping shard_groupings() const {
    return transform<ReplicaGrouping>("",
                                      [](std::string_view, const VariableFactory& factory) { return factory.shard_grouping(); });
  }
  /// Creates a variable for every factory, in alphabetical order of the names. The tensors are named `prefix.name`. Each call
  /// creates an independent set. Without a prefix, a name that another tensor of the main graph has is an error; with one, the
  /// name gets a number. The main graph must be the current one.
  TILEWRIGHT_KEPT constexpr const NamedTensors&& init(std::string_view prefix = "", const InitOptions& options = {}) const {
    Ir* ir = nullptr;
    const auto create = [prefix, &options, &ir](std::string_view name, const VariableFactory& factory) {
      ir = &factory.ir();
      const Tensor tensor = factory.create_tensor(name, options);
      if (prefix.empty() && tensor.valid() && !tensor.name().ends_with(name) && !factory.ir().failed())
        factory.ir().fail(text("init: '", name,
                               "' exists already, perhaps of another call of init: a prefix that is "
                               "new, init(prefix), expected"));
      return tensor;
    };
    NamedTensors tensors = transform<Tensor>(prefix, create, true);
    if (tensors.tensors().empty()) return std::move(detail::no_tensors);
    return detail::keep(*ir, std::move(tensors));
  }
  /// Creates a variable for every factory in row `entry` of the buffer of the same name. Names and order are those of init. Fails
  /// for a name that no buffer has.
  constexpr NamedTensors init_remote(const NamedRemoteBuffers& buffers, std::int64_t entry = 0, std::string_view prefix = "",
                                     const InitOptions& options = {}) const {
    NamedTensors result;
    for (const auto& [name, factory] : sorted().to_dict()) {
      const RemoteBuffer buffer = buffers[name.view()];
      if (factory.ir().failed()) break;
      result.insert(name.view(), factory.create_remote_tensor(buffer, entry, dotted(prefix, name.view()).view(), options));
    }
    return result;
  }
  /// Create a tensor for every factory, in any graph: zeros, or elements that are undefined until an op writes them. They are not
  /// variables, so the host cannot read them. Names and order are those of init.
  constexpr NamedTensors init_zero(std::string_view prefix = "") const;
  constexpr NamedTensors init_undef(std::string_view prefix = "") const;
};

}  // namespace tilewright
