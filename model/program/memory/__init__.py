"""Places of words in message memories, and the rows that copy them there."""
