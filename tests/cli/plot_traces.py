"""Writes small Kineto traces for the tests of plot kinds: folders two, four (ranks), quick; csv logs a, b, evil (all invented)."""
import json
import os

EVIL = '<script>"`$x\\</svg>\u202e'


def x(cat, name, pid, tid, ts, dur, **args):
    return {'ph': 'X', 'cat': cat, 'name': name, 'pid': pid, 'tid': tid, 'ts': ts, 'dur': dur, 'args': args}


def rank(number, world, lengths):
    """Steps of the lengths given (us). In each: a kernel, then an all-reduce that ends 10 us before the step does; rank r comes
    20 us later than rank r - 1, and the last one needs 30 us."""
    ev, at = [], 0
    for i, length in enumerate(lengths):
        wait = 20 * (world - 1 - number)
        ev += [x('user_annotation', 'ProfilerStep#%d' % (i + 3), 1, 1, at, length), x('kernel', 'gemm', number, 7, at + 5, 40, device=number, stream=7, correlation=10 * i + 1),
               x('kernel', 'ncclDevKernel_AllReduce_Sum_f32', number, 20, at + length - 40 - wait, 30 + wait, device=number, stream=20, correlation=10 * i + 2)]
        at += length
    return {'traceEvents': ev, 'distributedInfo': {'rank': number, 'world_size': world}, 'deviceProperties': [{'id': d, 'name': 'NVIDIA H200'} for d in range(world)]}


def job(folder, world, lengths, more=lambda trace, lengths: None):
    os.mkdir(folder)
    for r in range(world):
        trace = rank(r, world, lengths)
        more(trace, lengths)
        json.dump(trace, open('%s/rank%d.json' % (folder, r), 'w'))


def waiting(trace, lengths):
    """The host launches both kernels as a step begins and waits until 8 us before it ends, which is 2 us after the device has
    done its work: 15 us until the next step's first kernel."""
    at = 0
    for i, length in enumerate(lengths):
        trace['traceEvents'] += [x('cuda_runtime', 'cudaLaunchKernel', 1, 1, at + k, 1, correlation=10 * i + k) for k in (1, 2)]
        trace['traceEvents'].append(x('cuda_runtime', 'cudaDeviceSynchronize', 1, 1, at + 4, length - 12, correlation=10 * i + 3))
        at += length


job('two', 2, [300, 300, 310, 500, 300])
job('quick', 2, [200, 200, 200, 210, 200])
job('four', 4, [150, 160, 150])
job('synced', 2, [200, 200, 200, 200, 200], waiting)
open('a.csv', 'w').write('step,loss,grad_norm,note\n0,2.5,1,x\n1,2.25,0.9,"y, ""z"""\n2,,0.8,\n3,1.5,0.5,\n')
open('b.csv', 'w').write('step,loss,grad_norm,note\n0,2.5,1,\n1,2.375,-0.9,\n2,1.9,0.8,\n3,1.75,0.5,\n')
open('evil.csv', 'w').write('step,"reward %s"\n1,3\n2,4\n' % EVIL.replace('"', '""'))
open('short.csv', 'w').write('step,loss\n0,1\n1\n')
open('quotes.csv', 'w').write('step,loss\n0,"1" 2\n')
open('nostep.csv', 'w').write('loss\n1\n')
open('nothing.csv', 'w').write('step,loss\n0,nan\n')
open('empty.csv', 'w').write('')
