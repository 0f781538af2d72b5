/* Draws digits on the host, for the files that train.c reads: `draw train.digits 8000 1000` draws 8000, from seed 1000 on. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int32_t draw_digit(uint64_t seed, uint8_t* pixels);

int main(int count, char** arguments) {
  FILE* file = count == 4 ? fopen(arguments[1], "wb") : NULL;
  if (file == NULL) return 1;
  for (uint64_t i = 0, digits = strtoull(arguments[2], NULL, 10); i < digits; ++i) {
    uint8_t digit[28 * 28 + 1];
    digit[28 * 28] = (uint8_t)draw_digit(strtoull(arguments[3], NULL, 10) + i, digit);
    fwrite(digit, 1, sizeof digit, file);
  }
  return fclose(file);
}
