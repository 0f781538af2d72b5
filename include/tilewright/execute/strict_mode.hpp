#pragma once
#include <concepts>
#include <memory>

namespace tilewright {

namespace internal {
struct ProgramView;
class StrictRunner;
}  // namespace internal

/// Whether sessions check the plan and the ops while they run. `tw::strict_mode` of <tilewright/execute/strict_executor.hpp> says
/// that they do; a StrictMode{} that they do not:
///
///     tw::Session<train_step, tw::ipu_model> session({.strict = checks ? tw::strict_mode : tw::StrictMode{}});
class StrictMode {
 public:
  using Factory = std::unique_ptr<internal::StrictRunner> (*)(const internal::ProgramView&);

  constexpr StrictMode() = default;
  constexpr explicit StrictMode(Factory maker) : factory_(maker) {}
  /// Does not compile.
  template <std::same_as<bool> Bool>
  constexpr StrictMode(Bool) {
    static_assert(sizeof(Bool) == 0,
                  "strict: a bool: #include <tilewright/execute/strict_executor.hpp> and .strict = tw::strict_mode expected");
  }

  constexpr explicit operator bool() const { return factory_ != nullptr; }
  constexpr Factory factory() const { return factory_; }  ///< of what runs a program; null: sessions do not check

 private:
  Factory factory_ = nullptr;
};

}  // namespace tilewright
