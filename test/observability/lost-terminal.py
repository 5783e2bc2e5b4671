# Runs a command on a pseudo-terminal that is lost once the command has printed something:
# python3 lost-terminal.py close|stall COMMAND...
# "close" closes the terminal; "stall" no longer reads it, as Ctrl-S does. Passes SIGTERM on, and exits with the
# code of the command.
import os
import signal
import subprocess
import sys

how, command = sys.argv[1], sys.argv[2:]
screen, terminal = os.openpty()
child = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=terminal, stderr=terminal)
os.close(terminal)
signal.signal(signal.SIGTERM, lambda *_: child.terminate())
os.read(screen, 1)
if how == "close":
    os.close(screen)
sys.exit(child.wait())
