#pragma once
#include <concepts>
#include <type_traits>
#include <utility>

namespace tilewright::detail {

template <class Signature>
class MoveOnlyFunction;
/// A function with its captures, which also works in constant expressions: std::move_only_function of C++23. An object that was
/// made without a function, or moved from, is false and must not be called.
template <class Result, class... Arguments>
class MoveOnlyFunction<Result(Arguments...)> {
 public:
  constexpr MoveOnlyFunction() = default;
  template <class F>
    requires(!std::same_as<F, MoveOnlyFunction> && std::is_invocable_r_v<Result, F&, Arguments...>)
  constexpr MoveOnlyFunction(F function) : held_(new Holder<F>(std::move(function))) {}
  constexpr MoveOnlyFunction(MoveOnlyFunction&& other) noexcept : held_(std::exchange(other.held_, nullptr)) {}
  constexpr MoveOnlyFunction& operator=(MoveOnlyFunction&& other) noexcept {
    std::swap(held_, other.held_);
    return *this;
  }
  constexpr ~MoveOnlyFunction() {
    if (held_) held_->destroy(held_);
  }

  constexpr explicit operator bool() const { return held_ != nullptr; }
  /// Calls the function, even if this object moves meanwhile.
  constexpr Result operator()(Arguments... arguments) const { return held_->call(held_, std::forward<Arguments>(arguments)...); }

 private:
  /// Type-erased function. (GCC 12 does not find virtual functions of a local lambda's class in constant expressions.)
  struct Held {
    Result (*call)(Held*, Arguments...);
    void (*destroy)(Held*);
  };
  template <class F>
  struct Holder : Held {
    constexpr explicit Holder(F f) : Held{&Holder::call_held, &Holder::destroy_held}, function(std::move(f)) {}
    // No lambdas: GCC 13 to 16 call none by a pointer in constant expressions if it returns an object with a destructor.
    static constexpr Result call_held(Held* self, Arguments... arguments) {
      return static_cast<Holder*>(self)->function(std::forward<Arguments>(arguments)...);
    }
    static constexpr void destroy_held(Held* self) { delete static_cast<Holder*>(self); }

    F function;
  };

  Held* held_ = nullptr;
};

}  // namespace tilewright::detail
