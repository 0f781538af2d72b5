/* The same program on the host: what start.c has on a device. */
#include <stdio.h>

#include "start.h"

void write_text(const char* text) { fputs(text, stdout); }
