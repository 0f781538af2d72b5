#pragma once
#include <boost/hana/accessors.hpp>
#include <boost/hana/concept/struct.hpp>
#include <boost/hana/flatten.hpp>
#include <boost/hana/tuple.hpp>

namespace tilewright {

namespace detail {
/// Accessors of the members of several structs, as Hana asks a struct for its own.
template <class... Structs>
struct AccessorsOf {
  static constexpr auto apply() { return boost::hana::flatten(boost::hana::make_tuple(boost::hana::accessors<Structs>()...)); }
};
}  // namespace detail

/// Base of a module with more members than BOOST_HANA_DEFINE_STRUCT takes: its members are those of `Structs`. Each struct names
/// at most 39 members by its own macro. The names of variables have no part for the structs. The module itself has no macro.
///
///     struct Encoder { BOOST_HANA_DEFINE_STRUCT(Encoder, (Linear<64>, fc1), ...); };
///     struct Decoder { BOOST_HANA_DEFINE_STRUCT(Decoder, (Linear<64>, fc40), ...); };
///     struct Net : tw::Module<Net>, tw::MembersOf<Encoder, Decoder> { ... };  // build calls fc1 and fc40
template <class... Structs>
struct MembersOf : Structs... {
  static_assert((boost::hana::Struct<Structs>::value && ...),
                "MembersOf: structs expected whose members BOOST_HANA_DEFINE_STRUCT names, at most 39 in each");
  using hana_accessors_impl = detail::AccessorsOf<Structs...>;  // by this name Hana finds the members
};

}  // namespace tilewright
