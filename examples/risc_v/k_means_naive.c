/* The same with its sums in software. */
#define NAIVE
#include "k_means.c"
