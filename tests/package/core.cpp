// What needs no package beyond the core's: models, layers, training, generated data, loaders and texts in memory, and the extras
// that run nothing.
#include <tilewright/data/character_vocabulary.hpp>
#include <tilewright/data/dataset.hpp>
#include <tilewright/data/generated_digits.hpp>
#include <tilewright/data/generated_text.hpp>
#include <tilewright/data/loader.hpp>
#include <tilewright/data/text_batches.hpp>
#include <tilewright/layers/layers.hpp>
#include <tilewright/profile/make_profile.hpp>
#include <tilewright/profile/print_profile.hpp>
#include <tilewright/profile/write_report.hpp>
#include <tilewright/scaling/scaling.hpp>
#include <tilewright/tilewright.hpp>
#include <tilewright/train/train.hpp>

static_assert(tilewright::Shape({2, 3}).nelms() == 6);
static_assert(tilewright::scaling::hosts("hosts", 8, tilewright::scaling::infiniband_hdr).processes_per_node() == 8);

int main() {
  const auto digits = tilewright::data::generated_digits(20, 1);
  tilewright::data::Loader batches(digits.train, {.batch_size = 4});
  std::size_t count = 0;
  for (const auto& batch : batches) count += batch.labels.size();
  return count == digits.train.labels.size() ? 0 : 1;
}
