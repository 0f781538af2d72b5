#include <tilewright/checkpoint/checkpoint.hpp>
#include <tilewright/images/images.hpp>
#include <tilewright/tilewright.hpp>

static_assert(tilewright::Shape({2, 3}).nelms() == 6);

int main() {
  tilewright::images::write_png("grey.png", xt::xtensor<std::uint8_t, 2>{{0, 255}});
  const bool is_read = tilewright::images::read_png("grey.png")(0, 0, 1) == 1;
  return is_read && !tilewright::Checkpoints("none").newest().has_value() ? 0 : 1;
}
