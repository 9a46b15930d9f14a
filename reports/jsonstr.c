/* jsonstr.c - any bytes as a JSON string. */
#include "reports/jsonstr.h"
#include "reports/glyph.h"
#include "schemas/utf8.h"

void jsonstr_put(const char *s, FILE *out)
{
    static const char short_form[128] = {['"'] = '"', ['\\'] = '\\', ['\n'] = 'n', ['\r'] = 'r', ['\t'] = 't', ['\b'] = 'b', ['\f'] = 'f'};
    char bytes[4];
    putc('"', out);
    while (*s) {
        uint32_t cp;
        s += glyph_next(s, &cp);
        if (cp < 128 && short_form[cp])
            fprintf(out, "\\%c", short_form[cp]);
        else if (cp < 0x10000 && glyph_acts(cp))
            fprintf(out, "\\u%04x", (unsigned)cp);
        else
            fwrite(bytes, 1, utf8_bytes(cp, bytes), out);
    }
    putc('"', out);
}
