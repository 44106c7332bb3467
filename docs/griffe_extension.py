"""The section `Example:` of docstrings, under the name that Griffe renders."""

import re

import griffe


class ExampleSections(griffe.Extension):
    """Renames the section before a docstring is parsed."""

    def on_instance(self, *, obj, **_):
        """Rename the section of a function, a class or a module."""
        if obj.docstring is not None:
            text = obj.docstring.value
            obj.docstring.value = re.sub(r"^Example:$", "Examples:", text, flags=re.M)
