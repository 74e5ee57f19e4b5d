"""Places orders until standard input ends, each of a product of its own: `place_orders.py HOST`. Prints those that were
acknowledged, a line of order and product each.
"""

import json
import sys
import threading
import time
from http.client import HTTPConnection, HTTPException
from itertools import count

AT_ONCE = 10
LONGEST_S = 20
PAUSE_S = 0.05  # else it takes the CPU that a start needs

numbers = count()


def place(host: str) -> None:
    """Returns never; after an answer that does not come, on a new connection, with another order."""
    while True:
        connection = HTTPConnection(host, 8080, timeout=LONGEST_S)
        try:
            while True:
                number = next(numbers)
                order = {"customer": 1 + number % 2000, "product": f"piece-{number}", "quantity": 1, "priceCents": 5}
                connection.request("POST", "/orders", json.dumps(order), {"Content-Type": "application/json"})
                answer = connection.getresponse()
                body = answer.read()
                if answer.status == 201:
                    sys.stdout.write(f"{json.loads(body)['id']} piece-{number}\n")
                    sys.stdout.flush()
        except (OSError, HTTPException):
            connection.close()
            time.sleep(PAUSE_S)


for _ in range(AT_ONCE):
    threading.Thread(target=place, args=sys.argv[1:], daemon=True).start()
sys.stdin.read()
