# Waits at known lines, in functions, methods, generators and threads, and deep down.
import ctypes, threading

wait = ctypes.CDLL(None).wait_ns
wait.argtypes = [ctypes.c_int64]


def item():
    wait(50000)


class Model:
    def forward(self, n):
        for _ in range(n):
            item()
            wait(
                50000)

    def générer(self):
        for _ in range(3):
            yield wait(50000)


def deep(n):
    return deep(n - 1) if n else wait(50000)


wait(50000)
Model().forward(4)
list(Model().générer())
list(wait(50000) for _ in range(2))
deep(60)
t = threading.Thread(target=lambda: wait(50000), name="worker")
t.start()
t.join()
wait(1000)
