// labels: none
// What passes give for the tiles of simulated IPUs is verified: drafts and plans that are broken on purpose, one for each rule.
#include "violations.hpp"

namespace {

using namespace violations;
using tw::internal::Room, tw::internal::RoomKind, tw::internal::TileAccess, tw::internal::TileDraft;

/// A product, which takes parts of both inputs from other tiles, and an op on its result.
void product(tw::Ir& ir) {
  const Tensor w = ir.variable(tw::ones(), {64, 64}, tw::float32, "w");
  store(ir, "y", ops::gelu(load(ir, "x", {64, 64}).matmul(w)));
}
/// Two calls of a graph.
void calls(tw::Ir& ir) {
  const tw::Graph square = ir.create_graph([](Tensor x) { return x.matmul(x); }, tw::TensorSpec{{16, 16}, tw::float32});
  store(ir, "y", tw::call(square, tw::call(square, load(ir, "x", {16, 16}))));
}
/// A sum on the second IPU of what the first has.
void two_ipus(tw::Ir& ir) {
  const Tensor x = ops::exp(load(ir, "x", {64})).copy_to_ipu(1);
  const auto second = tw::ipu(ir, 1);
  store(ir, "y", x + 1);
}

constexpr tw::Target tiles = tw::gc200.with_tiles(64);
const Case a_product{"product", product, tiles}, with_calls{"calls", calls, tiles},
    on_two{"two IPUs", two_ipus, tiles.with_ipus(2)};

std::string after_mapping(const Case& of, void (*break_it)(TileDraft&, Plan&)) {
  return violation_of_draft(of, Pass::map_tiles, break_it);
}
std::string after_placing(const Case& of, void (*break_it)(TileDraft&, Plan&)) {
  return violation_of_draft(of, Pass::place_tiles, break_it);
}
/// The first room of a kind.
Room& room(TileDraft& draft, RoomKind kind) {
  for (Room& each : draft.tiles.rooms)
    if (each.kind == kind) return each;
  FAIL("no such room");
  return draft.tiles.rooms[0];
}

}  // namespace

TEST_CASE("verify: storages lie on tiles") {
  CHECK(after_mapping(a_product, [](TileDraft& d, Plan&) { d.tiles.layouts[StorageId(0)].places = {}; }) ==
        "storages have layouts: storage 0 has memory of its own on tiles, but no layout: a layout expected, in body 0 after "
        "map_tiles");
  CHECK(after_mapping(a_product, [](TileDraft& d, Plan&) { d.tiles.layouts.pop_back(); }) ==
        "storages have layouts: 5 layouts: one for each of 6 storages expected, in body 0 after map_tiles");
  CHECK(
      after_mapping(a_product, [](TileDraft& d, Plan&) { d.tiles.layouts[StorageId(0)].places.set = 1; }) ==
      "tensors are on their tiles: storage 0 is on set 1 of tiles: the set of its placement expected, in body 0 after map_tiles");
  CHECK(
      after_mapping(on_two, [](TileDraft& d, Plan&) { d.tiles.layouts[StorageId(0)].places.set = 1; }) ==
      "tensors are on their tiles: storage 0 is on set 1 of tiles: the set of its placement expected, in body 0 after map_tiles");
  CHECK(after_mapping(a_product, [](TileDraft& d, Plan&) { d.tiles.layouts[StorageId(0)].axes[0].block = 65; }) ==
        "layouts hold storages: storage 0 has blocks of 65 along an axis of 64: blocks of 1 to 64 expected, in body 0 after "
        "map_tiles");
  CHECK(after_mapping(a_product, [](TileDraft& d, Plan&) { d.tiles.layouts[StorageId(0)].axes[0].extent = 32; }) ==
        "layouts hold storages: storage 0 has a layout of 2048 elements: 4096 expected, in body 0 after map_tiles");
  CHECK(after_mapping(a_product, [](TileDraft& d, Plan&) { d.tiles.layouts[StorageId(0)].places.count = 63; }) ==
        "blocks have places: storage 0 has blocks on 63 places: a place of its own for each block expected, in body 0 after "
        "map_tiles");
  CHECK(after_mapping(a_product, [](TileDraft& d, Plan&) { d.tiles.layouts[StorageId(0)].axes[0].block = 2; }) ==
        "blocks have places: storage 0 has blocks on 64 places: a place of its own for each block expected, in body 0 after "
        "map_tiles");
}

TEST_CASE("verify: vertices are on tiles, and know what they use") {
  CHECK(after_mapping(a_product, [](TileDraft& d, Plan&) { d.tiles.groups.pop_back(); }) ==
        "vertices have places: 1 groups on tiles: 2 expected, in body 0 after map_tiles");
  CHECK(after_mapping(on_two, [](TileDraft& d, Plan&) { d.tiles.groups[0].grid.places.set = 1; }) ==
        "vertices are on their tiles: operation 0 (Exp) is on set 1 of tiles, as its group 0 is: the set of its placement "
        "expected, in body 0 after map_tiles");
  CHECK(after_mapping(a_product, [](TileDraft& d, Plan&) { d.tiles.groups[0].grid.axes.count = 2; }) ==
        "vertices have places: group 0 has 2 axes on tiles: 3 expected, in body 0 after map_tiles");
  CHECK(after_mapping(a_product, [](TileDraft& d, Plan&) { d.tiles.groups[0].grid.places.count = 63; }) ==
        "vertices have places: group 0 has 64 vertices on 63 places: a place of its own for each vertex expected, in body 0 "
        "after map_tiles");
  CHECK(after_mapping(a_product, [](TileDraft& d, Plan&) { d.tiles.groups[0].grid.axes[0].outer_step = 1; }) ==
        "vertices have places: group 0 has 64 vertices on 64 places: a place of its own for each vertex expected, in body 0 "
        "after map_tiles");
  CHECK(after_mapping(a_product, [](TileDraft& d, Plan&) { d.tiles.groups[0].grid.axes[0].inner = 0; }) ==
        "vertices have places: group 0 has 64 vertices on 64 places: a place of its own for each vertex expected, in body 0 "
        "after map_tiles");
  CHECK(after_mapping(a_product, [](TileDraft& d, Plan&) { d.tiles.groups[0].operands[0].storage = StorageId(99); }) ==
        "vertices know what they use: group 0 uses storage 99 on tiles: a storage with a layout expected, in body 0 after "
        "map_tiles");
  CHECK(after_mapping(a_product, [](TileDraft& d, Plan&) { d.tiles.groups[0].operands[0].is_read = false; }) ==
        "vertices know what they use: operation 0 (MatMul) reads storage 0, which is not among the read operands of group 0: an "
        "operand for it expected, in body 0 after map_tiles");
  CHECK(after_mapping(a_product, [](TileDraft& d, Plan&) { d.tiles.groups[0].operands.back().is_written = false; }) ==
        "vertices know what they use: operation 0 (MatMul) writes storage 5, which is not among the written operands of group 0: "
        "an operand for it expected, in body 0 after map_tiles");
  CHECK(after_mapping(on_two,
                      [](TileDraft& d, Plan&) {
                        for (auto& group : d.tiles.groups)
                          for (auto& operand : group.operands) operand.access = TileAccess::local;
                      }) ==
        "local operands are on the same tiles: group 1 on set 1 of tiles uses storage 1 of set 0 without an exchange: an "
        "exchange expected, in body 0 after map_tiles");
}

TEST_CASE("verify: rooms on tiles") {
  CHECK(after_placing(a_product, [](TileDraft& d, Plan&) { d.tiles.rooms[0].set = 1; }) ==
        "rooms are in use: a room on set 1 of tiles, from group 0 to 0: a set from 0 to 0, and groups from 0 to 1, expected, in "
        "body 0 after place_tiles");
  CHECK(after_placing(a_product, [](TileDraft& d, Plan&) { d.tiles.rooms[0].last = 99; }) ==
        "rooms are in use: a room on set 0 of tiles, from group 0 to 99: a set from 0 to 0, and groups from 0 to 1, expected, in "
        "body 0 after place_tiles");
  CHECK(after_placing(a_product, [](TileDraft& d, Plan&) { d.tiles.rooms[0].address += 4; }) ==
        "rooms are aligned: a room of 256 bytes at 4: an address that is a multiple of 8 expected, in body 0 after place_tiles");
  CHECK(after_placing(a_product, [](TileDraft& d, Plan&) { d.tiles.rooms[1].address = d.tiles.rooms[0].address + 8; }) ==
        "live rooms do not overlap: rooms of 1024 bytes at 8 and of 256 bytes at 0 are both in use in group 0: separate bytes "
        "expected, in body 0 after place_tiles");
  CHECK(after_placing(on_two, [](TileDraft& d, Plan&) { room(d, RoomKind::storage).set = 1; }) ==
        "rooms hold blocks: storage 0 has 32 bytes on set 1 of tiles: at least 32 bytes on set 0 expected, in body 0 after "
        "place_tiles");
  CHECK(after_placing(a_product, [](TileDraft& d, Plan&) { room(d, RoomKind::storage).bytes -= 8; }) ==
        "rooms hold blocks: storage 0 has 248 bytes on set 0 of tiles: at least 256 bytes on set 0 expected, in body 0 after "
        "place_tiles");
  CHECK(after_placing(a_product, [](TileDraft& d, Plan&) { room(d, RoomKind::received).kind = RoomKind::storage; }) ==
        "storages have one room: a room is for storage 0, which has another room: one room for each storage expected, in body 0 "
        "after place_tiles");
  CHECK(after_placing(a_product, [](TileDraft& d, Plan&) { room(d, RoomKind::storage).kind = RoomKind::scratch; }) ==
        "storages have rooms: group 0 uses storage 0, which has no room then: a room expected, in body 0 after place_tiles");
  CHECK(after_placing(a_product, [](TileDraft& d, Plan&) { room(d, RoomKind::received).kind = RoomKind::scratch; }) ==
        "slices have rooms: group 0 has 1 rooms for slices: 2 expected, in body 0 after place_tiles");
  CHECK(after_placing(with_calls, [](TileDraft& d, Plan&) { room(d, RoomKind::storage).kind = RoomKind::scratch; }) ==
        "storages have rooms: group 0 uses storage 0, which has no room then: a room expected, in body 0 after place_tiles");
}

TEST_CASE("verify: a plan says of each step where it runs and what it takes") {
  const auto after_all = [](const Case& of, auto break_it) {
    return violation_of_draft(of, Pass::place, [&](TileDraft&, Plan& p) { break_it(p); });
  };
  CHECK(after_all(a_product, [](Plan& p) { p.moves.pop_back(); }) ==
        "steps have moves and cycles: 1 rows of moves and 2 of cycles: 2 of each expected, in body 0 after place");
  CHECK(after_all(a_product, [](Plan& p) { p.moves[0].set = -1; }) ==
        "steps are on tiles: step 0 is on set -1 of tiles: a set of the plan expected, in body 0 after place");
  CHECK(after_all(with_calls, [](Plan& p) { p.moves.back().set = 0; }) ==
        "steps are on tiles: step 1 is on set 0 of tiles: no set (-1) expected, in body 0 after place");
  CHECK(after_all(on_two, [](Plan& p) { p.moves[0].from_set = 2; }) ==
        "steps are on tiles: step 0 copies from set 2 of tiles: a set of the plan, or none (-1), expected, in body 0 after "
        "place");
}

TEST_CASE("verify: programs on simulated IPUs have no violation") {
  for (const Case& each : {a_product, with_calls, on_two})
    for (const tw::Target& target : {each.target, each.target.with_tiles(7), each.target.with_io_tiles(32)}) {
      INFO(each.name);
      CHECK_NOTHROW(tw::lower_verified(tw::prepare(*tw::trace(each.program, target), target)));
    }
}

TEST_CASE("print_passes shows what is on tiles") {
  const std::string printed = tw::print_passes(tw::prepare(*tw::trace(product, tiles), tiles)).string();
  CHECK(printed.find("VIOLATION") == printed.npos);
  const auto shows = [&](std::string_view title, std::string_view text) { violations::check_part(printed, title, text); };
  shows("Body 0 after map_tiles", "  storage 0: (64, 64) float32, stream 0, blocks of 4 x 16 in 64 places on tiles\n");
  shows("Body 0 after map_tiles", " vertices of 16 x 16 x 16 in 64 places on tiles\n");
  shows("Body 0 after place_tiles", "  room on tiles: storage 0, bytes 0 to 256, groups 0 to 0\n");
  shows("Body 0 after place_tiles", "  room on tiles: received of storage 1, bytes ");
}
