/* The trained network infers with its weights in constants: the file that in_c.c has written. */
#include "rom.h"
#include "values.h"

__asm(".section .rodata\n.balign 8\ntrained: .incbin \"saved\"\ntrained_end:\n.previous");
extern const unsigned char trained[], trained_end[];
static _Alignas(ROM_ALIGNMENT) unsigned char rom[ROM_BYTES];

int main(void) {
  const size_t size = (size_t)(trained_end - trained);
  rom_status status = {"", "", 0, 0, 0};
  float logits[10];
  for (int step = 0; step < steps; ++step) draw_batch();
  if (rom_init(rom, trained + 1, size - 1, 1, &status) != rom_unfit_file) return 1;
  if (rom_init(rom, trained, size, 1, &status) != rom_done) return 1;
  if (rom_run_infer(rom, images[0][0], logits, &status) != rom_done) return 1;
  print_bytes("logits", logits, sizeof logits);
  const unsigned char* const weight = (const unsigned char*)rom_variable_fc1_weight(rom);
  return ROM_VARIABLES != 0 || weight < trained || weight + pixels * 32 * sizeof(float) > trained_end ||
         rom_load(rom, trained, size, NULL) != rom_done;
}
