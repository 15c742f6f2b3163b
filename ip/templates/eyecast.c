#include "eyecast.h"

/* Names of the bits of eyecast_engine.h, which are long. */
#define RESULT(field, value)                                                     \
  ((unsigned)(((value)&EYECAST_ENGINE__CONTROLLER_F__RESULT__##field##_bm) >>    \
              EYECAST_ENGINE__CONTROLLER_F__RESULT__##field##_bp))

enum { COMMAND_START = 1, STATE_IDLE = 0, STATE_DONE = 3, STATE_FAILED = 4, STATE_TIMED_OUT = 5 };

static unsigned state_of(volatile eyecast_engine_t *engine) {
  return RESULT(STATE, engine->controller.result);
}

static int is_running(volatile eyecast_engine_t *engine) {
  const unsigned state = state_of(engine);
  return state != STATE_IDLE && state < STATE_DONE;
}

eyecast_status_t eyecast_load(volatile eyecast_engine_t *engine, const eyecast_write_t *image,
                              size_t writes) {
  volatile eyecast_word_t *words = (volatile eyecast_word_t *)(volatile void *)engine;
  size_t number;

  for (number = 0; number < writes; number++) {
    words[image[number].address / sizeof(eyecast_word_t)] = image[number].word;
  }
  /* An image says which network it is for; the engine knows which one it is. */
  return engine->controller.image == engine->controller.identity ? EYECAST_OK
                                                                 : EYECAST_OTHER_NETWORK;
}

eyecast_status_t eyecast_start(volatile eyecast_engine_t *engine, unsigned program) {
  if (is_running(engine)) {
    return EYECAST_BUSY;
  }
  engine->controller.command =
      COMMAND_START | (eyecast_word_t)program << EYECAST_ENGINE__CONTROLLER_F__COMMAND__PROGRAM_bp;
  return state_of(engine) == STATE_IDLE ? EYECAST_BUSY : EYECAST_OK;
}

eyecast_status_t eyecast_wait(volatile eyecast_engine_t *engine, uint32_t polls) {
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

uint32_t eyecast_cycles(volatile eyecast_engine_t *engine) {
  return (uint32_t)engine->controller.cycle;
}

void eyecast_culprit(volatile eyecast_engine_t *engine, unsigned *node, unsigned *flags) {
  const eyecast_word_t result = engine->controller.result;
  *node = RESULT(CULPRIT, result);
  *flags = RESULT(FLAGS, result);
}

eyecast_word_t eyecast_read(volatile eyecast_engine_t *engine, unsigned node, unsigned address) {
  return engine->message[node].word.mem[address];
}
