"""Hooks of mkdocs: pages of the API, of the examples, and pages from the root.

`reference/api/` has a page for each public module: mkdocstrings renders the signature and
the docstring of each name. `gallery/` has a page for each program of `examples/gallery/`,
with the picture that the program draws.
"""

import contextlib
import importlib
import inspect
import io
import pkgutil
import re
from pathlib import Path

from mkdocs.structure.files import File

import imprint
from examples.gallery.__main__ import PROGRAMS, draw

ROOT = Path(__file__).parent.parent
HIDDEN = {"imprint.__main__", "imprint.as_jax", "imprint.cli"}
FROM_ROOT = ("CHANGELOG.md", "CONTRIBUTING.md")
# Files that pages link to, as regular expressions, and their pages.
OUTSIDE = (
    (r"CONTRIBUTING\.md", "CONTRIBUTING.md"),
    (r"examples/gallery/(\w+)\.py", r"gallery/\1.md"),
)


def on_config(config):
    """Add the pages of the API to the navigation."""
    pages = [f"gallery/{name}.md" for name in PROGRAMS]
    next(entry for entry in config.nav if "Learn" in entry)["Learn"].append(
        {"Gallery": pages}
    )
    reference = next(entry["Reference"] for entry in config.nav if "Reference" in entry)
    reference.append({"API": [{name: api_path(name)} for name in public_modules()]})
    return config


def on_files(files, config):
    """Add the pages that are no files of `docs/`."""
    for name in FROM_ROOT:
        text = (ROOT / name).read_text(encoding="utf-8")
        text = text.replace("](docs/", "](")
        files.append(File.generated(config, name, content=text))
    for name in PROGRAMS:
        for path, content in gallery_files(name):
            files.append(File.generated(config, path, content=content))
    for name in public_modules():
        files.append(File.generated(config, api_path(name), content=api_page(name)))
    return files


def on_page_markdown(markdown, page, **_):
    """Link to files out of `docs/` where they are on the site."""
    up = "../" * page.file.src_uri.count("/")
    for file, place in OUTSIDE:
        markdown = re.sub(rf"\]\((?:\.\./)+{file}\)", rf"]({up}{place})", markdown)
    return markdown


def public_modules():
    """Return the names of the modules that have documented names of their own."""
    walked = pkgutil.walk_packages(imprint.__path__, "imprint.")
    names = [each.name for each in walked if "._" not in each.name]
    return ["imprint", *(name for name in sorted(names) if name not in HIDDEN)]


def gallery_files(name):
    """Yield the page of a program of the gallery, and its picture."""
    program = importlib.import_module(f"examples.gallery.{name}")
    title, _, about = inspect.getdoc(program).partition(": ")
    page = f"# {title}\n\n{about[0].upper()}{about[1:]}\n\n"
    command = f"python -m examples.gallery {name}"
    if hasattr(program, "plot"):
        picture = io.BytesIO()
        with contextlib.redirect_stdout(io.StringIO()):
            draw(program, picture)
        yield f"gallery/{name}.png", picture.getvalue()
        shown = inspect.getdoc(program.plot).removeprefix("Draw ").rstrip(".")
        page += f"![{shown}]({name}.png)\n\n"
        command += f" --plot {name}.png"
    _, _, code = inspect.getsource(program).split('"""', maxsplit=2)
    page += f"`{command}` in a checkout runs it.\n\n```python\n{code.strip()}\n```\n"
    yield f"gallery/{name}.md", page


def api_path(name):
    return f"reference/api/{name}.md"


def api_page(name):
    """Return the page of a module: its docstring, then each of its names."""
    module = importlib.import_module(name)
    lines = [f"# {name}", "", inspect.getdoc(module) or "", ""]
    for member in public_names(module):
        proper = getattr(getattr(module, member), "__name__", member)
        if proper != member and getattr(module, proper, None) is getattr(
            module, member
        ):
            link = f"[`{proper}`](#{name}.{proper})"
            lines += [
                f"## {member} {{ #{name}.{member} }}",
                "",
                f"The same as {link}.",
                "",
            ]
        else:
            lines += [f"::: {name}.{member}", ""]
    return "\n".join(lines)


def public_names(module):
    """Return the documented functions and classes of a module, sorted."""
    names = getattr(module, "__all__", None) or dir(module)
    return [
        name
        for name in sorted(names, key=str.lower)
        if not name.startswith("_") and is_documented(getattr(module, name, None))
    ]


def is_documented(value):
    if inspect.ismodule(value) or not callable(value):
        return False
    return bool(inspect.getdoc(value)) and str(
        getattr(value, "__module__", "")
    ).startswith("imprint")
