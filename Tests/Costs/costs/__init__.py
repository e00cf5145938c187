"""The costs that somebody without an account can cause: instructions and memory."""
