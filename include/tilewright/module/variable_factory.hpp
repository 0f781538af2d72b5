#pragma once
#include "tilewright/module/named_tensors.hpp"
#include "tilewright/program/replicated_variable.hpp"

namespace tilewright {

/// Makes a variable later, in the main graph: an initialiser with the shape and dtype of the input it is for.
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
        replica_grouping_(std::move(replica_grouping)) {}
  /// A factory of sharded variables of that spec: program/replicated_variable.hpp.
  constexpr VariableFactory(Ir& ir, Initialiser initialiser, const TensorSpec& spec, bool by_ref,
                            const ShardedVariableOptions& sharding, std::string_view name)
      : VariableFactory(ir, std::move(initialiser), spec, by_ref, sharding.replica_grouping) {
    shard_over_ = detail::shards(ir, "replica_sharded_variable", name, replica_grouping_, sharding.shard_over);
    if (!detail::check_spec(ir, "replica_sharded_variable", name, spec)) shard_over_ = 0;
    if (shard_over_ > 0) spec_ = detail::shard_spec(shape_, spec.dtype, shard_over_);
  }
  /// A factory like this one of sharded variables: in `shard_over` shards, or with 0 in one for each replica of a group. If the
  /// elements cannot be divided into as many equal shards, or the variable is sharded already, this factory.
  constexpr VariableFactory replica_sharded(std::string_view name, std::int64_t shard_over = 0) const {
    const std::int64_t group = replica_grouping().group_size();
    if (shard_over == 0) shard_over = group;
    const bool divides = shard_over > 0 && group % shard_over == 0;
    if (is_sharded() || (divides && !can_be_sharded(shape_.nelms(), shard_over))) return *this;
    return {ir(),
            initialiser_,
            {shape_, spec_.dtype},
            by_ref_,
            ShardedVariableOptions{.replica_grouping = replica_grouping_, .shard_over = shard_over},
            name};
  }
  /// A factory like this one of variables of another dtype; one for an input by reference as it is.
  constexpr VariableFactory with_dtype(DType dtype) const {
    VariableFactory result = *this;
    if (!by_ref_) result.spec_.dtype = dtype;
    return result;
  }
  static constexpr VariableFactory invalid(Ir& ir) { return {ir, zeros(), {}}; }

  constexpr Ir& ir() const {
    if (!is_made_) throw TraceError("VariableFactory: a VariableFactory() of no program: one that create_graph gave expected");
    return *ir_;
  }
  /// Of the variable on each replica.
  constexpr const TensorSpec& spec() const { return spec_; }
  /// The replicas that share a variable.
  constexpr ReplicaGrouping replica_grouping() const {
    if (replica_grouping_.valid()) return replica_grouping_;
    return ir().replica_grouping();
  }
  /// The replicas that have one copy of all shards together: single ones for a variable that is not sharded.
  constexpr ReplicaGrouping shard_grouping() const {
    if (!is_sharded()) return ir().replica_grouping(1, 1);
    const ReplicaGrouping grouping = replica_grouping();
    if (shard_over_ == grouping.group_size()) return grouping;
    return ir().replica_grouping(grouping.stride(), shard_over_);
  }
  /// An input for the variable in the graph that is being built.
  constexpr Tensor create_input(std::string_view name) const {
    if (const Text is = detail::random_fault(initialiser_); !is.empty()) ir().fail(text("variable: '", name, "' of ", is));
    const Tensor input = detail::add_graph_input(ir(), spec_, name, by_ref_);
    if (is_sharded()) ir().tables.set_meta_shape(input, shape_, shard_over_);
    return input;
  }
  /// A new variable in the main graph.
  constexpr Tensor create_tensor(std::string_view name) const {
    if (is_sharded())
      return ir().replica_sharded_variable(initialiser_, shape_, spec_.dtype, name,
                                           {.replica_grouping = replica_grouping_, .shard_over = shard_over_});
    return ir().variable(initialiser_, shape_, spec_.dtype, name, {.replica_grouping = replica_grouping_});
  }
  /// A new remote buffer for `entries` of such variables.
  constexpr RemoteBuffer create_buffer(std::int64_t entries) const {
    if (is_sharded())
      return ir().replica_sharded_buffer(shape_, spec_.dtype,
                                         {.replica_grouping = replica_grouping_, .shard_over = shard_over_, .entries = entries});
    return ir().remote_buffer(shape_, spec_.dtype, entries);
  }

  /// A new variable in row `entry` of a remote buffer, whose shape and dtype must be the factory's.
  constexpr Tensor create_remote_tensor(const RemoteBuffer& buffer, std::int64_t entry, std::string_view name) const {
    if (buffer.valid() && buffer.spec() != spec_)
      return ir().fail(text("remote_variable: '", name, "' ", to_text(spec_), " in ", to_text(buffer), ": ",
                            to_text(buffer.spec()), " expected"));
    if (is_sharded()) return ir().remote_replica_sharded_variable(initialiser_, buffer, entry, name, replica_grouping_);
    return ir().remote_variable(initialiser_, buffer, entry, name, {.replica_grouping = replica_grouping_});
  }

 private:
  constexpr bool is_sharded() const { return shard_over_ > 0; }

  Ir* ir_ = nullptr;
  bool is_made_ = false;
  Initialiser initialiser_;
  Shape shape_;
  TensorSpec spec_;
  bool by_ref_ = false;
  ReplicaGrouping replica_grouping_{};
  std::int64_t shard_over_ = 0;  // 0: it is whole
};

constexpr Text to_text(const VariableFactory& factory) { return text("VariableFactory(", to_text(factory.spec()), ")"); }

/// Remote buffers by name.
using NamedRemoteBuffers = DotTree<RemoteBuffer>;
/// Groupings of replicas by name.
using NamedReplicaGrouping = DotTree<ReplicaGrouping>;

/// The factories of a module's variables by name.
class NamedVariableFactories : public DotTree<VariableFactory> {
 public:
  constexpr NamedVariableFactories() = default;
  constexpr NamedVariableFactories(DotTree<VariableFactory> tree) : DotTree(std::move(tree)) {}

  /// The subtree of a dotted name: the factories of one module, for example.
  constexpr NamedVariableFactories subtree(std::string_view name) const { return DotTree::subtree(name); }
  /// Factories like these of sharded variables: in `shard_over` shards, or with 0 in one for each replica of a variable's
  /// group. A variable whose elements cannot be divided into as many equal shards stays whole. Fails unless `shard_over`
  /// divides the size of the groups.
  constexpr NamedVariableFactories replica_sharded(std::int64_t shard_over = 0) const {
    return transform<VariableFactory>(
        "", [&](std::string_view name, const VariableFactory& factory) { return factory.replica_sharded(name, shard_over); });
  }
  /// The replicas that share each variable.
  constexpr NamedReplicaGrouping replica_groupings() const {
    return transform<ReplicaGrouping>(
        "", [](std::string_view, const VariableFactory& factory) { return factory.replica_grouping(); });
  }
  /// The replicas that have one copy of all shards of each variable: the groups that gather it, and reduce its gradient.
  constexpr NamedReplicaGrouping shard_groupings() const {
    return transform<ReplicaGrouping>("",
                                      [](std::string_view, const VariableFactory& factory) { return factory.shard_grouping(); });
  }
  /// A new variable for every factory, in alphabetical order of the names; the tensors are called `prefix.name`.
  /// Each call makes an independent set. Without a prefix, a name that another tensor of the main graph has is an error; with
  /// one, it gets a number. The main graph must be the current one.
  constexpr NamedTensors init(std::string_view prefix = "") const {
    const auto create = [prefix](std::string_view name, const VariableFactory& factory) {
      const Tensor tensor = factory.create_tensor(name);
      if (prefix.empty() && tensor.valid() && !tensor.name().ends_with(name) && !factory.ir().failed())
        factory.ir().fail(text("init: '", name,
                               "' exists already, perhaps of another call of init: a prefix that is "
                               "new, init(prefix), expected"));
      return tensor;
    };
    return transform<Tensor>(prefix, create, true);
  }
  /// Makes the variables like init, but they live in row `entry` of the buffers of the same names. Fails for a name that no
  /// buffer has.
  constexpr NamedTensors init_remote(const NamedRemoteBuffers& buffers, std::int64_t entry = 0,
                                     std::string_view prefix = "") const {
    NamedTensors result;
    for (const auto& [name, factory] : sorted().to_dict()) {
      const RemoteBuffer buffer = buffers[name.view()];
      if (factory.ir().failed()) break;
      result.insert(name.view(), factory.create_remote_tensor(buffer, entry, dotted(prefix, name.view()).view()));
    }
    return result;
  }
};

}  // namespace tilewright
