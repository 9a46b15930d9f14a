/* on_device.h - each test with a cpu device of its own: UNIT rows by ON_DEVICE(name). */
#pragma once
#include "unit.h"

#include "kernels/device/device.h"

static struct device *device;
static struct stream *stream;
static struct err e; /* clear when a test begins */

static inline int open_device(void **state)
{
    (void)state;
    e = (struct err){0};
    device = device_open("cpu", 0, 0, &e);
    stream = device ? device_stream(device) : NULL;
    return device ? 0 : -1;
}

static inline int close_device(void **state)
{
    (void)state;
    device_close(device);
    return 0;
}

#define ON_DEVICE(name) cmocka_unit_test_setup_teardown(name, open_device, close_device)
