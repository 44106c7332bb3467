"""Lazy loading of modules and names, which `import imprint` needs first.

- `lazy_modules`: modules that run at their first use
- `lazy_attributes`: names of a module that load at their first use
- `public_names`: the names that `dir` and star imports give
- `attribute_errors`: errors of missing names, with advice
- `hooks`: the two places where a lower floor calls a higher one
"""
