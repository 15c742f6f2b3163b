/* What every tile does before main and around a call. programs.h is generated. */
#include <stdarg.h>

#include "ey.h"
#include "programs.h"

int main(void);

/* The image: node and space, address, count, words ...; a count of 0 ends it. */
static void load(const unsigned *image) {
    for (; image[2]; image += 3 + image[2]) {
        EY_REGISTERS[EY_AT_HOST_PLACE] = image[0];
        EY_REGISTERS[EY_AT_HOST_ADDRESS] = image[1];
        for (unsigned word = 0; word < image[2]; word++) EY_REGISTERS[EY_AT_HOST_DATA] = image[3 + word];
    }
}

__attribute__((section(".start"), noreturn)) void _start(void) {
    if (ey_rank() == 0) {
        load(ey_image);
        EY_REGISTERS[EY_AT_BEGIN] = 0;
    }
    (void)EY_REGISTERS[EY_AT_BEGIN];
    EY_REGISTERS[EY_AT_EXIT] = main();
    for (int word = 0; word < EY_CHECKED; word++) (void)EY_MESSAGES[word];
    EY_REGISTERS[EY_AT_STOP] = 0;
    for (;;);
}

static void copy(volatile unsigned *to, const volatile unsigned *from, unsigned words) {
    if (to == from) return;
#pragma clang loop unroll_count(4)
    for (unsigned word = 0; word < words; word++) to[word] = from[word];
}

void ey_run_program(const struct ey_program *program, const unsigned *from, unsigned *to) {
    int rank = ey_rank();
    const unsigned *words = from ? from : to + program->in_place * rank;
    for (const struct ey_run *run = program->sent[rank]; run->words; run++)
        copy(EY_MESSAGES + run->address, words + run->offset, run->words);
    EY_REGISTERS[EY_AT_CALL] = program->number;
    (void)EY_REGISTERS[EY_AT_WAIT];
    for (const struct ey_run *run = program->received[rank]; run->words; run++)
        copy(to + run->offset, EY_MESSAGES + run->address, run->words);
    if (from && (program->own_at < 0 || program->own_at == rank))
        copy(to + program->own_to * rank, from + program->own_from * rank, program->own_words);
}

static void put(char letter) { EY_REGISTERS[EY_AT_CONSOLE] = letter; }

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

/* Six digits behind the point, a half rounded up; beyond integers it prints "big". */
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
