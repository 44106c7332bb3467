"""The command `imprint`.

- `command`: the parser, and dispatch to subcommands
- `run`: `imprint run`
- `runpy`: a Python program inside this process, run as by Python itself
- `compile_log`: compilations of each function of a program, with reasons and seconds
- `report`: the table of a compile log
- `page`: the same as a page of HTML, with a timeline and the programs
- `cache_commands`: `imprint cache`
- `tune`: `imprint tune`, the fastest form of hot versions
"""
