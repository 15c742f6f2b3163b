"""Messages that go straight from their source to their target."""
