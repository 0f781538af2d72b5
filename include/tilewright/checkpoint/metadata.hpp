#pragma once
#include <boost/hana/accessors.hpp>
#include <boost/hana/concept/struct.hpp>
#include <boost/hana/first.hpp>
#include <boost/hana/for_each.hpp>
#include <boost/hana/second.hpp>
#include <boost/hana/string.hpp>
#include <charconv>
#include <concepts>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace tilewright {

/// A struct whose members Boost.Hana knows, such as data::LoaderState.
template <class T>
concept StructWithNames = boost::hana::Struct<T>::value;

namespace detail {
/// Calls f("prefix.member", member) for each member of a struct.
template <class Struct, class F>
void for_each_member(std::string_view prefix, Struct& value, F f) {
  boost::hana::for_each(boost::hana::accessors<std::remove_const_t<Struct>>(), [&](auto pair) {
    f(std::string(prefix) + "." + boost::hana::to<const char*>(boost::hana::first(pair)), boost::hana::second(pair)(value));
  });
}
}  // namespace detail

/// Named texts and numbers in a file, in addition to its tensors. Numbers are stored as decimal text, which reads back as the
/// same number. std::map's order makes equal metadata equal bytes.
class Metadata {
 public:
  void set(std::string name, std::string text) { entries_.insert_or_assign(std::move(name), std::move(text)); }
  template <class Number>
    requires std::integral<Number> || std::floating_point<Number>
  void set(std::string name, Number number) {
    if constexpr (std::same_as<Number, bool>) return set(std::move(name), std::string(number ? "1" : "0"));
    else {
      char digits[64];
      set(std::move(name), std::string(digits, std::to_chars(digits, digits + sizeof(digits), number).ptr));
    }
  }
  /// Stores each member of a struct as "name.member".
  template <StructWithNames Struct>
  void set(std::string_view name, const Struct& value) {
    detail::for_each_member(name, value,
                            [this](std::string member_name, const auto& member) { this->set(std::move(member_name), member); });
  }

  /// Returns the entry with a name, as a `T`, which is std::string or a type of numbers. Returns nothing if there is no entry
  /// with the name, or if its text is not a number of type `T`.
  template <class T>
  std::optional<T> get(std::string_view name) const {
    const auto entry = entries_.find(name);
    if (entry == entries_.end()) return std::nullopt;
    const std::string& text = entry->second;
    if constexpr (std::same_as<T, std::string>) return text;
    else if constexpr (std::same_as<T, bool>) return text == "1" || text == "0" ? std::optional(text == "1") : std::nullopt;
    else {
      T number{};
      const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
      return error == std::errc{} && end == text.data() + text.size() ? std::optional(number) : std::nullopt;
    }
  }

  const std::map<std::string, std::string, std::less<>>& entries() const { return entries_; }
  bool operator==(const Metadata&) const = default;

 private:
  std::map<std::string, std::string, std::less<>> entries_;
};

}  // namespace tilewright
