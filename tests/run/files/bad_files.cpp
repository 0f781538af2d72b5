// labels: none
// Files that are wrong: each gives an error that names file, tensor and expectation.
#include <regex>
#include <set>

#include "../../support/temporary_folder.hpp"
#include "files.hpp"
#include "tilewright/core/random/random.hpp"

namespace {

struct BadFile {
  std::string name, tensor, text;  // the text after the tensor's name; "(...)" are a library's words
};

const std::vector<BadFile> bad_files{
    {"big_endian.npz", "x", "dtype '>f4': a little-endian one of 1 to 8 bytes, such as '<f4'"},
    {"bool_of_2.npz", "x", "a bool that is neither 0 nor 1: 0 or 1"},
    {"bzip2.npz", "x", "compression method 12: 0 (stored) or 8 (deflated)"},
    {"changed.npz", "fc1.weight", "an entry that is cut off or has another checksum: 152 whole bytes"},
    {"complex.npz", "x", "dtype '<c8': a little-endian one of 1 to 8 bytes, such as '<f4'"},
    {"compressed_size.npz", "x", "4294967280 compressed bytes: at most the file's 248"},
    {"dict_followed.npz", "x", "more after the header's dict: only spaces"},
    {"dict_unfinished.npz", "x", "a header that goes on with ``: `'`"},
    {"encrypted.npz", "x", "an encrypted entry: an entry that is not encrypted"},
    {"expression.npz", "x", "a header that goes on with `+2,), }?`: `,`"},
    {"fortran.npz", "x", "elements in Fortran's order: row-major elements"},
    {"key_missing.npz", "x", "an incomplete header: descr, fortran_order and shape"},
    {"key_twice.npz", "x", "a header with a key twice: each key once"},
    {"key_unknown.npz", "x", "a header with the key 'x': descr, fortran_order and shape"},
    {"negative.npz", "x", "a shape that goes on with `-1,), }?`: an extent"},
    {"no_array.npz", "x", "no .npy magic number: 0x93 'NUMPY' at the start"},
    {"no_bytes.npz", "", "0 bytes: a .npz file"},
    {"not_zip.npz", "", "no zip archive, or not a whole one (...): a .npz file"},
    {"npy_cut_in_length.npz", "x", "10 bytes: 12 bytes of .npy header"},
    {"npy_cut_in_magic.npz", "x", "no .npy magic number: 0x93 'NUMPY' at the start"},
    {"npy_cut_in_version.npz", "x", "7 bytes: 8 bytes of .npy header"},
    {"npy_header_length.npz", "x", "68 bytes: 65545 bytes of .npy header"},
    {"npy_header_length_32.npz", "x", "70 bytes: 4294967307 bytes of .npy header"},
    {"npy_version.npz", "x", ".npy version 3.0: version 1.0 or 2.0"},
    {"objects.npz", "x", "dtype '|O': a little-endian one of 1 to 8 bytes, such as '<f4'"},
    {"offset.npz", "", "no zip archive, or not a whole one (...): a .npz file"},
    {"overflow_bytes.npz", "x", "a shape of 2^63 bytes or more: a shape that fits in memory"},
    {"overflow_extent.npz", "x", "an extent of 2^64 or more: a shape that fits in memory"},
    {"overflow_product.npz", "x", "a shape of 2^63 bytes or more: a shape that fits in memory"},
    {"seven_axes.npz", "x", "7 axes: at most 6"},
    {"shape_number.npz", "x", "a shape that is a number: a tuple"},
    {"size_2_64.npz", "x", "18446744073709551615 compressed bytes: at most the file's 288"},
    {"size_64.npz", "x", "4611686018427387904 compressed bytes: at most the file's 288"},
    {"size_deflated.npz", "x", "4294967280 bytes from 99 compressed ones: at most 1032 times as many"},
    {"size_stored.npz", "x", "4294967280 bytes from 140 compressed ones: at most 1 times as many"},
    {"string_unfinished.npz", "x", "a header with a string without an end: a Python dict"},
    {"structured.npz", "x", "a structured dtype: numbers"},
    {"suffix.npz", "", "entry 'x.txt': names that end with .npy"},
    {"too_long.npz", "x", "13 bytes of elements: 12 bytes for (3,) float32"},
    {"too_short.npz", "x", "11 bytes of elements: 12 bytes for (3,) float32"},
    {"truncated.npz", "", "no zip archive, or not a whole one (...): a .npz file"},
    {"twice.npz", "", "a name twice: each name once"},
    {"array.safetensors", "", "a header without '{' at its start: a JSON object"},
    {"bool_of_2.safetensors", "x", "a bool that is neither 0 nor 1: 0 or 1"},
    {"dtype_unknown.safetensors", "x", "dtype F4: one of BOOL, I8, I16, I32, I64, U8, U16, U32, U64, F16, F32, F64, BF16"},
    {"dtype_number.safetensors", "x", "dtype that is a number: a text"},
    {"entry_number.safetensors", "x", "a number: an object"},
    {"followed.safetensors", "", "41 bytes in the buffer: the tensors' 40"},
    {"header_length.safetensors", "", "a header of 3 bytes: at most the 2 that follow"},
    {"header_length_0.safetensors", "", "a header without '{' at its start: a JSON object"},
    {"header_length_100_mb.safetensors", "", "a header of 100000001 bytes: at most 100000000"},
    {"header_length_64.safetensors", "", "a header of 18446744073709551615 bytes: at most 100000000"},
    {"hole_between.safetensors", "y", "data_offsets 16 to 28: bytes from 12 on, without holes or overlaps"},
    {"hole_first.safetensors", "x", "data_offsets 4 to 16: bytes from 0 on, without holes or overlaps"},
    {"hole_last.safetensors", "", "16 bytes in the buffer: the tensors' 12"},
    {"json.safetensors", "", "a header that is no JSON (...): a JSON object in UTF-8"},
    {"key_missing.safetensors", "x", "an incomplete entry: dtype, shape and data_offsets"},
    {"key_twice.safetensors", "x", "dtype twice: each key once"},
    {"key_unknown.safetensors", "x", "the key 'strides': dtype, shape and data_offsets"},
    {"magic.safetensors", "", "a header of 67324752 bytes: at most the 56 that follow"},
    {"many_axes.safetensors", "x", "shape of more than 6 numbers: at most 6"},
    {"metadata_number.safetensors", "__metadata__", "'step' with a number: texts"},
    {"metadata_object.safetensors", "__metadata__", "'step' with an object: texts"},
    {"metadata_text.safetensors", "__metadata__", "a text: an object"},
    {"metadata_twice.safetensors", "__metadata__", "'a' twice: each name once"},
    {"nested.safetensors", "x", "the key 'x': dtype, shape and data_offsets"},
    {"nested_arrays.safetensors", "x", "shape with an array: non-negative integers"},
    {"no_bytes.safetensors", "", "0 bytes: the 8 bytes of a header's length"},
    {"offsets_backwards.safetensors", "x", "data_offsets 12 to 0: bytes from 0 on, without holes or overlaps"},
    {"offsets_beyond.safetensors", "x", "data_offsets 0 to 12: bytes of the 8 in the buffer"},
    {"offsets_one.safetensors", "x", "data_offsets of 1 numbers: begin and end"},
    {"offsets_three.safetensors", "x", "data_offsets of more than 2 numbers: begin and end"},
    {"offsets_wrap.safetensors", "x", "data_offsets 0 to 18446744073709551615: bytes of the 12 in the buffer"},
    {"overflow_bytes.safetensors", "x", "a shape of 2^63 bytes or more: a shape that fits in memory"},
    {"overflow_extent.safetensors", "x", "shape with a number that is no integer below 2^64: non-negative integers"},
    {"overflow_offsets.safetensors", "x", "data_offsets with a number that is no integer below 2^64: non-negative integers"},
    {"overflow_product.safetensors", "x", "a shape of 2^63 bytes or more: a shape that fits in memory"},
    {"overlap.safetensors", "y", "data_offsets 8 to 20: bytes from 12 on, without holes or overlaps"},
    {"same_bytes.safetensors", "y", "data_offsets 0 to 12: bytes from 12 on, without holes or overlaps"},
    {"seven_axes.safetensors", "x", "shape of more than 6 numbers: at most 6"},
    {"shape_and_offsets.safetensors", "x", "data_offsets 0 to 12: 16 bytes for (4,) float32"},
    {"shape_fraction.safetensors", "x", "shape with a number that is no integer below 2^64: non-negative integers"},
    {"shape_negative.safetensors", "x", "shape with a negative number: non-negative integers"},
    {"shape_null.safetensors", "x", "shape with null: non-negative integers"},
    {"shape_text.safetensors", "x", "shape that is a text: an array"},
    {"space_first.safetensors", "", "a header without '{' at its start: a JSON object"},
    {"truncated_buffer.safetensors", "step", "data_offsets 36 to 40: bytes of the 39 in the buffer"},
    {"truncated_header.safetensors", "", "a header of 209 bytes: at most the 42 that follow"},
    {"truncated_length.safetensors", "", "5 bytes: the 8 bytes of a header's length"},
    {"twice.safetensors", "x", "this name twice: each name once"},
    {"two_objects.safetensors", "", "a header that is no JSON (...): a JSON object in UTF-8"},
    {"utf8.safetensors", "", "a header that is no JSON (...): a JSON object in UTF-8"},
};

std::string message(const std::string& function, const std::string& path, const BadFile& file) {
  return function + ": " + path + ": " + (file.tensor.empty() ? "" : "'" + file.tensor + "': ") + file.text + " expected";
}

}  // namespace

TEST_CASE("load: every bad file is refused for its own reason") {
  std::set<std::string> untested;
  for (const auto& entry : std::filesystem::directory_iterator(state_folder))
    if (entry.path().filename().string().starts_with("bad_")) untested.insert(entry.path().filename().string());
  for (const BadFile& file : bad_files) {
    const auto path = state_folder / ("bad_" + file.name);
    CAPTURE(path);
    CHECK(untested.erase("bad_" + file.name) == 1);
    try {
      load(path);
      FAIL("it was read");
    } catch (const tw::LoadError& error) {
      CHECK(error.file() == path.string());
      CHECK(error.tensor() == file.tensor);
      const std::string text = std::regex_replace(error.what(), std::regex(R"((a whole one|no JSON) \(.*\):)"), "$1 (...):");
      CHECK(text == message("load_" + path.extension().string().substr(1), path.string(), file));
    }
  }
  CHECK(untested.empty());
}

TEST_CASE("load: paths that lead to no file") {
  const TemporaryFolder folder;
  for (const std::string suffix : {".npz", ".safetensors"}) {
    const auto path = folder.path / ("file" + suffix);
    const std::string begin = "load_" + suffix.substr(1) + ": " + path.string() + ": ";
    CHECK_THROWS_WITH(load(path), begin + "no such file: a readable file expected");
    std::filesystem::create_directory(path);
    CHECK_THROWS_WITH(load(path), begin + "a folder: a readable file expected");
  }
  CHECK_THROWS_WITH(tw::load_npz("/dev/null"), "load_npz: /dev/null: no regular file: a readable file expected");
}

TEST_CASE("load: every cut of a good file is refused") {
  const TemporaryFolder folder;
  for (const std::string name : {"good_small.npz", "good_compressed.npz", "good_small.safetensors"}) {
    const Bytes whole = read_all(state_folder / name);
    for (std::size_t size = 0; size < whole.size(); ++size) {
      CAPTURE(name, size);
      Bytes cut(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size));
      if (name.ends_with(".npz")) CHECK_THROWS_AS(tw::parse_npz(cut, name), tw::LoadError);
      else CHECK_THROWS_AS(tw::parse_safetensors(std::move(cut), name), tw::LoadError);
    }
  }
}

TEST_CASE("load: names in messages are short and printable") {
  const std::string name(100'000, '\n'), cut = std::string(400, '?') + "...";
  CHECK_THROWS_WITH((throw tw::LoadError("load", "file", name, "this", "that")),
                    "load: file: '" + cut + "': this: that expected");
}

namespace {

/// Draws one to four changes of the bytes: of bits, bytes and lengths, or to a large number.
void change(Bytes& bytes, tw::Random& random) {
  const auto below = [&](std::size_t bound) { return static_cast<std::size_t>(random.bits() % bound); };
  for (std::size_t i = 0, count = 1 + below(4); i < count && !bytes.empty(); ++i) {
    const std::size_t place = below(bytes.size());
    switch (below(5)) {
      case 0: bytes[place] ^= std::byte{1} << below(8); break;
      case 1: bytes[place] = static_cast<std::byte>(below(256)); break;
      case 2: bytes.erase(bytes.begin() + static_cast<std::ptrdiff_t>(place)); break;
      case 3: bytes.insert(bytes.begin() + static_cast<std::ptrdiff_t>(place), std::byte{bytes[below(bytes.size())]}); break;
      default:
        std::fill_n(bytes.begin() + static_cast<std::ptrdiff_t>(place), std::min<std::size_t>(8, bytes.size() - place),
                    std::byte{0xff});
    }
  }
}

}  // namespace

TEST_CASE("load: changed bytes give tensors that fit their specs, or an error") {
  // a quick fuzzer; tests/fuzz has the thorough ones
  tw::Random random(1);
  std::size_t read = 0, refused = 0;
  for (const auto& entry : std::filesystem::directory_iterator(state_folder)) {
    const bool is_npz = entry.path().extension() == ".npz", is_good = entry.path().filename().string().starts_with("good_");
    const Bytes original = read_all(entry.path());
    if (original.empty()) continue;
    for (int i = 0; i < (is_good ? 2000 : 50); ++i) {
      Bytes bytes = original;
      change(bytes, random);
      try {
        const auto file = is_npz ? tw::parse_npz(bytes, "npz") : tw::parse_safetensors(std::move(bytes), "safetensors");
        for (const auto& tensor : file.tensors()) REQUIRE(std::cmp_equal(tensor.bytes.size(), tensor.spec.bytes()));
        ++read;
      } catch (const tw::LoadError&) {
        ++refused;
      }
    }
  }
  CHECK(read > 200);
  CHECK(refused > 20'000);
}

TEST_CASE("parse_npy: changed bytes give an array that fits its spec, or an error") {
  // without an archive around them, whose checksums would not fit
  const auto fail = [](const std::string& found, const std::string& expected) {
    throw tw::LoadError("parse_npy", "array", "", found, expected);
  };
  tw::Random random(2);
  std::size_t read = 0, refused = 0;
  for (const auto& entry : std::filesystem::directory_iterator(state_folder / "../../fuzz/corpus/npy")) {
    const Bytes original = read_all(entry.path());
    CHECK_NOTHROW(tw::detail::parse_npy(original, fail));
    for (int i = 0; i < 1000; ++i) {
      Bytes bytes = original;
      change(bytes, random);
      try {
        const auto array = tw::detail::parse_npy(bytes, fail);
        REQUIRE(std::cmp_equal(array.elements.size(), array.spec.bytes()));
        ++read;
      } catch (const tw::LoadError&) {
        ++refused;
      }
    }
  }
  CHECK(read > 100);
  CHECK(refused > 5000);
}
