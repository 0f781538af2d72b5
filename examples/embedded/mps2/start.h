/* What a program on a Cortex-M has in place of a system: text and files of the debugger, or of QEMU, by semihosting. */
#include <stddef.h>

void write_text(const char* text);
static inline void write_number(const char* before, size_t number, const char* after) {
  char digits[12], *first = digits + sizeof digits - 1;
  *first = 0;
  do *--first = (char)('0' + number % 10);
  while ((number /= 10) > 0);
  write_text(before), write_text(first), write_text(after);
}
void end_program(void);
/* Opens a file of the host; `mode` is 1 to read and 5 to write bytes. Returns a handle, or -1. */
int open_file(const char* name, int mode);
/* Return how many bytes were read or written. */
size_t read_file(int file, void* bytes, size_t size);
size_t write_file(int file, const void* bytes, size_t size);
void seek_file(int file, size_t place);
void close_file(int file);
int main(void);
