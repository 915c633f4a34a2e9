/* An engine in C: the newest messages that fit, calls and results together, and a word about what was left out. */
#define _POSIX_C_SOURCE 200809L
#include "openclaw_engine.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

OPENCLAW_ENGINE_NOTE("c-engine");

/* Tokens kept free for the word about what was left out. */
#define ADDITION_TOKENS 40u

typedef struct engine {
    char *turns; /* directory with one empty file per committed turn; empty when there is no agent directory */
} engine;

static int32_t fail(ce_sink *sink, const char *doing) {
    char text[256];
    int bytes = snprintf(text, sizeof text, "cannot %s: %s", doing, strerror(errno));
    return sink->error(sink, CE_FAILED, text, bytes > 0 ? strnlen(text, sizeof text) : 0);
}

static int32_t info(ce_sink *sink) {
    static const char json[] = "{\"id\":\"c-engine\",\"name\":\"Newest messages in C\",\"version\":\"0.1.0\","
                               "\"transcriptSemantics\":{\"currentTurnFence\":\"before-current-turn-entry-v1\","
                               "\"turnAdvancementIdempotency\":\"atomic-idempotent-v1\"}}";
    return sink->write(sink, json, sizeof json - 1);
}

static int32_t create(const ce_create *context, const ce_host *host, ce_sink *sink, void **self) {
    static const char name[] = "/c-engine";
    const ce_str dir = context->agent_dir;
    (void)host;
    engine *made = calloc(1, sizeof *made);
    if (made == NULL || (made->turns = calloc(1, dir.len + sizeof name)) == NULL) {
        free(made);
        return fail(sink, "make an instance");
    }
    if (dir.len > 0) { /* a span ends at its length, not at a zero byte */
        memcpy(made->turns, dir.ptr, dir.len);
        memcpy(made->turns + dir.len, name, sizeof name);
    }
    *self = made;
    return CE_OK;
}

static void destroy(void *self) {
    free(((engine *)self)->turns);
    free(self);
}

static int32_t assemble(void *self, const ce_request *request, ce_sink *sink) {
    const uint64_t budget = request->token_budget > 0 ? request->token_budget : UINT64_MAX;
    size_t start = request->message_count;
    uint64_t sum = 0, kept = 0, all = 0;
    (void)self;
    for (size_t i = 0; i < request->message_count; i++) all += request->messages[i].tokens;
    const uint64_t room = all <= budget ? budget : budget > ADDITION_TOKENS ? budget - ADDITION_TOKENS : 0;
    for (size_t i = request->message_count; i-- > 0;) {
        sum += request->messages[i].tokens;
        if (sum > room) break;
        /* A tool result never opens the list: its call would be missing. */
        if (request->messages[i].role == CE_ROLE_TOOL_RESULT) continue;
        start = i;
        kept = sum;
    }
    for (size_t i = start; i < request->message_count; i++) sink->pick(sink, (uint32_t)i, CE_PICK_INPUT);
    if (start > 0) {
        char text[128];
        int bytes = snprintf(text, sizeof text, "The %zu oldest messages of this conversation were left out.", start);
        if (bytes > 0) sink->prompt_addition(sink, text, (size_t)bytes);
        kept += ADDITION_TOKENS;
    }
    return sink->estimated_tokens(sink, kept);
}

/* Makes a directory and those above it. */
static int make_directories(char *path) {
    for (char *at = path + 1; *at != '\0'; at++) {
        if (*at != '/') continue;
        *at = '\0';
        int made = mkdir(path, 0700);
        *at = '/';
        if (made != 0 && errno != EEXIST) return -1;
    }
    return mkdir(path, 0700) != 0 && errno != EEXIST ? -1 : 0;
}

static int sync_file(int file) {
    int failed = fsync(file);
    return close(file) != 0 ? -1 : failed;
}

/* One empty file per turn: it is made once, by whoever comes first, and survives a restart. */
static int32_t commit_turn(void *self, const ce_request *request, ce_sink *sink) {
    static const char committed[] = "{\"status\":\"committed\"}", duplicate[] = "{\"status\":\"duplicate\"}";
    engine *me = self;
    const ce_str key = request->advancement_key;
    const size_t directory_bytes = strlen(me->turns);
    if (directory_bytes == 0 || key.len == 0 || key.len > 120) { /* a file name takes 255 bytes, a byte two digits */
        static const char text[] = "no agent directory, or an advancement key of 0 or more than 120 bytes";
        return sink->error(sink, CE_INVALID_PARAMS, text, sizeof text - 1);
    }
    if (make_directories(me->turns) != 0) return fail(sink, "make the directory of turns");
    char *path = malloc(directory_bytes + 1 + 2 * key.len + 1);
    if (path == NULL) return fail(sink, "store the turn");
    memcpy(path, me->turns, directory_bytes);
    path[directory_bytes] = '/';
    for (size_t i = 0; i < key.len; i++)
        snprintf(path + directory_bytes + 1 + 2 * i, 3, "%02x", (unsigned)(unsigned char)key.ptr[i]);
    int file = open(path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
    const int exists = file < 0 && errno == EEXIST;
    free(path);
    if (!exists && (file < 0 || sync_file(file) != 0)) return fail(sink, "store the turn");
    /* The file's name is durable when its directory is, whoever made it. */
    int directory = open(me->turns, O_RDONLY | O_CLOEXEC);
    if (directory < 0 || sync_file(directory) != 0) return fail(sink, "store the turn");
    return exists ? sink->write(sink, duplicate, sizeof duplicate - 1)
                  : sink->write(sink, committed, sizeof committed - 1);
}

const ce_engine_api *openclaw_engine_c_v1(void) {
    static const ce_engine_api api = {
        .size = sizeof api,
        .info_json = info,
        .create = create,
        .destroy = destroy,
        .assemble = assemble,
        .commit_turn = commit_turn,
    };
    return &api;
}
