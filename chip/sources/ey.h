/* Collectives of a chip in C, after MPI's names and order of arguments. All tiles run one program.

   The number of words, the type, the operator and the root of a call must be written as numbers and
   names, because each combination is a program of the network:

       ey_allreduce(EY_IN_PLACE, sums, 16, EY_INT, EY_SUM);

   EY_WORDS(allreduce, 16, EY_INT, EY_SUM) is the place of these words in the message memory. A call
   with this place as its buffer copies nothing. */
#ifndef EY_H
#define EY_H

#include "map.h"

#ifdef __cplusplus
extern "C" {
#endif

#define EY_IN_PLACE ((const void *)0)

/* Types: words of 32 bits, each a number or a vector of two or four smaller numbers, the first in
   the lowest bits. Operators: EY_SUM, EY_MIN, EY_MAX, EY_AND, EY_OR, EY_XOR; floats have EY_SUM. */
#define EY_INT int
#define EY_UNSIGNED unsigned
#define EY_FLOAT float
#define EY_BFLOAT16X2 bfloat16x2
#define EY_INT16X2 int16x2
#define EY_UINT16X2 uint16x2
#define EY_INT8X4 int8x4
#define EY_UINT8X4 uint8x4
#define EY_SUM sum
#define EY_MIN min
#define EY_MAX max
#define EY_AND and
#define EY_OR or
#define EY_XOR xor

static inline int ey_rank(void) { return (int)EY_REGISTERS[EY_AT_RANK]; }
static inline int ey_size(void) { return (int)EY_REGISTERS[EY_AT_SIZE]; }
/* Cycles since all tiles began, modulo 2^32. */
static inline unsigned ey_wtime(void) { return EY_REGISTERS[EY_AT_CYCLE]; }
/* Text for the console: each line appears with the number of its tile. */
void ey_print(const char *format, ...);
/* The function of ey_barrier(). */
void ey__barrier__1(void);

#define EY_NAME1_(call, count) ey__##call##__##count
#define EY_NAME2_(call, count, last) ey__##call##__##count##__##last
#define EY_NAME3_(call, count, type, op) ey__##call##__##count##__##type##__##op
#define EY_NAME4_(call, count, type, op, root) ey__##call##__##count##__##type##__##op##__##root
#define EY_PICK_(_1, _2, _3, _4, _5, name, ...) name
#define EY_NAME_(...) \
    EY_PICK_(__VA_ARGS__, EY_NAME4_, EY_NAME3_, EY_NAME2_, EY_NAME1_, 0)(__VA_ARGS__)
#define EY_NAME(...) EY_NAME_(__VA_ARGS__)
/* The function of a call is declared where it is called. Its label is its name in C++, too. */
#define EY_CALL_(name, send, receive)                         \
    do {                                                      \
        extern void name(const void *, void *) __asm__(#name); \
        name(send, receive);                                  \
    } while (0)
#define EY_CALL(name, send, receive) EY_CALL_(name, send, receive)
#define EY_AT_(name) \
    __extension__({ extern unsigned name##__place[]; name##__place; })
#define EY_PLACE_(name) EY_AT_(name)

/* The place of a call's words: EY_WORDS(bcast, COUNT, ROOT), EY_WORDS(allreduce, COUNT, TYPE, OP),
   EY_WORDS(allgather, COUNT), EY_WORDS(alltoall, COUNT), EY_WORDS(scatter, COUNT, ROOT), ... */
#define EY_WORDS(...) EY_PLACE_(EY_NAME(__VA_ARGS__))

#define ey_barrier() ey__barrier__1()
#define ey_bcast(buffer, count, type, root) \
    EY_CALL(EY_NAME(bcast, count, root), EY_IN_PLACE, buffer)
#define ey_reduce(send, receive, count, type, op, root) \
    EY_CALL(EY_NAME(reduce, count, type, op, root), send, receive)
#define ey_allreduce(send, receive, count, type, op) \
    EY_CALL(EY_NAME(allreduce, count, type, op), send, receive)
/* To each tile what the tiles up to itself contribute, or those before it: tile 0 then gets nothing. */
#define ey_scan(send, receive, count, type, op) \
    EY_CALL(EY_NAME(scan, count, type, op), send, receive)
#define ey_exscan(send, receive, count, type, op) \
    EY_CALL(EY_NAME(exscan, count, type, op), send, receive)
#define ey_allgather(send, count, type, receive) EY_CALL(EY_NAME(allgather, count), send, receive)
#define ey_alltoall(send, count, type, receive) EY_CALL(EY_NAME(alltoall, count), send, receive)
#define ey_scatter(send, count, type, receive, root) \
    EY_CALL(EY_NAME(scatter, count, root), send, receive)
#define ey_gather(send, count, type, receive, root) \
    EY_CALL(EY_NAME(gather, count, root), send, receive)

/* A block of `count` words to each neighbour and one from each: block 0 goes up axis 0 (to the
   larger coordinate), 1 down it, 2 up axis 1, 3 down it. A block without a sender stays. */
#define ey_neighbours(send, count, type, receive) \
    EY_CALL(EY_NAME(neighbours, count), send, receive)
/* Words to the tile whose number differs in these bits, and from it. */
#define ey_exchange(send, count, type, receive, bits) \
    EY_CALL(EY_NAME(exchange, count, bits), send, receive)

#ifdef __cplusplus
}
#endif

#endif
