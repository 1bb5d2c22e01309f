"""One module per command: parse, call the library, print."""
