"""What `import imprint` needs before anything else: modules and names that load lazily.

- `lazy_modules`: which modules run only when something is asked of them?
- `lazy_attributes`: which names of a module load when they are asked for?
- `public_names`: which names of a module does `dir` list?
- `attribute_errors`: what does the error of a missing name say?
- `hooks`: where does a lower floor reach upward?
"""
