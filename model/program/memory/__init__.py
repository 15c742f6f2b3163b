"""Where words lie in message memories, and which row puts which of them where."""
