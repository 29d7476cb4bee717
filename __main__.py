"""The front door: the command ``waitproof``, built from what each room offers. Nothing imports it."""

from __future__ import annotations

import argparse
import signal
import sys
import traceback
from collections.abc import Sequence

from .harness.loading import version_of
from .harness.results.merge import EXIT_ERROR, EXIT_INTERRUPTED
from .properties import command as properties
from .reports import command as reports


def parser() -> argparse.ArgumentParser:
    """The parser of the whole command."""
    front = argparse.ArgumentParser(prog="waitproof", description=__doc__ and "Is this waiter right? Ask it.")
    front.add_argument("--version", action="version", version=f"waitproof {version_of('waitproof')}")
    commands = front.add_subparsers(dest="command", required=True, metavar="{run,list,replay,report,zoo}")
    properties.add_commands(commands, after=reports.conclude)
    reports.add_commands(commands)
    return front


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; the answer is the exit status of SPEC 1."""
    parsed = parser().parse_args(arguments)
    try:
        status: int = parsed.run(parsed)
        sys.stdout.flush()
    except KeyboardInterrupt:
        print("waitproof: interrupted", file=sys.stderr)
        return EXIT_INTERRUPTED
    except BrokenPipeError:
        # The reader of our output went away (head, less): no error of ours, and nothing more can be said. As with any tool, the status
        # is that of SIGPIPE; `run` and `zoo` keep theirs, for they had an answer before they printed it.
        properties.drop_output()
        return 128 + signal.SIGPIPE
    except OSError as error:
        print(f"waitproof: {error}", file=sys.stderr)
        return EXIT_ERROR
    except Exception:  # noqa: BLE001
        # Whatever it is, it is no verdict: exit status 1 would say that a subject broke something.
        traceback.print_exc()
        print("waitproof: a fault of the harness, see above; what was finished is kept", file=sys.stderr)
        return EXIT_ERROR
    return status


if __name__ == "__main__":
    sys.exit(main())
