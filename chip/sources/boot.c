/* What every tile does before main and around a call. programs.h is generated. */
#include <stdarg.h>

#include "ey.h"
#include "programs.h"

#define MESSAGES ((volatile unsigned *)0x10000000)

int main(void);

/* The image: node and space, address, count, words ...; a count of 0 ends it. */
static void load(const unsigned *image) {
    for (; image[2]; image += 3 + image[2]) {
        EY_REGISTER_(EY_AT_HOST_PLACE) = image[0];
        EY_REGISTER_(EY_AT_HOST_ADDRESS) = image[1];
        for (unsigned word = 0; word < image[2]; word++) EY_REGISTER_(EY_AT_HOST_DATA) = image[3 + word];
    }
}

__attribute__((section(".start"), noreturn)) void _start(void) {
    if (ey_rank() == 0) {
        load(ey_image);
        EY_REGISTER_(EY_AT_BEGIN) = 0;
    }
    (void)EY_REGISTER_(EY_AT_BEGIN);
    EY_REGISTER_(EY_AT_EXIT) = main();
    for (int word = 0; word < EY_CHECKED; word++) (void)MESSAGES[word];
    EY_REGISTER_(EY_AT_STOP) = 0;
    for (;;);
}

/* Copy words between a buffer and the message memory, unless the buffer is there. */
static void send(const struct ey_run *run, const unsigned *buffer) {
    for (; run->words; run++)
        if (MESSAGES + run->address != buffer + run->offset)
            for (unsigned word = 0; word < run->words; word++)
                MESSAGES[run->address + word] = buffer[run->offset + word];
}

static void receive(const struct ey_run *run, unsigned *buffer) {
    for (; run->words; run++)
        if (MESSAGES + run->address != buffer + run->offset)
            for (unsigned word = 0; word < run->words; word++)
                buffer[run->offset + word] = MESSAGES[run->address + word];
}

void ey_run_program(const struct ey_program *program, const unsigned *from, unsigned *to) {
    int rank = ey_rank();
    send(program->sent[rank], from ? from : to + program->in_place * rank);
    EY_REGISTER_(EY_AT_CALL) = program->number;
    (void)EY_REGISTER_(EY_AT_WAIT);
    receive(program->received[rank], to);
    if (from && (program->own_at < 0 || program->own_at == rank))
        for (unsigned word = 0; word < program->own_words; word++)
            to[program->own_to * rank + word] = from[program->own_from * rank + word];
}

static void put(char letter) { EY_REGISTER_(EY_AT_CONSOLE) = letter; }

static void put_text(const char *text) {
    while (*text) put(*text++);
}

static void put_number(unsigned number, unsigned base, int digits) {
    char text[12];
    int length = 0;
    do text[length++] = "0123456789abcdef"[number % base];
    while ((number /= base) || length < digits);
    while (length) put(text[--length]);
}

static void put_integer(int number) {
    if (number < 0) put('-');
    put_number(number < 0 ? 0u - number : (unsigned)number, 10, 1);
}

/* Six digits behind the point; what does not fit an integer is shown as "big". */
static void put_float(double number) {
    if (number < 0) put('-'), number = -number;
    if (!(number < 4294967295.0)) return put_text(number == number ? "big" : "nan");
    unsigned whole = (unsigned)number;
    unsigned part = (unsigned)((number - whole) * 1000000.0 + 0.5);
    if (part == 1000000) part = 0, whole++;
    put_number(whole, 10, 1);
    put('.');
    put_number(part, 10, 6);
}

void ey_print(const char *format, ...) {
    va_list given;
    va_start(given, format);
    for (; *format; format++) {
        if (*format != '%') {
            put(*format);
            continue;
        }
        switch (*++format) {
            case 'd': put_integer(va_arg(given, int)); break;
            case 'u': put_number(va_arg(given, unsigned), 10, 1); break;
            case 'x': put_number(va_arg(given, unsigned), 16, 1); break;
            case 'f': put_float(va_arg(given, double)); break;
            case 's': put_text(va_arg(given, const char *)); break;
            case 'c': put(va_arg(given, int)); break;
            default: put(*format);
        }
    }
    va_end(given);
}
