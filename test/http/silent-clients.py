"""Connections whose clients send and read nothing, with the smallest receive buffers, which Node cannot set.

Reads one JSON object a line, {"port", "count", "text"}; prints a line once so many connections have sent the text. Ends at the end of its input.
"""

import json
import socket
import sys

# Few enough to be allowed to each address, whatever each of its connections sends.
CONNECTIONS_PER_ADDRESS = 20

connections = []
for line in sys.stdin:
    message = json.loads(line)
    for _ in range(message["count"]):
        address = len(connections) // CONNECTIONS_PER_ADDRESS
        connection = socket.socket()
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1024)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG, 1460)
        connection.bind((f"127.1.{address // 250}.{1 + address % 250}", 0))
        connection.settimeout(10)
        connections.append(connection)
        try:
            connection.connect(("127.0.0.1", message["port"]))
            connection.sendall(message["text"].encode())
        except OSError:
            # The server may close it at any time, which is what a test is about.
            pass
    print("open", flush=True)
