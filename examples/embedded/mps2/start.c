/* Starts a program on a Cortex-M without a system. Text and files go to the debugger, or to QEMU, by semihosting. */
#include "start.h"

#include <stdint.h>
#include <string.h>

extern unsigned char data_in_flash[], data_begin[], data_end[], bss_begin[], bss_end[], stack_end[];

/* Operations of the document "Semihosting for AArch32 and AArch64" of Arm. */
static int call_host(int operation, const void* argument) {
  register int r0 __asm("r0") = operation;
  register const void* r1 __asm("r1") = argument;
  __asm volatile("bkpt 0xab" : "+r"(r0) : "r"(r1) : "memory");
  return r0;
}
void write_text(const char* text) { call_host(4, text); }
void end_program(void) { call_host(0x18, (const void*)0x20026); }
int open_file(const char* name, int mode) {
  return call_host(1, (const uintptr_t[]){(uintptr_t)name, (uintptr_t)mode, strlen(name)});
}
size_t read_file(int file, void* bytes, size_t size) {
  return size - (size_t)call_host(6, (const uintptr_t[]){(uintptr_t)file, (uintptr_t)bytes, size});
}
size_t write_file(int file, const void* bytes, size_t size) {
  return size - (size_t)call_host(5, (const uintptr_t[]){(uintptr_t)file, (uintptr_t)bytes, size});
}
void seek_file(int file, size_t place) { call_host(10, (const uintptr_t[]){(uintptr_t)file, place}); }
void close_file(int file) { call_host(2, (const uintptr_t[]){(uintptr_t)file}); }

static void stop(void) {
  write_text("a fault of the processor\n");
  end_program();
}
void reset(void) {
#ifdef __ARM_FP
  *(volatile uint32_t*)0xe000ed88 |= 0xf << 20; /* CPACR: the unit of floating point */
  __asm volatile("dsb\n isb");
#endif
  for (size_t i = 0; data_begin + i < data_end; ++i) data_begin[i] = data_in_flash[i];
  for (unsigned char* byte = bss_begin; byte < bss_end; ++byte) *byte = 0;
  uint32_t *const above = (uint32_t*)__builtin_frame_address(0) - 16, *unused = (uint32_t*)bss_end;
  for (uint32_t* word = unused; word < above; ++word) *word = 0x55aa55aa;
  if (main() != 0) write_text("an error\n");
  while (*unused == 0x55aa55aa) ++unused; /* the stack grows down from its end to the variables */
  write_number("stack: ", (size_t)(stack_end - (unsigned char*)unused), " bytes\n");
  end_program();
}
__attribute__((section(".vectors"), used)) static const void* const vectors[] = {
    stack_end, (const void*)reset, (const void*)stop, (const void*)stop, (const void*)stop, (const void*)stop, (const void*)stop};
