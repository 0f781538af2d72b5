/* Starts a program on a Cortex-M without a system, and writes text to the debugger, or to QEMU, by semihosting. */
#include "start.h"

#include <stddef.h>
#include <stdint.h>

extern unsigned char data_in_flash[], data_begin[], data_end[], bss_begin[], bss_end[], stack_end[];

static int call_host(int operation, const void* argument) {
  register int r0 __asm("r0") = operation;
  register const void* r1 __asm("r1") = argument;
  __asm volatile("bkpt 0xab" : "+r"(r0) : "r"(r1) : "memory");
  return r0;
}
void write_text(const char* text) { call_host(4, text); }
void end_program(void) { call_host(0x18, (const void*)0x20026); }

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
  main();
  end_program();
}
__attribute__((section(".vectors"), used)) static const void* const vectors[] = {
    stack_end, (const void*)reset, (const void*)stop, (const void*)stop, (const void*)stop, (const void*)stop, (const void*)stop};
