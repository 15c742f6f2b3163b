#include "eyecast.h"

/* Byte addresses: the types of eyecast_engine.h are packed, so words are not read through them. */
#define CONTROLLER(name) ((uint32_t)offsetof(eyecast_engine_t, controller.name))
#define MESSAGE(node, word, piece)                                                    \
  ((uint32_t)(offsetof(eyecast_engine_t, message) +                                   \
              (node) * sizeof(((eyecast_engine_t *)0)->message[0]) +                  \
              ((word) * EYECAST_PIECE_STRIDE + (piece)) * sizeof(eyecast_word_t)))
#define TABLE(node, word)                                                             \
  ((uint32_t)(offsetof(eyecast_engine_t, table) +                                     \
              (node) * sizeof(((eyecast_engine_t *)0)->table[0]) +                    \
              (word) * sizeof(eyecast_word_t)))

/* Short names of the bits of eyecast_engine.h. */
#define RESULT(field, value)                                                     \
  ((unsigned)(((value)&EYECAST_ENGINE__CONTROLLER_F__RESULT__##field##_bm) >>    \
              EYECAST_ENGINE__CONTROLLER_F__RESULT__##field##_bp))

enum { COMMAND_START = 1, COMMAND_STOP = 2, COMMAND_ACKNOWLEDGE = 3 };
enum { STATE_IDLE = 0, STATE_DONE = 3, STATE_FAILED = 4, STATE_TIMED_OUT = 5 };

static unsigned state_of(eyecast_t engine) {
  return RESULT(STATE, EYECAST_READ(engine, CONTROLLER(result)));
}

static int is_running(eyecast_t engine) {
  const unsigned state = state_of(engine);
  return state != STATE_IDLE && state < STATE_DONE;
}

/* Compare the network of the image with the network of the engine. */
static int is_for_another_network(eyecast_t engine) {
  return EYECAST_READ(engine, CONTROLLER(image)) != EYECAST_READ(engine, CONTROLLER(identity));
}

/* Return a value of `refused` that no refusal from now on leaves there. Only a refused access
 * changes the register, so a former refusal is replaced by that of a write to `identity`. */
static eyecast_word_t before_writes(eyecast_t engine) {
  if (EYECAST_READ(engine, CONTROLLER(refused)) != 0) {
    EYECAST_WRITE(engine, CONTROLLER(identity), 0);
  }
  return EYECAST_READ(engine, CONTROLLER(refused));
}

static eyecast_status_t after_writes(eyecast_t engine, eyecast_word_t before) {
  return EYECAST_READ(engine, CONTROLLER(refused)) == before ? EYECAST_OK : EYECAST_REFUSED;
}

/* Switches have no message memories. */
static const unsigned char is_switch[EYECAST_NODES] = {@IS_SWITCH@};
enum { SWITCH_TABLES = @SWITCH_TABLES@ };

eyecast_status_t eyecast_clear(eyecast_t engine) {
  eyecast_word_t before;
  unsigned node, tables, table, word, piece;

  if (is_running(engine)) {
    return EYECAST_BUSY;
  }
  before = before_writes(engine);
  for (node = 0; node < EYECAST_NODES; node++) {
    for (word = 0; !is_switch[node] && word < EYECAST_MESSAGE_WORDS; word++) {
      for (piece = 0; piece < EYECAST_PIECES; piece++) {
        EYECAST_WRITE(engine, MESSAGE(node, word, piece), 0);
      }
    }
    tables = is_switch[node] ? SWITCH_TABLES : EYECAST_TABLES;
    for (table = 0; table < tables; table++) {
      for (word = 0; word < EYECAST_TABLE_WORDS; word++) {
        EYECAST_WRITE(engine, TABLE(node, table * EYECAST_TABLE_STRIDE + word), 0);
      }
    }
  }
  return after_writes(engine, before);
}

eyecast_status_t eyecast_load(eyecast_t engine, const eyecast_image_t *image) {
  const eyecast_word_t *words = image->words;
  const eyecast_run_t *run;
  eyecast_word_t before;
  uint32_t group, word, address;

  if (is_running(engine)) {
    return EYECAST_BUSY;
  }
  before = before_writes(engine);
  for (run = image->runs; run < image->runs + image->number; run++) {
    for (group = 0; group < run->groups; group++) {
      address = run->address + group * run->stride;
      for (word = 0; word < run->words; word++, address += sizeof(eyecast_word_t)) {
        EYECAST_WRITE(engine, address, *words++);
      }
    }
    if (run->address == CONTROLLER(image) && is_for_another_network(engine)) {
      return EYECAST_OTHER_NETWORK;
    }
  }
  if (after_writes(engine, before) != EYECAST_OK) {
    return EYECAST_REFUSED;
  }
  return is_for_another_network(engine) ? EYECAST_OTHER_NETWORK : EYECAST_OK;
}

eyecast_status_t eyecast_start(eyecast_t engine, unsigned program) {
  return is_running(engine) ? EYECAST_BUSY : eyecast_queue(engine, program);
}

eyecast_status_t eyecast_queue(eyecast_t engine, unsigned program) {
  const eyecast_word_t before = before_writes(engine);
  EYECAST_WRITE(engine, CONTROLLER(command),
                COMMAND_START | (eyecast_word_t)program
                                    << EYECAST_ENGINE__CONTROLLER_F__COMMAND__PROGRAM_bp);
  return after_writes(engine, before);
}

void eyecast_stop(eyecast_t engine) {
  EYECAST_WRITE(engine, CONTROLLER(command), COMMAND_STOP);
}

eyecast_status_t eyecast_wait(eyecast_t engine, uint32_t polls) {
  while (is_running(engine)) {
    if (polls-- == 0) {
      return EYECAST_WAITING;
    }
  }
  switch (state_of(engine)) {
    case STATE_DONE:
      return EYECAST_OK;
    case STATE_FAILED:
      return EYECAST_FAILED;
    case STATE_TIMED_OUT:
      return EYECAST_TIMED_OUT;
    default:
      return EYECAST_WAITING;
  }
}

void eyecast_enable_interrupt(eyecast_t engine, int enabled) {
  EYECAST_WRITE(engine, CONTROLLER(enable), enabled ? 1 : 0);
}

void eyecast_acknowledge(eyecast_t engine) {
  EYECAST_WRITE(engine, CONTROLLER(command), COMMAND_ACKNOWLEDGE);
}

uint32_t eyecast_cycles(eyecast_t engine) {
  return (uint32_t)EYECAST_READ(engine, CONTROLLER(cycle));
}

eyecast_status_t eyecast_culprit(eyecast_t engine, unsigned *node, unsigned *flags) {
  const eyecast_word_t result = EYECAST_READ(engine, CONTROLLER(result));
  *node = RESULT(CULPRIT, result);
  *flags = RESULT(FLAGS, result);
  return RESULT(KNOWN, result) ? EYECAST_OK : EYECAST_WAITING;
}

unsigned eyecast_refused(eyecast_t engine, uint32_t *address) {
  const uint32_t refused = (uint32_t)EYECAST_READ(engine, CONTROLLER(refused));
  *address = refused & ~3u;
  return refused & 3u;
}

eyecast_word_t eyecast_read(eyecast_t engine, unsigned node, unsigned address) {
  return EYECAST_READ(engine, MESSAGE(node, address, 0));
}

eyecast_status_t eyecast_read_words(eyecast_t engine, unsigned node, unsigned address,
                                    eyecast_word_t *words, size_t number) {
  const eyecast_word_t before = before_writes(engine);
  size_t word, piece;

  for (word = 0; word < number; word++) {
    for (piece = 0; piece < EYECAST_PIECES; piece++) {
      *words++ = EYECAST_READ(engine, MESSAGE(node, address + word, piece));
    }
  }
  return after_writes(engine, before);
}

eyecast_status_t eyecast_write(eyecast_t engine, unsigned node, unsigned address,
                               const eyecast_word_t *words, size_t number) {
  const eyecast_word_t before = before_writes(engine);
  size_t word, piece;

  for (word = 0; word < number; word++) {
    for (piece = 0; piece < EYECAST_PIECES; piece++) {
      EYECAST_WRITE(engine, MESSAGE(node, address + word, piece), *words++);
    }
  }
  return after_writes(engine, before);
}
