/* The same with its collectives in software. */
#define NAIVE
#include "k_means.c"
