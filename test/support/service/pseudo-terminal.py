# Runs a command on a pseudo-terminal: python3 pseudo-terminal.py COLUMNS INPUT COMMAND...
# Copies what it prints to standard output, types INPUT at each "[y/N] ", and ends with its exit code.
import fcntl
import os
import pty
import signal
import struct
import sys
import termios

columns, typed, command = int(sys.argv[1]), sys.argv[2], sys.argv[3:]
child, terminal = pty.fork()
if child == 0:
    fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    os.execvp(command[0], command)

signal.signal(signal.SIGTERM, lambda *_: os.kill(child, signal.SIGTERM))
tail = b""
while True:
    try:
        printed = os.read(terminal, 65536)
    except OSError:  # On Linux, the last process has closed the terminal.
        break
    if not printed:
        break
    os.write(1, printed)
    tail = (tail + printed)[-64:]
    if b"[y/N] " in tail:
        tail = b""
        os.write(terminal, typed.encode() + b"\n")
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
