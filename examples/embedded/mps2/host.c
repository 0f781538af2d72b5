/* The same programs on the host: what start.c has on a device. */
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "start.h"

void write_text(const char* text) { fputs(text, stdout); }
int open_file(const char* name, int mode) { return open(name, mode == 5 ? O_CREAT | O_TRUNC | O_WRONLY : O_RDONLY, 0644); }
size_t read_file(int file, void* bytes, size_t size) { return (size_t)read(file, bytes, size); }
size_t write_file(int file, const void* bytes, size_t size) { return (size_t)write(file, bytes, size); }
void seek_file(int file, size_t place) { lseek(file, (off_t)place, SEEK_SET); }
void close_file(int file) { close(file); }
