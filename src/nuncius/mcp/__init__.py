"""The library for other assistants: a server of the Model Context Protocol.

`import mcp` in this folder is the SDK of the extra `mcp`; nothing else may import it.
"""
