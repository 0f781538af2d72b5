#pragma once
#include <concepts>

#include "tilewright/core/memory/owned.hpp"

namespace tilewright {

namespace internal {
struct ProgramView;
class StrictRunner;

using StrictFactory = Owned<StrictRunner> (*)(const ProgramView&);

/// Returns the factory of strict runners. <tilewright/execute/strict_executor.hpp> defines it for bool, the only T.
template <class T>
constexpr StrictFactory strict_factory() {
  static_assert(sizeof(T) == 0, "strict: #include <tilewright/execute/strict_executor.hpp> before its use expected");
  return nullptr;
}
}  // namespace internal

/// Whether sessions check the ops while they run. A bool converts to it in sources that include
/// <tilewright/execute/strict_executor.hpp>, whose code takes some seconds to compile:
///
///     tw::Session<train_step, tw::ipu_model> session({.strict = true});
///
/// Other sources get a StrictMode from such a source.
class StrictMode {
 public:
  constexpr StrictMode() = default;  ///< sessions do not check
  template <std::same_as<bool> B>
  constexpr StrictMode(B checks) : factory_(checks ? internal::strict_factory<B>() : nullptr) {}

  constexpr explicit operator bool() const { return factory_ != nullptr; }
  /// Creates the runner of a program; null: sessions do not check
  constexpr internal::StrictFactory factory() const { return factory_; }

 private:
  internal::StrictFactory factory_ = nullptr;
};

}  // namespace tilewright
