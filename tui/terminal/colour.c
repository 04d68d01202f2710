#include "tui/terminal/colour.h"

#include "tui/terminal/theme.h"

#include <math.h>

static const uint32_t base[16] = {
    0x000000, 0xcd0000, 0x00cd00, 0xcdcd00, 0x0000ee, 0xcd00cd, 0x00cdcd, 0xe5e5e5,
    0x7f7f7f, 0xff0000, 0x00ff00, 0xffff00, 0x5c5cff, 0xff00ff, 0x00ffff, 0xffffff,
};

/* Returns one of the six steps of the colour cube at 16-231. */
static uint32_t step(uint32_t i) {
    return i ? 55 + 40 * i : 0;
}

uint32_t colour_rgb(int32_t colour) {
    if (colour & THEME_RGB)
        return (uint32_t)colour & 0xffffff;
    uint32_t i = (uint32_t)colour & 0xff;
    if (i < 16)
        return base[i];
    if (i >= 232)
        return (8 + 10 * (i - 232)) * 0x010101u;
    i -= 16;
    return step(i / 36) << 16 | step(i / 6 % 6) << 8 | step(i % 6);
}

/* Returns the difference of two colours. Eyes see green best and blue least. */
static uint32_t difference(uint32_t a, uint32_t b) {
    int r = (int)(a >> 16 & 0xff) - (int)(b >> 16 & 0xff);
    int g = (int)(a >> 8 & 0xff) - (int)(b >> 8 & 0xff);
    int blue = (int)(a & 0xff) - (int)(b & 0xff);
    return (uint32_t)(3 * r * r + 4 * g * g + 2 * blue * blue);
}

int32_t colour_nearest(int32_t colour, int colours) {
    if (colour == THEME_DEFAULT_COLOUR || (!(colour & THEME_RGB) && colour < colours))
        return colour;
    if (colours == 8 && !(colour & THEME_RGB) && colour < 16)
        return colour == 8 ? 7 : colour - 8; /* grey on black must not become black */
    uint32_t rgb = colour_rgb(colour), least = UINT32_MAX;
    int32_t best = 0;
    for (int32_t i = colours == 256 ? 16 : 0; i < colours; i++) {
        uint32_t d = difference(rgb, colour_rgb(i));
        if (d < least) {
            least = d;
            best = i;
        }
    }
    return best;
}

static double linear(uint32_t channel) {
    double c = (channel & 0xff) / 255.0;
    return c <= 0.04045 ? c / 12.92 : pow((c + 0.055) / 1.055, 2.4);
}

static uint32_t from_linear(double c) {
    if (c <= 0)
        return 0;
    if (c >= 1)
        return 255;
    double s = c <= 0.0031308 ? c * 12.92 : 1.055 * pow(c, 1 / 2.4) - 0.055;
    return (uint32_t)(s * 255 + 0.5);
}

static double luminance(uint32_t rgb) {
    return 0.2126 * linear(rgb >> 16) + 0.7152 * linear(rgb >> 8) + 0.0722 * linear(rgb);
}

double colour_contrast(uint32_t a, uint32_t b) {
    double x = luminance(a) + 0.05, y = luminance(b) + 0.05;
    return x > y ? x / y : y / x;
}

static double lab_part(double t) {
    return t > 0.008856 ? cbrt(t) : 7.787 * t + 16.0 / 116;
}

static void lab(uint32_t rgb, double out[3]) {
    double r = linear(rgb >> 16), g = linear(rgb >> 8), b = linear(rgb);
    double x = lab_part((0.4124 * r + 0.3576 * g + 0.1805 * b) / 0.9505);
    double y = lab_part(0.2126 * r + 0.7152 * g + 0.0722 * b);
    double z = lab_part((0.0193 * r + 0.1192 * g + 0.9505 * b) / 1.089);
    out[0] = 116 * y - 16;
    out[1] = 500 * (x - y);
    out[2] = 200 * (y - z);
}

double colour_distance(uint32_t a, uint32_t b) {
    double p[3], q[3], sum = 0;
    lab(a, p);
    lab(b, q);
    for (int i = 0; i < 3; i++)
        sum += (p[i] - q[i]) * (p[i] - q[i]);
    return sqrt(sum);
}

uint32_t colour_seen(uint32_t rgb, enum colour_sight sight) {
    static const double matrix[SIGHTS][9] = {
        {1, 0, 0, 0, 1, 0, 0, 0, 1},
        {0.367322, 0.860646, -0.227968, 0.280085, 0.672501, 0.047413, -0.011820, 0.042940,
         0.968881},
        {1.255528, -0.076749, -0.178779, -0.078411, 0.930809, 0.147602, 0.004733, 0.691367,
         0.303900},
    };
    double in[3] = {linear(rgb >> 16), linear(rgb >> 8), linear(rgb)};
    uint32_t out = 0;
    for (const double *m = matrix[sight], *end = m + 9; m < end; m += 3)
        out = out << 8 | from_linear(m[0] * in[0] + m[1] * in[1] + m[2] * in[2]);
    return out;
}
