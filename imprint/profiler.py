"""Timelines of running programs, and profiles of the memory of devices.

`with imprint.profiler.trace(directory):` writes a file that https://ui.perfetto.dev opens.
"""

from imprint._src.bootstrap import attribute_errors
from imprint._src.profiler import ProfileOptions as ProfileOptions
from imprint._src.profiler import StepTraceAnnotation as StepTraceAnnotation
from imprint._src.profiler import TraceAnnotation as TraceAnnotation
from imprint._src.profiler import annotate_function as annotate_function
from imprint._src.profiler import device_memory_profile as device_memory_profile
from imprint._src.profiler import (
    save_device_memory_profile as save_device_memory_profile,
)
from imprint._src.profiler import start_trace as start_trace
from imprint._src.profiler import stop_trace as stop_trace
from imprint._src.profiler import trace as trace

__all__ = [
    "ProfileOptions",
    "StepTraceAnnotation",
    "TraceAnnotation",
    "annotate_function",
    "device_memory_profile",
    "save_device_memory_profile",
    "start_trace",
    "stop_trace",
    "trace",
]

attribute_errors.explain_missing(__name__)
