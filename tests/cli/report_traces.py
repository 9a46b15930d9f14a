"""Writes small Kineto traces for the report tests: before.json, after.json, moved.json, other.json, many.json, evil.json (all invented)."""
import json

EVIL = '<script>pwned=1</script>"\'&</style>\u202e<img src=x onerror=pwned=1>' + 'x' * 1000000


def x(cat, name, pid, tid, ts, dur, **args):
    return {'ph': 'X', 'cat': cat, 'name': name, 'pid': pid, 'tid': tid, 'ts': ts, 'dur': dur, 'args': args}


def step(items, world, elsewhere=0):
    """One step of 1000 us: `items` scalar reads of 20 us each, a kernel after each, one all-reduce; the last `elsewhere` of
    the reads are made by another function."""
    ev = [x('user_annotation', 'ProfilerStep#5', 1, 1, 0, 1000), x('python_function', 'model/layout.py(7): swap', 1, 1, 1, 990)]
    if elsewhere:
        ev.append(x('python_function', 'model/router.py(9): plan', 1, 1, 8 + 40 * (items - elsewhere), 40 * elsewhere))
    for i in range(items):
        t = 10 + 40 * i
        ev += [x('cpu_op', 'aten::item', 1, 1, t, 20), x('cuda_runtime', 'cudaStreamSynchronize', 1, 1, t + 5, 10, correlation=100 + i),
               x('cuda_runtime', 'cudaLaunchKernel', 1, 1, t + 21, 4, correlation=200 + i),
               x('kernel', 'ampere_sgemm_128x64_nn', 0, 7, t + 26, 12, device=0, stream=7, correlation=200 + i)]
    ev.append(x('kernel', 'ncclDevKernel_AllReduce_Sum_f32', 0, 20, 900, 80, device=0, stream=20, correlation=300))
    return {'traceEvents': ev, 'distributedInfo': {'rank': 0, 'world_size': world}, 'deviceProperties': [{'id': 0, 'name': 'NVIDIA H200'}]}


def evil():
    return {'traceEvents': [x('kernel', EVIL, 0, 7, 10, 5, device=0, stream=7, correlation=1),
                            x('cuda_runtime', 'cudaStreamSynchronize', 1, 1, 8, 9, correlation=2), x('python_function', EVIL, 1, 1, 1, 90)]}


def many():
    """As after, with 24 more kernels, so that a table is long enough to be filtered."""
    t = step(2, 2)
    t['traceEvents'] += [x('kernel', 'GEMM_kernel_%02d' % i, 0, 7, 200 + 10 * i, 1 + i % 5, device=0, stream=7, correlation=400 + i) for i in range(24)]
    return t


for name, trace in (('before', step(20, 2)), ('after', step(2, 2)), ('moved', step(20, 2, 4)), ('other', step(2, 4)), ('many', many()), ('evil', evil())):
    text = json.dumps(trace).encode()
    open(name + '.json', 'wb').write(text.replace(b'<img src', b'\xff\xc3(<img src') if name == 'evil' else text)  # no UTF-8 there
