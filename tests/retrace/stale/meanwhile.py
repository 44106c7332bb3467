"""A thread that makes an edit in the middle of a trace, always at the same place.

`Meanwhile.call` is what the traced code calls: it wakes the thread, and returns when that
has made its edit. It is written in C from end to end, so that the code that is traced
reads nothing for it, and whoever looks at what runs sees the edit of a stranger alone.
"""

import threading


class Meanwhile:
    """Makes one edit, by another thread, in the first call after it is set."""

    def __init__(self):
        self.edit = None
        self._ended = False
        self._asked, self._answered = threading.Lock(), threading.Lock()
        self._asked.acquire()
        self._answered.acquire()
        ask, wait = (
            iter(f, ...) for f in (self._asked.release, self._answered.acquire)
        )
        self.call = zip(ask, wait, strict=False).__next__
        self._thread = threading.Thread(target=self._serve)

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._ended = True
        self.call()
        self._thread.join()

    def _serve(self):
        while not self._ended:
            self._asked.acquire()
            edit, self.edit = self.edit, None
            try:
                if edit is not None:
                    edit()
            finally:
                self._answered.release()
