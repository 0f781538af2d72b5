#pragma once
#include <type_traits>
#include <utility>

// Marks functions whose results an Ir keeps: GCC 14 and newer warn otherwise of `const auto& [names, graph] = create_graph(ir,
// Linear<4>{}, x)`, whose reference stays valid (-Wdangling-reference).
#if __has_cpp_attribute(gnu::no_dangling)
#define TILEWRIGHT_KEPT [[gnu::no_dangling]]
#else
#define TILEWRIGHT_KEPT
#endif

namespace tilewright::detail {

/// Owns results of functions, of any types, as long as an Ir. A copy owns nothing.
class KeptResults {
 public:
  constexpr KeptResults() = default;
  constexpr KeptResults(const KeptResults&) {}
  constexpr KeptResults& operator=(const KeptResults&) { return *this; }
  constexpr ~KeptResults() {
    while (last_) {
      Result* const result = std::exchange(last_, last_->before);
      result->destroy(result);
    }
  }

  template <class T>
    requires(!std::is_reference_v<T>)
  constexpr T&& keep(T&& result) {
    auto* kept = new ResultOf<T>{{last_, [](Result* of_type) { delete static_cast<ResultOf<T>*>(of_type); }}, std::move(result)};
    last_ = kept;
    return std::move(kept->value);
  }

 private:
  struct Result {
    Result* before;
    void (*destroy)(Result*);
  };
  template <class T>
  struct ResultOf : Result {
    T value;
  };

  Result* last_ = nullptr;
};

}  // namespace tilewright::detail
