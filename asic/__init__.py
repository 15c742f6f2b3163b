"""Silicon: area, time and energy of a network's parts in a library of standard cells."""
