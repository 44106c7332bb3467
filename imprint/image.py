"""Image resizing, with JAX's names: `import imprint.image as image`."""

from imprint._src.bootstrap import attribute_errors, public_names
from imprint._src.image.resizing import ResizeMethod as ResizeMethod
from imprint._src.image.resizing import resize as resize
from imprint._src.image.resizing import scale_and_translate as scale_and_translate

attribute_errors.explain_missing(__name__)
public_names.set_public_names(__name__)
