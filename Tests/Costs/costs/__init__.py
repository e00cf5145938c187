"""What somebody without an account can cost: instructions and memory."""
