"""A file that is open for editing here, while something else may write it too: nothing of either is lost."""

from __future__ import annotations

from pathlib import Path

from attncli.errors import Unfit
from attncli.files import cannot_write, free_name, write_whole

LARGEST_BYTES = 256 * 1024


class OpenFile:
    """`text` is what was read or written last. Raises UsageError where the file cannot be read as text."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.text = _read(path)

    def save(self, text: str) -> Path | None:
        """Puts `text` into the file. Where something else wrote it meanwhile, that is kept as a copy; the copy.

        Raises UsageError where it cannot be written; then the file is as it was.
        """
        kept = None
        try:
            if self.path.exists() and (there := _read(self.path)) not in (self.text, text):
                kept = free_name(self.path, "{stem}.other-{number}{suffix}")
                write_whole(kept, [there])
            write_whole(self.path, [text])
        except OSError as error:
            raise cannot_write(self.path, error, "what you typed is still here") from error
        self.text = text
        return kept


def _read(path: Path) -> str:
    try:
        if path.stat().st_size > LARGEST_BYTES:
            said = f"{path} is larger than {LARGEST_BYTES // 1024} KiB; open it in another editor"
            raise Unfit(said, "file-large", file=str(path))
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        said = f"{path} is no text in UTF-8; open it in another editor"
        raise Unfit(said, "file-no-text", file=str(path)) from error
    except OSError as error:
        said = f"cannot read {path} ({error.strerror}); make it readable"
        raise Unfit(said, "file-unread", file=str(path)) from error
