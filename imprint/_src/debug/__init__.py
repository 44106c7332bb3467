"""Implementation of `imprint.debug`.

- `printing`: how are values shown, or handed to a function, while a program runs?
- `stopping`: how does a program stop in pdb?
- `checking`: how does a program raise an error of the user's?
- `formats`: do arguments fit a text that is formatted when the program runs?
- `shardings`: which devices have which part of an array, as a picture?
- `counting`: what has this process traced, compiled and answered?
"""
