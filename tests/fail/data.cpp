// labels: none
// Data sets that cannot be made, or handed out in batches.
#include <tilewright/data/arrays.hpp>
#include <tilewright/data/loader.hpp>

namespace tw = tilewright;

struct Numbers {
  xt::xtensor<float, 2> features;
  int count = 0;
};
struct Unknown {
  xt::xtensor<float, 2> features;
};
BOOST_HANA_ADAPT_STRUCT(Numbers, features, count);

using namespace tw::literals;
using Rows = xt::xtensor<float, 2>;

// CASE member_that_is_no_array
// expect: Loader: a data set of this type: Arrays, or a struct that Boost.Hana knows, of arrays
// expect: of arrays xt::xtensor with elements of a dtype
void member_that_is_no_array(const Numbers& data) { tw::data::Loader loader(data, {.batch_size = 2}); }

// CASE struct_that_hana_does_not_know
// expect: Loader: a data set of this type: Arrays, or a struct that Boost.Hana knows, of arrays
// expect: of arrays xt::xtensor with elements of a dtype
void struct_that_hana_does_not_know(const Unknown& data) { tw::data::Loader loader(data, {.batch_size = 2}); }

// CASE data_set_that_ends_before_the_loader
// expect: deleted
void data_set_that_ends_before_the_loader() { tw::data::Loader loader(tw::data::Dataset(4, 2, 2), {.batch_size = 2}); }

// CASE arrays_of_unknown_rank
// expect: Arrays: arrays xt::xtensor, row-major, with elements of a dtype and an axis of the samples, expected
void arrays_of_unknown_rank(const xt::xarray<float>& rows) { tw::data::Arrays data("row"_s = rows); }

// CASE two_arrays_of_one_name
// expect: Arrays: a name given twice: one for each array expected
void two_arrays_of_one_name(const Rows& rows) { tw::data::Arrays data("row"_s = rows, "row"_s = rows); }

// CASE array_that_is_not_there
// expect: ["name"_s]: no array of this name: the name of an array of the data set expected
float array_that_is_not_there(const Rows& rows) { return tw::data::Arrays("row"_s = rows)["rows"_s](0, 0); }
