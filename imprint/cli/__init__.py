"""The command `imprint`, and the programs of its tour.

It is loaded by the command only: `import imprint` does not read it.

- `command`: which function answers a subcommand?
- `started`: how did each function of a program start, and why?
- `stored`: what does `imprint cache` do with the programs on the disk?
- `carried`: how do they go to another machine, and how are they made for one?
- `run`: what does `imprint run` do with a program, and how does it end?
- `launch`: how is a program run as Python itself would run it?
- `ledger`: what did each function of a program compile, and what did it cost?
- `report`: how is a ledger printed?
- `tour`: which parts does `imprint tour` have, and when does it fail?
- `example`: how is a program shown, run and checked?
- `examples`: what does `jit` promise?
- `made_anew`: when is a function that is made anew, or changed, the same?
- `models`: what does a model made of a `Module` compile?
- `calculus`: what do random numbers and derivatives give?
- `recomputed`: what do programs cost that Python unrolls, and their twins?
- `growth`: how is it drawn that cost grows with length?
- `plain`: which scripts of plain NumPy are there?
- `unchanged`: how are they run under `jit`, and what does that save?
- `twice`: what does a program do that starts a second time?
- `digits`: how does a network learn to read digits?
- `devices`: how does it learn on eight devices at a time?
- `together`: how does it learn in two processes?
- `images`: how does a convolutional network?
- `picture`: how are the digits that it read drawn?
- `letters`: how does a transformer learn a text?
- `transformer`: what is that transformer, and what is a step of its training?
- `curve`: how is a loss drawn?
- `extras`: how are libraries loaded that only the demo needs?
"""

from imprint.cli.command import main as main
