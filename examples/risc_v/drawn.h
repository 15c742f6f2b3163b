/* Drawn input of the applications: each of RUNS runs draws its numbers from a seed of its own. */
#ifndef RUNS
#define RUNS 1
#endif

static unsigned state_;

static void seed(int run) { state_ = 1u + (unsigned)ey_rank() + 100u * (unsigned)run; }

static int drawn(int below) {
    state_ = state_ * 1664525u + 1013904223u;
    return (int)((state_ >> 16) % (unsigned)below);
}

/* A number that differs if one of the words differs. */
static unsigned digest(const void *words, int count) {
    unsigned sum = 0;
    for (int i = 0; i < count; i++) sum = 31 * sum + ((const unsigned *)words)[i];
    return sum;
}
