/* A driver of an Eyecast engine behind a bus: it loads the image of a program, starts it, waits for
 * its end, and writes and reads words. It allocates no memory, and calls no other code.
 *
 * Functions that can fail return EYECAST_OK or an error. The registers are described in
 * eyecast_engine.h and registers/index.html, the run control in contract.html.
 *
 * The register `refused` keeps the last refusal until the next one. If it is not 0, functions that
 * return EYECAST_REFUSED first write to the read-only register `identity`. The bus answers that
 * write with an error, and `refused` is then 1; a handler of bus errors can ignore it. */
#ifndef EYECAST_H
#define EYECAST_H

#include <stddef.h>
#include <stdint.h>

#include "eyecast_engine.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A word of the bus. A message word of more than 64 bits has several of them, its pieces. */
typedef @WORD@ eyecast_word_t;

/* The engine's address on the bus. */
typedef volatile eyecast_word_t *eyecast_t;

/* If the engine is not memory-mapped, define these two as other functions. The engine accepts only
 * whole words, so each must be one access of the bus. */
#ifndef EYECAST_READ
#if UINTPTR_MAX < @MOST_WORD@
#error "a word of this engine is wider than a register here: define EYECAST_READ and EYECAST_WRITE"
#endif
#define EYECAST_READ(engine, address) ((engine)[(address) / sizeof(eyecast_word_t)])
#define EYECAST_WRITE(engine, address, word) \
  ((void)((engine)[(address) / sizeof(eyecast_word_t)] = (word)))
#endif

/* Nodes, words of a node's message memory and of each of its table memories. With circuits, each
 * entry of the run table counts as a table memory. A message word has EYECAST_PIECES pieces, at
 * successive addresses; the next word begins EYECAST_PIECE_STRIDE addresses after it. */
enum {
  EYECAST_NODES = @NODES@,
  EYECAST_MESSAGE_WORDS = @MESSAGE_WORDS@,
  EYECAST_PIECES = @PIECES@,
  EYECAST_PIECE_STRIDE = @PIECE_STRIDE@,
  EYECAST_TABLES = @TABLES@,
  EYECAST_TABLE_WORDS = @TABLE_WORDS@,
  EYECAST_TABLE_STRIDE = @TABLE_STRIDE@
};

/* A run of an image: `groups` times `words` words, to byte addresses that go up by one word within
 * a group and by `stride` bytes from group to group. */
typedef struct {
  uint32_t address, stride;
  uint16_t words, groups;
} eyecast_run_t;

/* The image of a program: its runs, and all their words. */
typedef struct {
  const eyecast_run_t *runs;
  size_t number;
  const eyecast_word_t *words;
} eyecast_image_t;

typedef enum {
  EYECAST_OK = 0,
  EYECAST_OTHER_NETWORK, /* the image was made for another network */
  EYECAST_BUSY,          /* a program runs */
  EYECAST_REFUSED,       /* a write or a start was refused: eyecast_refused */
  EYECAST_WAITING,       /* the run has not ended yet */
  EYECAST_FAILED,        /* some node has a flag set: eyecast_culprit */
  EYECAST_TIMED_OUT      /* the run was as long as its limit */
} eyecast_status_t;

/* Write 0 to every word of every memory. With parity, do this once after power-on: half of the
 * unwritten words look damaged. Nothing is written while a program runs. */
eyecast_status_t eyecast_clear(eyecast_t engine);

/* Write an image, one bus write for each of its words. Nothing is written while a program runs; only
 * the first word is written if the image is for another network. */
eyecast_status_t eyecast_load(eyecast_t engine, const eyecast_image_t *image);

/* Start a loaded program; EYECAST_BUSY if one runs. */
eyecast_status_t eyecast_start(eyecast_t engine, unsigned program);

/* Start a loaded program as soon as the running one is done; at once if none runs. One program at a
 * time can be queued; a run that fails or times out empties the queue. */
eyecast_status_t eyecast_queue(eyecast_t engine, unsigned program);

/* End the run and empty the queue. */
void eyecast_stop(eyecast_t engine);

/* Check whether the run has ended, at most `polls` times. */
eyecast_status_t eyecast_wait(eyecast_t engine, uint32_t polls);

/* Enable or disable the interrupt at the end of a run. */
void eyecast_enable_interrupt(eyecast_t engine, int enabled);

/* Acknowledge the end of the last run, which ends the interrupt. */
void eyecast_acknowledge(eyecast_t engine);

/* Cycles of the last run. */
uint32_t eyecast_cycles(eyecast_t engine);

/* The node at which the last run failed or timed out, and its flags; EYECAST_WAITING until the
 * flags are known, a few cycles after the end of the run. */
eyecast_status_t eyecast_culprit(eyecast_t engine, unsigned *node, unsigned *flags);

/* The reason of the last refusal since the reset, and the byte address of the refused access. 0: no
 * access was refused, 1: there is no such word, 2: not now, 3: the word is damaged. */
unsigned eyecast_refused(eyecast_t engine, uint32_t *address);

/* A word of a node's message memory, or the lowest piece of one. */
eyecast_word_t eyecast_read(eyecast_t engine, unsigned node, unsigned address);

/* Read `number` words of a node's message memory, from `address` on: EYECAST_PIECES elements of
 * `words` each, the lowest piece first. While a program runs, the network comes first at each
 * memory, and a read can be refused; the pieces of a word can then be of different times. */
eyecast_status_t eyecast_read_words(eyecast_t engine, unsigned node, unsigned address,
                                    eyecast_word_t *words, size_t number);

/* Write `number` words into a node's message memory, from `address` on, in pieces as they are read.
 * A word changes with its last piece. Only one caller at a time may write words of a node. */
eyecast_status_t eyecast_write(eyecast_t engine, unsigned node, unsigned address,
                               const eyecast_word_t *words, size_t number);

#ifdef __cplusplus
}
#endif

#endif
