// labels: none
// Loaders of data sets that cannot be handed out in batches.
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

// CASE member_that_is_no_array
// expect: Loader: a data set of this type: a struct that Boost.Hana knows, of arrays xt::xtensor with elements of a dtype
void member_that_is_no_array(const Numbers& data) { tw::data::Loader loader(data, {.batch_size = 2}); }

// CASE struct_that_hana_does_not_know
// expect: Loader: a data set of this type: a struct that Boost.Hana knows, of arrays xt::xtensor with elements of a dtype
void struct_that_hana_does_not_know(const Unknown& data) { tw::data::Loader loader(data, {.batch_size = 2}); }

// CASE data_set_that_ends_before_the_loader
// expect: deleted
void data_set_that_ends_before_the_loader() { tw::data::Loader loader(tw::data::Dataset(4, 2, 2), {.batch_size = 2}); }
