#pragma once
#include "tilewright/core/requirements.hpp"

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "tilewright/checkpoint/checkpoints.hpp"
#include "tilewright/session/session.hpp"

namespace tilewright {

/// An object that a run continues with, such as a data::Loader, a data::TextBatches or a train::EarlyStopping: state() returns a
/// struct that Boost.Hana knows, and resume(state) continues from it.
template <class T>
concept ResumableState = requires(T& object) {
  requires StructWithNames<std::remove_cvref_t<decltype(object.state())>>;
  object.resume(object.state());
};

/// Options of a TaskSession.
struct TaskSessionOptions {
  std::size_t max_checkpoints = 1;  ///< number of newest checkpoints to keep; 0: all
  SessionOptions session{};  ///< options of the session
};

/// A session with all that a run needs to go on: it counts its steps, keeps loaders and other state, and saves and loads them
/// together with all variables. It is a tw::Session of any program in all else, and train::run_epochs and train::run_steps take
/// it.
///
///     tw::TaskSession<train> task({.max_checkpoints = 3, .session = {.seed = 1}});
///     task.add_state("loader", loader);
///     task.load_checkpoint("run1");  // if there is one
///     tw::train::run_epochs(task, loader, {.until_epoch = 10}, [&](const tw::train::Progress& progress) {
///       if (progress.step % 500 == 0 || progress.is_last()) task.save_checkpoint("run1");
///     });
template <auto build, Target machine = cpu>
class TaskSession : public Session<build, machine> {
  using Base = Session<build, machine>;

 public:
  /// Throws the exceptions of a tw::Session.
  explicit TaskSession(const TaskSessionOptions& options = {})
      : Base(options.session), max_checkpoints_(options.max_checkpoints) {}

  /// Returns the streams that the program loads, with name, spec and the shape of the host's array.
  static constexpr auto inputs() { return Base::expected_inputs(); }
  /// Returns the streams that the program stores.
  static constexpr auto outputs() { return Base::expected_outputs(); }

  /// Runs the program once, as Session::run does, and counts the step.
  template <class... InputNames, class... Arrays>
  typename Base::Outputs run(NamedArgument<InputNames, Arrays>... arrays) {
    auto result = Base::run(NamedArgument<InputNames, Arrays>{std::forward<Arrays>(arrays.value)}...);
    ++steps_;
    return result;
  }
  /// Runs the program once, as Session::run_with_outputs does, and counts the step.
  template <class... Arguments>
  void run_with_outputs(Arguments&&... arguments) {
    Base::run_with_outputs(std::forward<Arguments>(arguments)...);
    ++steps_;
  }
  /// Returns the number of runs so far, those before the loaded checkpoint included.
  std::uint64_t steps() const { return steps_; }

  /// Saves an object's state with each checkpoint, and continues from it when one is loaded. The object must outlive the session.
  /// Throws std::invalid_argument for a name that is empty, or that is known already.
  template <ResumableState Object>
  void add_state(std::string name, Object& object) {
    if (name.empty() || name.starts_with("tilewright."))
      throw std::invalid_argument("TaskSession: state '" + name + "': a name that does not begin with tilewright. expected");
    for (const State& known : states_)
      if (known.name == name) throw std::invalid_argument("TaskSession: state '" + name + "' twice: each name once expected");
    using Stored = std::remove_cvref_t<decltype(object.state())>;
    states_.push_back({name, [name, &object](Metadata& metadata) { metadata.set(std::string_view(name), object.state()); },
                       [name, &object](const TensorFile& file) -> std::function<void()> {
                         return [&object, stored = file.metadata<Stored>(name)] { object.resume(stored); };
                       }});
  }
  /// Returns texts and numbers of the program's own, which checkpoints hold, too.
  Metadata& metadata() { return metadata_; }
  const Metadata& metadata() const { return metadata_; }

  /// Saves all variables, the number of steps, added states and metadata(), as Checkpoints::save does for the step steps().
  /// Throws its exceptions.
  void save_checkpoint(const std::filesystem::path& folder) const {
    Metadata metadata = metadata_;
    for (const State& state : states_) state.save(metadata);
    checkpoints_of(folder).save(steps_, this->host_tensors(), std::move(metadata));
  }
  /// Loads the newest checkpoint of a folder that is not damaged. Returns whether there was one. Throws LoadError, before
  /// anything changes, if all are damaged, for a checkpoint without an added state, and if variables differ and the policy does
  /// not allow it. Also throws the exceptions of the states' resume(), after variables were loaded.
  bool load_checkpoint(const std::filesystem::path& folder, const LoadPolicy& policy = {}) {
    const auto last = checkpoints_of(folder).newest();
    if (!last) return false;
    std::vector<std::function<void()>> resumes;
    for (const State& state : states_) resumes.push_back(state.load(last->file));
    this->load_tensors(last->file, policy);
    for (const auto& resume : resumes) resume();
    metadata_ = last->file.metadata();
    steps_ = last->step;
    return true;
  }

 private:
  /// A state that was added, by functions of its object.
  struct State {
    std::string name;
    std::function<void(Metadata&)> save;
    std::function<std::function<void()>(const TensorFile&)> load;  // what it returns makes the object continue
  };
  Checkpoints checkpoints_of(const std::filesystem::path& folder) const { return {folder, {.keep = max_checkpoints_}}; }

  std::size_t max_checkpoints_;
  std::uint64_t steps_ = 0;
  std::vector<State> states_{};
  Metadata metadata_{};
};

}  // namespace tilewright
