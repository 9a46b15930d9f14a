/* test_ops_train.c - the operators around the layers: norms, gates, rotary positions, cross-entropy, AdamW: against plain double
 * code, gradients against differences. */
#include "unit.h"

#include "kernels/ops/adamw.h"
#include "kernels/ops/rmsnorm.h"
#include "kernels/ops/rotary.h"
#include "kernels/ops/swiglu.h"
#include "kernels/ops/xent.h"

#include <math.h>

enum { ROWS = 7, WIDTH = 24, N = ROWS * WIDTH };

static void fill(float *v, int n)
{
    for (int i = 0; i < n; i++)
        v[i] = (float)(2 * rnd_real());
}

static void near(double got, double want, double scale, const char *what)
{
    if (!(fabs(got - want) <= 2e-5 * (scale + fabs(want))))
        fail_msg("%s: got %.9g, want %.9g", what, got, want);
}

TEST(rmsnorm_is_the_formula_and_its_gradient_is_the_slope)
{
    PROP(20)
    {
        float x[N], w[WIDTH], y[N], rs[ROWS], dy[N], dx[N], dw[WIDTH];
        fill(x, N), fill(w, WIDTH), fill(dy, N), fill(dw, WIDTH);
        float before = dw[3];
        rmsnorm_fwd_cpu(&(struct rmsnorm_fwd_args){x, w, y, rs, ROWS, WIDTH, 1e-6f});
        rmsnorm_dw_cpu(&(struct rmsnorm_dw_args){dy, x, rs, dw, ROWS, WIDTH});
        rmsnorm_bwd_cpu(&(struct rmsnorm_bwd_args){dy, x, w, rs, dx, ROWS, WIDTH});
        int row = (int)rnd(ROWS), col = (int)rnd(WIDTH);
        double loss[2], want_dw = 0;
        for (int side = 0; side < 2; side++) { /* sum of dy y of the row, x moved by +-h */
            double v[WIDTH], square = 0, h = 1e-4;
            for (int i = 0; i < WIDTH; i++) {
                v[i] = x[row * WIDTH + i] + (i == col ? (side ? h : -h) : 0);
                square += v[i] * v[i];
            }
            loss[side] = 0;
            for (int i = 0; i < WIDTH; i++)
                loss[side] += dy[row * WIDTH + i] * v[i] / sqrt(square / WIDTH + 1e-6) * w[i];
        }
        near(dx[row * WIDTH + col], (loss[1] - loss[0]) / 2e-4, 1, "dx");
        for (int r = 0; r < ROWS; r++)
            want_dw += (double)dy[r * WIDTH + 3] * x[r * WIDTH + 3] * rs[r];
        near(dw[3], before + want_dw, 1, "dw");
        double square = 0;
        for (int i = 0; i < WIDTH; i++)
            square += (double)x[row * WIDTH + i] * x[row * WIDTH + i];
        near(y[row * WIDTH + col], x[row * WIDTH + col] / sqrt(square / WIDTH + 1e-6) * w[col], 1, "y");
    }
}

static double sigmoid(double x)
{
    return 1 / (1 + exp(-x));
}

TEST(gates_are_the_formulas_and_their_gradients_the_slopes)
{
    PROP(20)
    {
        float u[N], v[N], y[N], dy[N], du[N], dv[N];
        fill(u, N), fill(v, N), fill(dy, N);
        double h = 1e-4;
        int i = (int)rnd(N);
        swiglu_fwd_cpu(&(struct swiglu_fwd_args){u, v, y, N});
        near(y[i], u[i] * sigmoid(u[i]) * v[i], 1, "swiglu");
        swiglu_bwd_cpu(&(struct swiglu_bwd_args){dy, u, v, du, dv, N});
        near(du[i], dy[i] * v[i] * ((u[i] + h) * sigmoid(u[i] + h) - (u[i] - h) * sigmoid(u[i] - h)) / (2 * h), 1, "du");
        near(dv[i], dy[i] * u[i] * sigmoid(u[i]), 1, "dv");
        sigmoid_gate_fwd_cpu(&(struct sigmoid_gate_fwd_args){u, v, y, N});
        near(y[i], u[i] * sigmoid(v[i]), 1, "gate");
        sigmoid_gate_bwd_cpu(&(struct sigmoid_gate_bwd_args){dy, u, v, du, dv, N});
        near(du[i], dy[i] * sigmoid(v[i]), 1, "dx");
        near(dv[i], dy[i] * u[i] * (sigmoid(v[i] + h) - sigmoid(v[i] - h)) / (2 * h), 1, "dg");
    }
}

TEST(rotary_turns_pairs_by_their_angle_and_back)
{
    PROP(20)
    {
        enum { HEADS = 2, DIM = WIDTH / HEADS, TURNED = 8 };
        float x[N], first[N];
        int64_t positions[ROWS];
        fill(x, N);
        memcpy(first, x, sizeof x);
        for (int r = 0; r < ROWS; r++)
            positions[r] = (int64_t)rnd(1 << 20);
        struct rotary_args a = {x, positions, ROWS, HEADS, DIM, TURNED, 1e7f, 1};
        rotary_cpu(&a);
        for (int i = 0; i < N; i++) {
            int row = i / WIDTH, k = i % DIM, at = i - k;
            double want = first[i];
            if (k < TURNED) {
                int j = k % (TURNED / 2);
                double angle = (double)positions[row] * pow(1e7, -2.0 * j / TURNED), low = first[at + j], high = first[at + j + TURNED / 2];
                want = k < TURNED / 2 ? low * cos(angle) - high * sin(angle) : high * cos(angle) + low * sin(angle);
            }
            near(x[i], want, 1, "turned");
        }
        a.sign = -1;
        rotary_cpu(&a);
        for (int i = 0; i < N; i++)
            near(x[i], first[i], 1, "turned back");
    }
}

TEST(cross_entropy_is_the_formula_and_masks)
{
    PROP(20)
    {
        float x[N], first[N], scale = (float)(rnd(3) ? 1 : 30), factor = 0.125f;
        int64_t targets[ROWS];
        double losses[ROWS], sum = 1, want_sum = 1;
        fill(x, N);
        for (int i = 0; i < N; i++)
            first[i] = x[i] *= scale;
        for (int r = 0; r < ROWS; r++)
            targets[r] = rnd(4) ? (int64_t)rnd(WIDTH) : -1;
        xent_cpu(&(struct xent_args){x, targets, losses, ROWS, WIDTH, factor});
        xent_total_cpu(&(struct xent_total_args){losses, &sum, ROWS, factor});
        for (int r = 0; r < ROWS; r++) {
            double total = 0, top = first[r * WIDTH];
            for (int i = 0; i < WIDTH; i++)
                top = fmax(top, first[r * WIDTH + i]);
            for (int i = 0; i < WIDTH; i++)
                total += exp(first[r * WIDTH + i] - top);
            double loss = targets[r] < 0 ? 0 : log(total) + top - first[r * WIDTH + targets[r]];
            near(losses[r], loss, 0.1, "loss");
            want_sum += factor * loss;
            for (int i = 0; i < WIDTH; i++)
                near(x[r * WIDTH + i], targets[r] < 0 ? 0 : factor * (exp(first[r * WIDTH + i] - top) / total - (i == targets[r])), 0.01, "gradient");
        }
        near(sum, want_sum, 0.1, "sum");
    }
}

TEST(adamw_follows_the_paper)
{
    float w[3] = {1, -2, 0.5f}, g[3] = {0.1f, 0, -3}, m[3] = {0}, v[3] = {0};
    double W[3] = {1, -2, 0.5}, M[3] = {0}, V[3] = {0}, b1 = 0.9, b2 = 0.95, rate = 0.01, decay = 0.1, eps = 1e-8;
    for (int t = 1; t <= 5; t++) {
        adamw_cpu(&(struct adamw_args){g, w, m, v, 3, (float)rate, (float)b1, (float)b2, (float)eps, (float)decay, (float)(1 / (1 - pow(b1, t))),
                                       (float)(1 / (1 - pow(b2, t)))});
        for (int i = 0; i < 3; i++) {
            M[i] = b1 * M[i] + (1 - b1) * g[i];
            V[i] = b2 * V[i] + (1 - b2) * g[i] * g[i];
            W[i] -= rate * (M[i] / (1 - pow(b1, t)) / (sqrt(V[i] / (1 - pow(b2, t))) + eps) + decay * W[i]);
            near(w[i], W[i], 0, "w");
        }
    }
    near(w[1], -2 * pow(1 - 0.001, 5), 0, "without a gradient only decay is left");
}

UNIT_MAIN(UNIT(rmsnorm_is_the_formula_and_its_gradient_is_the_slope), UNIT(gates_are_the_formulas_and_their_gradients_the_slopes),
          UNIT(rotary_turns_pairs_by_their_angle_and_back), UNIT(cross_entropy_is_the_formula_and_masks), UNIT(adamw_follows_the_paper))
