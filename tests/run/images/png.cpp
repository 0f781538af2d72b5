// labels: alone asan ubsan
#include "tilewright/images/png.hpp"

#include <fstream>
#include <limits>
#include <string>

#include "../../catch.hpp"
#include "../../support/child_process.hpp"
#include "../../support/temporary_folder.hpp"
#include "png_bytes.hpp"
#include "tilewright/core/platform/foreign_headers.hpp"
#include "tilewright/images/image_folder.hpp"
TILEWRIGHT_FOREIGN_HEADERS_BEGIN
#if __has_include(<xtensor/views/xview.hpp>)
#include <xtensor/views/xview.hpp>
#else
#include <xtensor/xview.hpp>
#endif
TILEWRIGHT_FOREIGN_HEADERS_END

namespace {

namespace images = tilewright::images;
namespace fs = std::filesystem;
using images::PngOptions, images::read_png, images::write_png, tilewright::data::ChannelAxis, tilewright::data::DataError;
using Image8 = xt::xtensor<std::uint8_t, 3>;
using Image16 = xt::xtensor<std::uint16_t, 3>;
using ImageFloat = xt::xtensor<float, 3>;

void write(const fs::path& path, const Bytes& bytes) {
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
}
struct File {
  TemporaryFolder folder{};
  fs::path path = folder.path / "image.png";
  explicit File(const Bytes& bytes) { write(path, bytes); }
};
template <class Element = std::uint8_t>
xt::xtensor<Element, 3> read(const Bytes& bytes, const PngOptions& options = {.channel_axis = ChannelAxis::last}) {
  return read_png<Element>(File(bytes).path, options);
}
/// The error's text after the name of the file.
std::string error(const Bytes& bytes) {
  try {
    read(bytes);
  } catch (const DataError& thrown) {
    const std::string what = thrown.what();
    return what.starts_with("read_png: ") ? what.substr(what.find("image.png: ") + 11) : what;
  }
  return "no error";
}

const Bytes rgb = png_bytes({.width = 2, .height = 2, .bits = 8, .colour_type = 2},
                            {0, 10, 20, 30, 40, 50, 60, 0, 70, 80, 90, 100, 110, 255});
const Image8 rgb_pixels{{{10, 20, 30}, {40, 50, 60}}, {{70, 80, 90}, {100, 110, 255}}};

TEST_CASE("read_png: RGB, with channels first or last, as 8 bits, 16 bits or shares") {
  CHECK((read(rgb) == rgb_pixels));
  const auto first = read_png<std::uint8_t>(File(rgb).path);
  REQUIRE((first.shape() == std::array<std::size_t, 3>{3, 2, 2}));
  CHECK((first == Image8{{{10, 40}, {70, 100}}, {{20, 50}, {80, 110}}, {{30, 60}, {90, 255}}}));
  const auto shares = read<float>(rgb);
  CHECK(shares(0, 0, 0) == 10 / 255.0F);
  CHECK(shares(1, 1, 2) == 1);
  CHECK(read<std::uint16_t>(rgb)(1, 0, 1) == 80 * 257);
}

TEST_CASE("read_png: grey, of 1 to 16 bits") {
  CHECK((read(png_bytes({.width = 3, .height = 1, .bits = 8, .colour_type = 0}, {0, 7, 0, 255})) == Image8{{{7}, {0}, {255}}}));
  CHECK((read(png_bytes({.width = 3, .height = 2, .bits = 1, .colour_type = 0}, {0, 0xa0, 0, 0x40})) ==
         Image8{{{255}, {0}, {255}}, {{0}, {255}, {0}}}));
  CHECK((read(png_bytes({.width = 2, .height = 1, .bits = 4, .colour_type = 0}, {0, 0x3f})) == Image8{{{51}, {255}}}));
  const Bytes deep = png_bytes({.width = 2, .height = 1, .bits = 16, .colour_type = 0}, {0, 0x12, 0x34, 0xff, 0xff});
  CHECK((read<std::uint16_t>(deep) == Image16{{{0x1234}, {0xffff}}}));
  CHECK((read(deep) == Image8{{{0x12}, {0xff}}}));  // 0x1234 / 257 is 18.13
  CHECK(read<float>(deep)(0, 0, 0) == 0x1234 / 65535.0F);
  CHECK(read<float>(deep)(0, 1, 0) == 1);
}

TEST_CASE("read_png: alpha, palettes and transparent colours") {
  CHECK((read(png_bytes({.width = 1, .height = 1, .bits = 8, .colour_type = 4}, {0, 9, 8})) == Image8{{{9, 8}}}));
  const Bytes deep = png_bytes({.width = 1, .height = 1, .bits = 16, .colour_type = 6}, {0, 1, 2, 3, 4, 5, 6, 7, 8});
  CHECK((read<std::uint16_t>(deep) == Image16{{{0x102, 0x304, 0x506, 0x708}}}));
  PngFacts palette{.width = 3, .height = 1, .bits = 2, .colour_type = 3, .palette = {1, 2, 3, 4, 5, 6, 7, 8, 9}};
  CHECK((read(png_bytes(palette, {0, 0b10'00'01'00})) == Image8{{{7, 8, 9}, {1, 2, 3}, {4, 5, 6}}}));
  palette.transparency = {255, 50};
  CHECK((read(png_bytes(palette, {0, 0b10'00'01'00})) == Image8{{{7, 8, 9, 255}, {1, 2, 3, 255}, {4, 5, 6, 50}}}));
  const PngFacts grey{.width = 2, .height = 1, .bits = 8, .colour_type = 0, .transparency = {0, 5}};
  CHECK((read(png_bytes(grey, {0, 5, 6})) == Image8{{{5, 0}, {6, 255}}}));
}

TEST_CASE("read_png: filtered and interlaced rows") {
  // Filter 1 adds the pixel on the left, filter 2 the one above.
  CHECK((read(png_bytes({.width = 3, .height = 2, .bits = 8, .colour_type = 0}, {1, 5, 1, 1, 2, 10, 10, 10})) ==
         Image8{{{5}, {6}, {7}}, {{15}, {16}, {17}}}));
  // Adam7 of 3 x 3 pixels: pass 1 has (0, 0); pass 5 rows 2, columns 0 and 2; pass 6 rows 0 and 2, column 1; pass 7 row 1; pass 4
  // (0, 2).
  CHECK((read(png_bytes({.width = 3, .height = 3, .bits = 8, .colour_type = 0, .interlaced = 1},
                        {0, 1, 0, 3, 0, 7, 9, 0, 2, 0, 8, 0, 4, 5, 6})) ==
         Image8{{{1}, {2}, {3}}, {{4}, {5}, {6}}, {{7}, {8}, {9}}}));
}

TEST_CASE("read_png: other channels than the file has") {
  const auto with = [](const Bytes& bytes, std::size_t channels) {
    return read(bytes, {.channels = channels, .channel_axis = ChannelAxis::last});
  };
  const Bytes grey_alpha = png_bytes({.width = 1, .height = 1, .bits = 8, .colour_type = 4}, {0, 9, 8});
  CHECK((with(grey_alpha, 1) == Image8{{{9}}}));
  CHECK((with(grey_alpha, 3) == Image8{{{9, 9, 9}}}));
  CHECK((with(grey_alpha, 4) == Image8{{{9, 9, 9, 8}}}));
  CHECK((with(rgb, 3) == rgb_pixels));
  CHECK((with(rgb, 4) == Image8{{{10, 20, 30, 255}, {40, 50, 60, 255}}, {{70, 80, 90, 255}, {100, 110, 255, 255}}}));
  // 0.299 R + 0.587 G + 0.114 B: 18.15, 48.15, 78.15, 123.54
  CHECK((with(rgb, 1) == Image8{{{18}, {48}}, {{78}, {124}}}));
  CHECK((with(rgb, 2) == Image8{{{18, 255}, {48, 255}}, {{78, 255}, {124, 255}}}));
  CHECK((with(png_bytes({.width = 1, .height = 1, .bits = 16, .colour_type = 2}, {0, 255, 255, 255, 255, 255, 255}), 1) ==
         Image8{{{255}}}));
  CHECK_THROWS_WITH(with(rgb, 5), "read_png: 5 channels: 0 to 4 expected");
}

TEST_CASE("read_png: files that are no whole PNG file") {
  CHECK(error({}) == "no PNG signature: a PNG file expected");
  CHECK(error({'G', 'I', 'F', '8', '9', 'a', 0, 0, 0, 0}) == "no PNG signature: a PNG file expected");
  CHECK_THROWS_WITH(read_png("none.png"), "read_png: none.png: no such file: a readable file expected");
  for (std::size_t size = 8; size < rgb.size(); ++size)
    CHECK(error(Bytes(rgb.begin(), rgb.begin() + static_cast<std::ptrdiff_t>(size))).starts_with("damaged PNG data ("));
  int differs = 0;
  for (std::size_t i = 8; i < rgb.size(); ++i) {
    Bytes damaged = rgb;
    damaged[i] ^= 0x55;
    differs += error(damaged) != "no error";  // but for the checksum of an optional chunk, which is none here
  }
  CHECK(differs == static_cast<int>(rgb.size()) - 8);
  CHECK(error(png_bytes({.width = 2, .height = 3, .bits = 8, .colour_type = 0}, {0, 1, 2, 0, 3, 4}))
            .starts_with("damaged PNG data ("));  // a row is missing
  CHECK(error(png_bytes({.width = 0, .height = 3, .bits = 8, .colour_type = 0}, {0})).starts_with("damaged PNG data ("));
  CHECK(error(png_bytes({.width = 2, .height = 1, .bits = 5, .colour_type = 0}, {0, 1, 2})).starts_with("damaged PNG data ("));
  CHECK(error(png_bytes({.width = 2, .height = 1, .bits = 8, .colour_type = 3}, {0, 1, 2})).starts_with("damaged PNG data ("));
  for (const std::uint8_t interlaced : std::initializer_list<std::uint8_t>{0, 1})
    for (const Bytes& transparency : {Bytes{}, Bytes{7}})
      CHECK(error(png_bytes({.width = 3,
                             .height = 1,
                             .bits = 2,
                             .colour_type = 3,
                             .interlaced = interlaced,
                             .palette = {1, 2, 3, 4, 5, 6},
                             .transparency = transparency},
                            interlaced ? Bytes{0, 0, 0, 0x80, 0, 0} : Bytes{0, 0b00'01'10'00})) ==
            "damaged PNG data (a palette index beyond the palette): a whole PNG file expected");
}

TEST_CASE("read_png: a header that promises more pixels than the file can have") {
  CHECK(error(png_bytes({.width = 1'000'000, .height = 1'000'000, .bits = 16, .colour_type = 6}, {0, 1}))
            .starts_with("1000000 x 1000000 pixels in "));
  CHECK(error(png_bytes({.width = 0x7fffffff, .height = 1, .bits = 8, .colour_type = 0}, {0, 1}))
            .starts_with("damaged PNG data ("));
  const Bytes black(1000 * 1001);  // compresses as well as anything
  CHECK((read(png_bytes({.width = 1000, .height = 1000, .bits = 8, .colour_type = 0}, black)).shape() ==
         std::array<std::size_t, 3>{1000, 1000, 1}));
  const Bytes packed(2000 * 251);  // 8 pixels in a byte become 32 bytes
  CHECK((read(png_bytes({.width = 2000, .height = 2000, .bits = 1, .colour_type = 3, .palette = {1, 2, 3}, .transparency = {9}},
                        packed))
             .shape() == std::array<std::size_t, 3>{2000, 2000, 4}));
}

TEST_CASE("read_png: a small file with many pixels takes little more memory than its image, or is an error") {
  const Bytes packed(2000 * 251);
  const File file(
      png_bytes({.width = 2000, .height = 2000, .bits = 1, .colour_type = 3, .palette = {1, 2, 3}, .transparency = {9}}, packed));
  CHECK_THROWS_WITH(read_png(file.path, {.max_pixels = 3'999'999}),
                    "read_png: " + file.path.string() +
                        ": 2000 x 2000 pixels, 64000000 bytes of elements: at most max_pixels, 3999999, expected");
  CHECK(PngOptions().max_pixels == 89'478'485);
  if (is_sanitized) return;
  long pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  const auto used = static_cast<rlim_t>(pages * sysconf(_SC_PAGESIZE));
  CHECK(in_child(
            [&](Report& report) {
              if (read_png(file.path, {.max_pixels = 4'000'000}).size() != 16'000'000) report.add("another size");
            },
            used + 64'000'000 + (8 << 20)) == "");
  CHECK(in_child(
            [&](Report& report) {
              try {
                read_png(file.path);
                report.add("no error");
              } catch (const DataError& error) {
                const std::string expected = "2000 x 2000 pixels, 64000000 bytes: as much as fits in memory expected";
                if (!std::string(error.what()).ends_with(expected)) report.add(error.what());
              }
            },
            used + (32 << 20)) == "");
}

TEST_CASE("write_png: what read_png reads back") {
  TemporaryFolder folder;
  const fs::path path = folder.path / "written.png";
  for (const ChannelAxis axis : {ChannelAxis::first, ChannelAxis::last})
    for (std::size_t channels = 1; channels <= 4; ++channels) {
      const bool is_first = axis == ChannelAxis::first;
      auto image = is_first ? Image16::from_shape({channels, 5, 7}) : Image16::from_shape({5, 7, channels});
      for (std::size_t i = 0; i < image.size(); ++i) image.data()[i] = static_cast<std::uint16_t>(i * 811);
      write_png(path, image, axis);
      CHECK((read_png<std::uint16_t>(path, {.channel_axis = axis}) == image));
      const Image8 bytes = xt::cast<std::uint8_t>(image / 257);
      write_png(path, bytes, axis);
      CHECK((read_png<std::uint8_t>(path, {.channel_axis = axis}) == bytes));
    }
  const xt::xtensor<float, 2> grey{{0, 0.25F, 0.5F}, {1, -3, 7}};
  write_png(path, grey);
  CHECK((read_png<std::uint8_t>(path) == Image8{{{0, 64, 128}, {255, 0, 255}}}));
  const Image8 batch{{{1, 2}, {3, 4}}, {{5, 6}, {7, 8}}};
  write_png(path, xt::view(batch, 1));
  CHECK((read_png<std::uint8_t>(path) == Image8{{{5, 6}, {7, 8}}}));
  write_png(path, xt::view(batch, xt::all(), xt::all(), 1));  // every second element
  CHECK((read_png<std::uint8_t>(path) == Image8{{{2, 4}, {6, 8}}}));
}

TEST_CASE("write_png: images and files that cannot be written") {
  TemporaryFolder folder;
  const fs::path path = folder.path / "none" / "image.png";
  CHECK_THROWS_WITH(write_png(path, rgb_pixels, ChannelAxis::last),
                    "write_png: " + path.string() + ": a file that cannot be written: a writable file expected");
  CHECK_THROWS_WITH(write_png("x.png", Image8::from_shape({5, 2, 2})),
                    "write_png: x.png: 2 x 2 pixels of 5 channels: 1 to 1,000,000 each of 1 to 4 expected");
  CHECK_THROWS_AS(write_png("x.png", Image8::from_shape({1, 0, 2})), DataError);
  CHECK_THROWS_AS(write_png("x.png", Image8::from_shape({1, 1, 1'000'001})), DataError);
  ImageFloat image = xt::zeros<float>({1, 2, 2});
  image(0, 1, 0) = std::numeric_limits<float>::quiet_NaN();
  CHECK_THROWS_WITH(write_png("x.png", image), "write_png: x.png: NaN in row 1, column 0: numbers from 0 to 1 expected");
  CHECK(!fs::exists("x.png"));
}

/// A folder of images of 1 x 2 pixels by class: cats of value 1 and 2, dogs of 3.
struct Animals {
  TemporaryFolder folder{};
  void add(const std::string& name, std::uint8_t value, std::uint32_t width = 2) const {
    const fs::path path = folder.path / name;
    fs::create_directories(path.parent_path());
    Bytes line(width + 1, value);
    line[0] = 0;
    write(path, png_bytes({.width = width, .height = 1, .bits = 8, .colour_type = 0}, line));
  }
  Animals() {
    add("dog/a.png", 3);
    add("cat/b.PNG", 2);
    add("cat/a.png", 1);
    write(folder.path / "cat" / "notes.txt", {'x'});
  }
};

TEST_CASE("read_image_folder: classes by the names of folders, images by those of files") {
  const Animals animals;
  const auto [dataset, classes, files] = images::read_image_folder<std::uint8_t>(animals.folder.path);
  CHECK(classes == std::vector<std::string>{"cat", "dog"});
  CHECK((dataset.labels == xt::xtensor<std::int32_t, 1>{0, 0, 1}));
  CHECK((dataset.images == xt::xtensor<std::uint8_t, 4>{{{{1, 1}}}, {{{2, 2}}}, {{{3, 3}}}}));
  REQUIRE(files.size() == 3);
  CHECK(files[1] == animals.folder.path / "cat" / "b.PNG");
  const auto colours = images::read_image_folder(animals.folder.path, {.channels = 3, .channel_axis = ChannelAxis::last});
  CHECK((colours.dataset.images.shape() == std::array<std::size_t, 4>{3, 1, 2, 3}));
  CHECK(colours.dataset.images(2, 0, 1, 2) == 3 / 255.0F);
}

TEST_CASE("read_image_folder: folders that are no data set") {
  const Animals animals;
  const std::string folder = animals.folder.path.string();
  animals.add("dog/b.png", 4, 3);
  CHECK_THROWS_WITH(images::read_image_folder(animals.folder.path), "read_image_folder: " + folder +
                                                                        "/dog/b.png: an image of 1 x 1 x 3: 1 x 1 x 2, as the "
                                                                        "first, expected");
  fs::remove(animals.folder.path / "dog" / "b.png");
  write(animals.folder.path / "dog" / "b.png", {1, 2, 3});
  CHECK_THROWS_WITH(images::read_image_folder(animals.folder.path),
                    "read_png: " + folder + "/dog/b.png: no PNG signature: a PNG file expected");
  fs::remove_all(animals.folder.path / "dog");
  fs::create_directories(animals.folder.path / "dog");
  CHECK_THROWS_WITH(images::read_image_folder(animals.folder.path),
                    "read_image_folder: " + folder + "/dog: no file *.png: at least one expected");
  CHECK_THROWS_WITH(images::read_image_folder(animals.folder.path / "cat"),
                    "read_image_folder: " + folder + "/cat: no folder of a class: at least one expected");
  CHECK_THROWS_WITH(images::read_image_folder(animals.folder.path / "none"),
                    "read_image_folder: " + folder + "/none: no such folder: the folder of a data set expected");
}

}  // namespace
