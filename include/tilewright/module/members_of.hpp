#pragma once
#include <boost/hana/accessors.hpp>
#include <boost/hana/concept/struct.hpp>
#include <boost/hana/flatten.hpp>
#include <boost/hana/tuple.hpp>

namespace tilewright {

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
  struct hana_accessors_impl {  // Hana's name: by it Hana finds the members
    static constexpr auto apply() { return boost::hana::flatten(boost::hana::make_tuple(boost::hana::accessors<Structs>()...)); }
  };
};

}  // namespace tilewright
