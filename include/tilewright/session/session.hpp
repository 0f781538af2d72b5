#pragma once
#include <boost/hana/for_each.hpp>
#include <boost/hana/map.hpp>
#include <boost/hana/pair.hpp>
#include <cstdint>
#include <utility>

#include "tilewright/core/name.hpp"
#include "tilewright/execute/program.hpp"
#include "tilewright/session/host_array.hpp"
#include "tilewright/session/host_tensor.hpp"
#include "tilewright/session/initial_values.hpp"
#include "tilewright/session/names.hpp"

namespace tilewright {

struct SessionOptions {
  std::uint64_t seed = 42;  ///< of the variables' initial values
  int threads = 0;          ///< host threads; 0: found by measuring the first runs. Results do not depend on it.
};

/// A program with its memory, ready to run. `build` is a constexpr function of an Ir& that makes the main graph; it is
/// traced, differentiated and planned for the target while the program compiles.
///
///     tw::Session<train_step<8>, tw::ipu_model> session({.seed = 1});
///     auto outputs = session.run("image"_s = images, "label"_s = labels);
///     float loss = outputs["loss"_s]();
template <auto build, Target machine = cpu>
class Session {
  using program = Program<build, machine>;
  using names = PlanNames<program::plan>;

 public:
  static constexpr Target target = machine;
  /// The planned program; a constant.
  static constexpr const auto& plan = program::plan;

  explicit Session(const SessionOptions& options = {}) : executor_(program::view(), options.threads), outputs_(output_bytes) {
    fill_constants(plan, executor_.constants());
    fill_variables(plan, executor_.variables(), options.seed);
    for (std::size_t i = 0; i < plan.streams.size(); ++i)
      if (plan.streams[i].direction == StreamDirection::device_to_host) streams_[i] = outputs_.data() + output_offsets[i];
  }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  /// What a run gave to the streams to the host.
  class Outputs {
   public:
    /// The tensors of a stream as an xtensor of static shape ([num_host_transfers, if above 1,] stream's shape...). It is a
    /// view that the next run overwrites. An unknown name does not compile.
    template <NameText name>
    auto operator[](Name<name>) const {
      constexpr std::size_t stream = names::find_stream(name.view(), StreamDirection::device_to_host);
      if constexpr (stream == names::none) return names::template unknown_output<name>();
      else return static_view<plan.streams[stream].spec.dtype, stream_shape(stream)>(session_->streams_[stream]);
    }

   private:
    friend Session;
    explicit Outputs(const Session& session) : session_(&session) {}
    const Session* session_;
  };

  /// Runs the program once: `run("image"_s = images, "label"_s = labels)`. Every stream that the program loads from needs one
  /// array of the stream's dtype and shape, with a leading axis of num_host_transfers if that is above 1; arrays are read in
  /// place. Unknown, missing and doubled names, wrong dtypes and wrong static shapes do not compile; wrong shapes known at run
  /// time only throw std::invalid_argument before anything runs. Allocates nothing.
  template <class... InputNames, class... Arrays>
  Outputs run(NamedArgument<InputNames, Arrays>... inputs) {
    names::template check_inputs<InputNames...>();
    (set_input(inputs), ...);
    executor_.run(streams_);
    return Outputs(*this);
  }

  /// The variables by name, as views of the memory in which the session keeps them:
  /// `session.variables()["fc1"_s]["weight"_s](0, 0)`.
  auto variables() const { return VariableTree<program::plan, "">(executor_.variables()); }

  /// A copy of a variable, for example of "fc1.weight".
  template <NameText name>
  auto get_tensor_data(Name<name>) const {
    constexpr std::size_t v = names::find_variable(name.view());
    if constexpr (v == names::none) return names::template unknown_variable<name>();
    else
      return copy_of<plan.variables[v].spec.dtype, plan.variables[v].spec.shape>(executor_.variables() +
                                                                                 plan.variables[v].offset);
  }
  /// Copies of all variables, as a Boost.Hana map from their names.
  auto get_tensors_data() const {
    return names::map_variables([this]<std::size_t v>(std::integral_constant<std::size_t, v>) {
      return copy_of<plan.variables[v].spec.dtype, plan.variables[v].spec.shape>(executor_.variables() +
                                                                                 plan.variables[v].offset);
    });
  }
  /// Gives a variable new values: an array of its dtype and shape.
  template <NameText name, class Array>
  void write_variable_data(Name<name>, const Array& array) {
    write<name>(array);
  }
  /// Gives variables new values, from a Boost.Hana map of names and arrays such as another session's get_tensors_data().
  template <class Map>
    requires(boost::hana::is_a<boost::hana::map_tag, Map>())
  void write_variables_data(const Map& arrays) {
    boost::hana::for_each(arrays, [this](const auto& entry) {
      constexpr auto name = names::template name_of_key<std::remove_cvref_t<decltype(boost::hana::first(entry))>>();
      this->template write<name>(boost::hana::second(entry));
    });
  }

  /// All variables, as views of the memory in which the session keeps them: to save them, for example.
  auto host_tensors() const {
    std::array<HostTensor, plan.variables.size()> tensors{};
    for (std::size_t v = 0; v < tensors.size(); ++v)
      tensors[v] = {plan.variable_name(v),
                    plan.variables[v].spec,
                    {executor_.variables() + plan.variables[v].offset, static_cast<std::size_t>(plan.variables[v].spec.bytes())}};
    return tensors;
  }
  /// Gives all variables new values, by name: from a file (`tw::load_npz`, ...) or another session's host_tensors(). Throws
  /// LoadError, before anything is written, where names, dtypes or shapes differ; the policy may allow some of it.
  void load_tensors(const HostTensors& tensors, const LoadPolicy& policy = {}) {
    const auto values = detail::match_tensors(host_tensors(), tensors, policy);
    for (std::size_t v = 0; v < values.size(); ++v)
      std::ranges::copy(values[v], executor_.variables() + plan.variables[v].offset);
  }

  /// The number of host threads of the next run.
  int threads() const { return executor_.threads(); }

 private:
  static constexpr Shape stream_shape(std::size_t stream) {
    if (plan.num_host_transfers == 1) return plan.streams[stream].spec.shape;
    Shape shape{plan.num_host_transfers};
    for (int axis = 0; axis < plan.streams[stream].spec.shape.rank; ++axis)
      shape.push_back(plan.streams[stream].spec.shape[axis]);
    return shape;
  }
  static constexpr auto output_offsets = [] {
    std::array<std::int64_t, plan.streams.size() + 1> offsets{};
    for (std::size_t i = 0; i < plan.streams.size(); ++i) {
      const bool output = plan.streams[i].direction == StreamDirection::device_to_host;
      offsets[i + 1] = offsets[i] + (output ? align(plan.streams[i].spec.bytes() * plan.num_host_transfers) : 0);
    }
    return offsets;
  }();
  static constexpr std::int64_t output_bytes = output_offsets.back();

  template <class InputName, class Array>
  void set_input(const NamedArgument<InputName, Array>& input) {
    constexpr std::size_t stream = names::find_stream(InputName::view(), StreamDirection::host_to_device);
    if constexpr (stream != names::none) {
      constexpr TensorSpec spec{stream_shape(stream), plan.streams[stream].spec.dtype};
      streams_[stream] = const_cast<std::byte*>(detail::checked_host_data<spec, "run", InputName::view>(input.value));
    }
  }
  template <NameText name, class Array>
  void write(const Array& array) {
    constexpr std::size_t v = names::find_variable(name.view());
    if constexpr (v == names::none) {
      names::template unknown_variable<name>();
    } else {
      constexpr TensorSpec spec = plan.variables[v].spec;
      const auto* data = detail::checked_host_data<spec, "write_variable_data", Name<name>::view>(array);
      std::memcpy(executor_.variables() + plan.variables[v].offset, data, static_cast<std::size_t>(spec.bytes()));
    }
  }

  Executor executor_;
  AlignedMemory outputs_;
  std::array<std::byte*, plan.streams.size()> streams_{};
};

}  // namespace tilewright
