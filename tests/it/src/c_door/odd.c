/* An engine that does what the word in its settings says: {"do":"<word> <number>"}. Tables and notes are spoilt with
   -D: NO_NOTE, NO_ENTRY, NULL_TABLE, SIZE=<bytes>, NULLED=<member>, INFO=<literal>. */
#include "openclaw_engine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef NO_NOTE
OPENCLAW_ENGINE_NOTE("odd");
#endif

typedef struct odd {
    const ce_host *host;
    unsigned long number;
    char word[32];
} odd;

static int is(const odd *me, const char *word) { return strcmp(me->word, word) == 0; }

static int32_t say(ce_sink *sink, const char *text) { return sink->write(sink, text, strlen(text)); }

static void say_number(ce_sink *sink, const char *name, unsigned long long number) {
    char text[96];
    snprintf(text, sizeof text, "\"%s\":\"%llu\",", name, number);
    say(sink, text);
}

static void say_text(ce_sink *sink, const char *name, ce_str text) {
    say(sink, "\"");
    say(sink, name);
    say(sink, "\":\"");
    sink->write(sink, text.ptr, text.len);
    say(sink, "\",");
}

#ifndef INFO
#define INFO "{\"id\":\"odd\",\"name\":\"Odd\"}"
#endif

static int32_t info(ce_sink *sink) { return say(sink, INFO); }

static const ce_host *earlier; /* the host of an instance that is gone: nobody may do this */

static int32_t create(const ce_create *context, const ce_host *host, ce_sink *sink, void **self) {
    odd *me = calloc(1, sizeof *me);
    char settings[128] = "";
    size_t len = context->settings_json.len < sizeof settings - 1 ? context->settings_json.len : sizeof settings - 1;
    if (me == NULL) return CE_FAILED;
    memcpy(settings, context->settings_json.ptr, len);
    sscanf(settings, "{\"do\":\"%31[^ \"] %lu", me->word, &me->number);
    me->host = host;
    if (is(me, "fail-in-create")) {
        free(me);
        return sink->error(sink, CE_FAILED, "odd fails in create", 19);
    }
    if (is(me, "pick-in-create")) sink->pick(sink, 0, CE_PICK_INPUT);
    *self = me;
    return CE_OK;
}

static void destroy(void *self) {
    odd *me = self;
    earlier = me->host;
    if (is(me, "goodbye")) me->host->log(me->host, CE_LOG_INFO, "destroyed", 9);
    free(me);
}

static void receive(void *context, const char *text, size_t bytes) {
    ce_str name = {text, bytes};
    say_text(context, "received", name);
}

static int32_t use_host(const ce_host *host, ce_sink *sink) {
    static char long_line[1 << 20];
    memset(long_line, 'x', sizeof long_line);
    say(sink, "{");
    host->log(host, CE_LOG_WARN, "100 %s\nand a \xff", 14);
    host->log(host, 99, long_line, sizeof long_line);
    host->log(host, CE_LOG_ERROR, NULL, 7);
    say_number(sink, "cancelled", (unsigned)host->cancelled(host));
    say_number(sink, "tokens", host->count_tokens(host, "12345678", 8));
    say_number(sink, "nullTokens", host->count_tokens(host, NULL, 8));
    say_number(sink, "asked", (unsigned)host->call_json(host, "echo", 4, "hi", 2, receive, sink));
    say_number(sink, "unknown", (unsigned)host->call_json(host, "no-such", 7, "{}", 2, receive, sink));
    say_number(sink, "notText", (unsigned)host->call_json(host, "\xff", 1, "{}", 2, NULL, NULL));
    say_number(sink, "panics", (unsigned)host->call_json(host, "panic", 5, "{}", 2, NULL, NULL));
    return say(sink, "\"end\":0}");
}

static int32_t see(const ce_request *request, ce_sink *sink) {
    say(sink, "{");
    say_number(sink, "size", request->size);
    say_number(sink, "isHeartbeat", request->is_heartbeat);
    say_number(sink, "records", (unsigned long long)(uintptr_t)request->messages);
    say_number(sink, "count", request->message_count);
    if (request->message_count > 0) {
        const ce_msg *first = request->messages;
        say_number(sink, "json", (unsigned long long)(uintptr_t)first->json.ptr);
        say_number(sink, "role", first->role);
        say_number(sink, "tokens", first->tokens);
        say_text(sink, "id", first->id);
    }
    say_number(sink, "budget", request->token_budget);
    say_text(sink, "sessionId", request->session_id);
    say_text(sink, "sessionKey", request->session_key);
    say_text(sink, "advancementKey", request->advancement_key);
    say_text(sink, "method", request->method);
    say(sink, "\"status\":\"duplicate\",\"params\":");
    sink->write(sink, request->params_json.ptr, request->params_json.len);
    return say(sink, "}");
}

static int32_t assemble(void *self, const ce_request *request, ce_sink *sink) {
    odd *me = self;
    static char text[1 << 20]; /* touched only where it is needed: loaded libraries stay */
    if (is(me, "error") || is(me, "huge-together")) memset(text, 'e', sizeof text);
    if (is(me, "see")) return see(request, sink);
    if (is(me, "host")) return use_host(me->host, sink);
    if (is(me, "late")) return use_host(earlier, sink);
    if (is(me, "error")) return sink->error(sink, CE_FAILED, text, me->number);
    if (is(me, "error-not-utf8")) return sink->error(sink, CE_FAILED, "no \xff disk", 9);
    if (is(me, "error-null")) return sink->error(sink, CE_FAILED, NULL, 5);
    if (is(me, "error-and-ok")) sink->error(sink, CE_CANCELLED, "stopped", 7);
    if (is(me, "code")) return (int32_t)me->number;
    if (is(me, "minus")) return -1;
    if (is(me, "not-utf8")) return sink->write(sink, "{\"a\":\"\xff\xfe\"}", 10);
    if (is(me, "cut-json")) return say(sink, "{\"promptAuthority\":");
    if (is(me, "addition-not-utf8")) sink->prompt_addition(sink, "\xff\xfe", 2);
    if (is(me, "message-not-utf8")) sink->new_message(sink, "\xff\xfe", 2);
    if (is(me, "null-answer")) sink->write(sink, NULL, 4);
    if (is(me, "null-message")) sink->new_message(sink, NULL, 4);
    if (is(me, "null-addition")) sink->prompt_addition(sink, NULL, 4);
    if (is(me, "null-and-empty")) sink->write(sink, NULL, 0);
    if (is(me, "huge")) sink->prompt_addition(sink, "a", (size_t)2 << 30);
    if (is(me, "huge-together"))
        for (int i = 0; i < 65; i++) sink->prompt_addition(sink, text, sizeof text);
    if (is(me, "many-picks"))
        for (long i = 0; i < 1000000; i++) sink->pick(sink, 0, CE_PICK_INPUT);
    if (is(me, "many-messages"))
        for (long i = 0; i < 100000; i++) sink->new_message(sink, "{}", 2);
    if (is(me, "no-sink") && sink->pick(NULL, 0, 0) != CE_INVALID_ANSWER) return CE_FAILED;
    if (is(me, "new")) {
        sink->new_message(sink, "{\"role\":\"user\",\"content\":\"new\"}", 31);
        sink->pick(sink, 0, CE_PICK_NEW);
        sink->prompt_addition(sink, "first", 5);
        sink->prompt_addition(sink, "second", 6);
        for (const char *c = "{\"answer\":\"\xc3\xa4\"}"; *c != '\0'; c++) sink->write(sink, c, 1);
    }
    for (size_t i = 0; i < request->message_count; i++) sink->pick(sink, (uint32_t)i, CE_PICK_INPUT);
    return sink->estimated_tokens(sink, 7);
}

/* Every small hook logs what it got, and tells all of it where any JSON is an answer. */
static int32_t hook(void *self, const ce_request *request, ce_sink *sink) {
    odd *me = self;
    char line[256];
    int bytes = snprintf(line, sizeof line, "session=%.*s key=%.*s advancement=%.*s heartbeat=%u count=%zu budget=%llu",
                         (int)request->session_id.len, request->session_id.ptr, (int)request->session_key.len,
                         request->session_key.ptr, (int)request->advancement_key.len, request->advancement_key.ptr,
                         (unsigned)request->is_heartbeat, request->message_count,
                         (unsigned long long)request->token_budget);
    me->host->log(me->host, CE_LOG_DEBUG, line, (size_t)bytes);
    if (is(me, "pick-in-hook")) sink->pick(sink, 0, CE_PICK_INPUT);
    if (is(me, "empty")) return CE_OK;
    if (is(me, "maybe")) return say(sink, "{\"status\":\"maybe\"}");
    return see(request, sink);
}

static int32_t compact(void *self, const ce_request *request, ce_sink *sink) {
    (void)self, (void)request;
    return say(sink, "{\"ok\":true,\"compacted\":false,\"reason\":\"nothing to do\"}");
}

static int32_t tools(ce_sink *sink) {
    return say(sink, "[{\"name\":\"odd_tool\",\"description\":\"Says hello\",\"parameters\":{}}]");
}

static int32_t execute_tool(const ce_host *host, const ce_request *request, ce_sink *sink) {
    host->log(host, CE_LOG_INFO, "tool", 4);
    say(sink, "{");
    say_text(sink, "text", request->method);
    return say(sink, "\"isError\":false}");
}

#ifndef NO_ENTRY
struct longer {
    ce_engine_api api;
    void *later[8];
};

#ifndef SIZE
#define SIZE sizeof(ce_engine_api)
#endif

const ce_engine_api *openclaw_engine_c_v1(void) {
    static struct longer table = {
        {SIZE, 0, info, create, destroy, assemble, hook, hook, hook, hook, hook, hook, compact, hook, hook, hook, hook,
         hook, tools, execute_tool},
        {NULL}};
#ifdef NULLED
    table.api.NULLED = NULL;
#endif
#ifdef NULL_TABLE
    return NULL;
#else
    return &table.api;
#endif
}
#endif
