#include "tui/terminal/input.h"

#include "core/base/utf8.h"

#include <stdlib.h>
#include <string.h>

#define MS UINT64_C(1000000)
#define ESCAPE_NS (40 * MS)    /* after an escape; if no byte follows, it is the key */
#define SEQUENCE_NS (500 * MS) /* for the rest of a sequence, which may be slow on a bad line */
#define PASTE_NS (2000 * MS)   /* for the rest of a paste whose end was lost */
#define TWICE_NS (400 * MS)
#define SEQUENCE_MAX 256
#define PARAMETERS 8

/* Results of decoding other than presses: bytes are missing; bytes without a press. */
enum { MORE = -1, SKIP = -2 };

size_t input_feed(struct input *in, const void *bytes, size_t length, uint64_t now_ns) {
    size_t n = sizeof in->bytes - in->length;
    if (n > length)
        n = length;
    memcpy(in->bytes + in->length, bytes, n);
    in->length += n;
    in->came_ns = now_ns;
    return n;
}

struct sequence {
    const unsigned char *at; /* after the introducer */
    size_t length;           /* including the final byte */
    char kind, final;        /* kind: '<' to '?'; 0: none */
    bool intermediate;       /* there are other bytes, such as '$', before the final byte */
    int parameter[PARAMETERS];
    int parameters;
};

static void read_parameters(struct sequence *s) {
    const unsigned char *p = s->at, *end = s->at + s->length - 1;
    if (p < end && *p >= '<' && *p <= '?')
        s->kind = (char)*p++;
    for (int value = 0, digits = 0;; p++) {
        if (p < end && *p >= '0' && *p <= '9') {
            value = value < 100000 ? value * 10 + (*p - '0') : value;
            digits++;
            continue;
        }
        if (s->parameters < PARAMETERS && (digits || p < end))
            s->parameter[s->parameters++] = value;
        value = digits = 0;
        if (p >= end || (*p != ';' && *p != ':'))
            break;
    }
    s->intermediate = p < end;
}

static int32_t key_of_number(int n) {
    static const struct {
        uint8_t number;
        int32_t press;
    } keys[] = {
        {1, PRESS_HOME},      {3, PRESS_DELETE},   {4, PRESS_END},     {5, PRESS_PAGE_UP},
        {6, PRESS_PAGE_DOWN}, {7, PRESS_HOME},     {8, PRESS_END},     {11, PRESS_F1},
        {12, PRESS_F1 + 1},   {13, PRESS_F1 + 2},  {14, PRESS_F1 + 3}, {15, PRESS_F1 + 4},
        {17, PRESS_F1 + 5},   {18, PRESS_F1 + 6},  {19, PRESS_F1 + 7}, {20, PRESS_F1 + 8},
        {21, PRESS_F1 + 9},   {23, PRESS_F1 + 10}, {24, PRESS_F12},
    };
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
        if (keys[i].number == n)
            return keys[i].press;
    return PRESS_NONE;
}

/* Returns the key of the final letter after CSI or SS3. */
static int32_t key_of_letter(char letter) {
    switch (letter) {
    case 'A':
        return PRESS_UP;
    case 'B':
        return PRESS_DOWN;
    case 'C':
        return PRESS_RIGHT;
    case 'D':
        return PRESS_LEFT;
    case 'F':
        return PRESS_END;
    case 'H':
        return PRESS_HOME;
    case 'M':
        return PRESS_ENTER;
    case 'Z':
        return PRESS_BACK_TAB;
    default:
        return letter >= 'P' && letter <= 'S' ? PRESS_F1 + (letter - 'P') : PRESS_NONE;
    }
}

#define RELEASED (-1)

/* `button` is numbered as in xterm: the two low bits, 4 8 16 modifiers, 32 motion, 64 the wheel. */
static int32_t mouse_of(struct input *in, int button, int col, int row, bool down,
                        uint64_t now_ns) {
    struct mouse m = {.row = row - 1, .col = col - 1};
    button &= ~(4 | 8 | 16);
    if (col < 1 || row < 1 || (!down && button != 0))
        return PRESS_NONE;
    switch (down ? button : RELEASED) {
    case 0:
        m.action = in->pressed_ns && now_ns - in->pressed_ns <= TWICE_NS &&
                           in->pressed_row == m.row && in->pressed_col == m.col
                       ? MOUSE_TWICE
                       : MOUSE_PRESS;
        in->pressed_ns = m.action == MOUSE_TWICE ? 0 : now_ns;
        in->pressed_row = m.row;
        in->pressed_col = m.col;
        break;
    case RELEASED:
        m.action = MOUSE_RELEASE;
        break;
    case 32:
        m.action = MOUSE_DRAG;
        in->pressed_ns = 0; /* not the first half of a double press */
        break;
    case 32 | 3:
        m.action = MOUSE_MOVE;
        break;
    case 64:
        m.action = MOUSE_WHEEL_UP;
        break;
    case 65:
        m.action = MOUSE_WHEEL_DOWN;
        break;
    default:
        return PRESS_NONE;
    }
    in->mouse = m;
    return PRESS_MOUSE;
}

static int32_t control_sequence(struct input *in, struct sequence *s, uint64_t now_ns) {
    const int *p = s->parameter;
    if (s->kind == '<' && (s->final == 'M' || s->final == 'm') && s->parameters == 3)
        return mouse_of(in, p[0], p[1], p[2], s->final == 'M', now_ns);
    if (s->kind == '?' && s->final == 'y' && s->parameters == 2 && p[0] == 2026) {
        in->synchronizes = p[1] == 1 || p[1] == 2;
        return SKIP;
    }
    if (s->kind || s->intermediate)
        return SKIP;
    if (s->final == 'n') {
        in->alive += p[0] == 0;
        return SKIP;
    }
    if (s->final == '~' && p[0] == 200) {
        in->pasting = true;
        return SKIP;
    }
    if (s->final == '~')
        return p[0] == 201 ? SKIP : key_of_number(p[0]);
    return key_of_letter(s->final);
}

/* True if the byte may end a sequence of one character. Any other byte cuts the sequence off, and
 * is decoded next. */
static bool is_final(unsigned char byte) {
    return byte >= 0x20 && byte < 0x7f;
}

/* Decodes the bytes after ESC [. `used` counts from there. */
static int32_t decode_control(struct input *in, const unsigned char *b, size_t n, size_t *used,
                              uint64_t now_ns) {
    if (n >= 1 && b[0] == 'M') { /* a mouse report of X10: three bytes, each plus 32 */
        *used = 4;
        if (n < 4)
            return MORE;
        bool down = (b[1] & 3) != 3 || (b[1] - 32) & 32;
        /* That report does not say which button was released: the left one counts. */
        return mouse_of(in, down ? b[1] - 32 : 0, b[2] - 32, b[3] - 32, down, now_ns);
    }
    if (n >= 1 && b[0] == '[') { /* F1 to F5 of the Linux console */
        *used = 1;
        if (n < 2)
            return MORE;
        if (!is_final(b[1]))
            return SKIP;
        *used = 2;
        return b[1] >= 'A' && b[1] <= 'E' ? PRESS_F1 + (b[1] - 'A') : PRESS_NONE;
    }
    size_t i = 0;
    while (i < n && i < SEQUENCE_MAX && b[i] >= 0x20 && b[i] < 0x40)
        i++;
    *used = i;
    if (i == n && i < SEQUENCE_MAX)
        return MORE;
    if (i == SEQUENCE_MAX || b[i] < 0x40 || b[i] > 0x7e)
        return SKIP; /* cut off by another byte, which is decoded next */
    *used = i + 1;
    struct sequence s = {.at = b, .length = i + 1, .final = (char)b[i]};
    read_parameters(&s);
    return control_sequence(in, &s, now_ns);
}

/* Decodes the bytes after ESC O. Keypads in application mode are decoded as typed digits. */
static int32_t decode_ss3(const unsigned char *b, size_t n, size_t *used) {
    static const char keypad[] = "*+,-./0123456789"; /* 'j' to 'y' */
    *used = 0;
    if (n < 1)
        return MORE;
    if (!is_final(b[0]))
        return SKIP;
    *used = 1;
    if (b[0] >= 'j' && b[0] <= 'y')
        return keypad[b[0] - 'j'];
    return key_of_letter((char)b[0]);
}

/* Skips an answer that was not requested, up to BEL or ESC \. */
static int32_t decode_string(const unsigned char *b, size_t n, size_t *used) {
    for (size_t i = 0; i < n; i++) {
        *used = i + 1;
        if (b[i] == 0x07)
            return SKIP;
        if (b[i] == 0x1b && i + 1 < n) {
            *used = b[i + 1] == '\\' ? i + 2 : i;
            return SKIP;
        }
        if (i >= SEQUENCE_MAX)
            return SKIP;
    }
    return MORE;
}

/* Looks the bytes up among the keys of this type of terminal. The longest one counts. */
static int32_t decode_own_key(const struct input *in, size_t *used) {
    int32_t press = SKIP;
    for (size_t i = 0; i < in->keys; i++) {
        size_t n = strlen(in->key[i].bytes);
        if (n <= *used || n > in->length || memcmp(in->bytes, in->key[i].bytes, n) != 0)
            continue;
        press = in->key[i].press;
        *used = n;
    }
    return press;
}

static int32_t decode_escape(struct input *in, size_t *used, uint64_t now_ns) {
    const unsigned char *b = in->bytes;
    size_t n = in->length, more = 0;
    int32_t press = decode_own_key(in, used);
    if (*used)
        return press;
    *used = 1;
    if (n == 1)
        return MORE;
    switch (b[1]) {
    case '[':
        press = decode_control(in, b + 2, n - 2, &more, now_ns);
        break;
    case 'O':
        press = decode_ss3(b + 2, n - 2, &more);
        break;
    case ']':
    case 'P':
    case '_':
        press = decode_string(b + 2, n - 2, &more);
        break;
    default:
        return PRESS_ESCAPE;
    }
    *used = 2 + more;
    return press;
}

static int32_t decode_character(const struct input *in, size_t *used) {
    const unsigned char *b = in->bytes;
    *used = 1;
    if (b[0] < 0x80)
        return b[0] == '\r' || b[0] == '\n' ? PRESS_ENTER : b[0] == 0x08 ? PRESS_BACKSPACE : b[0];
    size_t whole = b[0] < 0xc2 || b[0] > 0xf4 ? 1 : b[0] >= 0xf0 ? 4 : b[0] >= 0xe0 ? 3 : 2;
    for (size_t i = 1; i < whole; i++) {
        if (i >= in->length)
            return MORE;
        if ((b[i] & 0xc0) != 0x80)
            return PRESS_NONE;
    }
    uint32_t code;
    *used = whole;
    return utf8_decode((const char *)b, whole, &code) ? (int32_t)code : PRESS_NONE;
}

/* Decodes text up to ESC [ 2 0 1 ~. Tabs and line ends become blanks; other control characters are
 * dropped. */
static int32_t decode_pasted(struct input *in, size_t *used) {
    static const char end[] = "\033[201~";
    size_t n = in->length < 6 ? in->length : 6;
    if (!memcmp(in->bytes, end, n)) {
        *used = n;
        if (n < 6)
            return MORE;
        in->pasting = false;
        return SKIP;
    }
    int32_t ch = decode_character(in, used);
    if (ch == PRESS_TAB || ch == PRESS_ENTER)
        ch = ' ';
    if (ch == MORE)
        return MORE;
    return ch >= ' ' && ch != PRESS_BACKSPACE ? ch | PRESS_PASTED : SKIP;
}

/* True if the bytes begin a string sequence. Alt with one of these keys sends the same bytes, and
 * then the sequence never ends. */
static bool is_string(const struct input *in) {
    const unsigned char *b = in->bytes;
    return !in->pasting && in->length >= 2 && b[0] == 0x1b &&
           (b[1] == ']' || b[1] == 'P' || b[1] == '_');
}

/* Returns how long to wait for the rest of the bytes. */
static uint64_t patience(const struct input *in) {
    if (in->pasting)
        return PASTE_NS;
    return in->length == 1 && in->bytes[0] == 0x1b ? ESCAPE_NS : SEQUENCE_NS;
}

/* Handles bytes whose rest did not come. Bytes after the introducer of a string were typed by the
 * user. */
static int32_t give_up(struct input *in, size_t *used) {
    bool escape = in->length == 1 && in->bytes[0] == 0x1b;
    *used = is_string(in) ? 2 : in->length;
    if (in->pasting)
        in->pasting = false;
    return escape ? PRESS_ESCAPE : PRESS_NONE;
}

int32_t input_next(struct input *in, uint64_t now_ns) {
    while (in->length) {
        size_t used = 0;
        int32_t press = in->pasting            ? decode_pasted(in, &used)
                        : in->bytes[0] == 0x1b ? decode_escape(in, &used, now_ns)
                                               : decode_character(in, &used);
        if (press == MORE && is_string(in) && !in->string_ns)
            in->string_ns = in->came_ns;
        if (press == MORE && in->length < sizeof in->bytes && now_ns < input_deadline(in))
            return -1;
        if (press == MORE)
            press = give_up(in, &used);
        in->string_ns = 0;
        in->length -= used;
        memmove(in->bytes, in->bytes + used, in->length);
        if (press != SKIP)
            return press;
    }
    if (in->pasting && now_ns >= input_deadline(in))
        in->pasting = false;
    return -1;
}

uint64_t input_deadline(const struct input *in) {
    if (in->string_ns) /* counted from its first byte, because the user may type on */
        return in->string_ns + SEQUENCE_NS;
    return in->length || in->pasting ? in->came_ns + patience(in) : 0;
}
