/* The same with its collectives in software. */
#define NAIVE
#include "bitonic_sort.c"
