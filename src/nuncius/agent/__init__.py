"""The agent's kernel: tool, registry, executor, permissions, loop. It knows no astronomy."""
