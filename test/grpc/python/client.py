"""A gRPC client of C-core that the tests drive.

It reads a command per line and answers each with a line of JSON. GRPC_XDS_BOOTSTRAP
names its bootstrap.
"""

import json
import os
import sys

import grpc

channels = {}


def run(verb, name, word=""):
    """Run "open ID TARGET", "call ID MILLISECONDS" or "close ID"."""
    if verb == "open":
        channels[name] = grpc.insecure_channel(word)
    elif verb == "close":
        channels.pop(name).close()
    else:
        try:
            reply = channels[name].unary_unary("/fairlead.test.Backend/Who")(b"", timeout=int(word) / 1000)
        except grpc.RpcError as error:
            return {"code": error.code().name, "details": error.details()}
        return {"code": "OK", "reply": reply.decode()}
    return {"code": "OK"}


for line in sys.stdin:
    print(json.dumps(run(*line.split())), flush=True)
os._exit(0)  # no waiting for the library's threads
