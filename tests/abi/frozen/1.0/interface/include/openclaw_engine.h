/*
 * openclaw_engine.h - the contract between context engines and their hosts, for C, C++ and Zig.
 *
 * An engine is a shared library that exports one function, openclaw_engine_c_v1(), and carries one note. Nothing but
 * this header is needed to write one. Written in C11, also valid as C++11 and later, for compilers that understand GNU
 * attributes (gcc, clang, zig cc). The layout of everything below is frozen: it grows only at the end of structs.
 *
 * A whole engine:
 *
 *     #include "openclaw_engine.h"
 *
 *     OPENCLAW_ENGINE_NOTE("keep-all");
 *
 *     static int32_t info(ce_sink *sink) {
 *         static const char json[] = "{\"id\":\"keep-all\",\"name\":\"Keeps everything\"}";
 *         return sink->write(sink, json, sizeof json - 1);
 *     }
 *     static int32_t create(const ce_create *c, const ce_host *host, ce_sink *sink, void **self) {
 *         (void)c, (void)host, (void)sink;
 *         *self = NULL;
 *         return CE_OK;
 *     }
 *     static void destroy(void *self) { (void)self; }
 *     static int32_t assemble(void *self, const ce_request *request, ce_sink *sink) {
 *         (void)self;
 *         for (size_t i = 0; i < request->message_count; i++) sink->pick(sink, (uint32_t)i, CE_PICK_INPUT);
 *         return CE_OK;
 *     }
 *     const ce_engine_api *openclaw_engine_c_v1(void) {
 *         static const ce_engine_api api = { .size = sizeof api, .info_json = info, .create = create,
 *                                            .destroy = destroy, .assemble = assemble };
 *         return &api;
 *     }
 *
 * Build it with hidden symbols, and lay it beside an openclaw.plugin.json that names the same id:
 *
 *     cc -shared -fPIC -fvisibility=hidden -O2 -o libkeep_all.so keep_all.c -I<directory of this header>
 *
 * RULES THAT HOLD EVERYWHERE
 *
 * Text.     Every text is UTF-8 with a length in bytes. It is NOT terminated by a zero byte. With length 0 the pointer
 *           means nothing and must not be read. The host refuses a length above 0 with a NULL pointer.
 * Memory.   Whoever allocates frees. What the host hands to a function lives until that function returns; copy what has
 *           to last. What the engine hands to the host is copied before the host's function returns. No memory ever
 *           changes its owner.
 * Threads.  Any thread may call an instance, one call at a time: do not keep anything in thread-locals. Instances of
 *           different sessions run at the same time. info_json, tools_json, create and execute_tool may run at the same
 *           time as anything else. Calls block; the host owns the threads.
 * Leaving.  A function leaves by returning. No C++ exception and no longjmp may pass the boundary in either direction.
 *           A crash, exit(), abort() or an endless loop in an engine takes the host with it.
 * Errors.   Functions return CE_OK, or a CE_ error code after they have said why with sink->error. Unless its own text
 *           says otherwise, an error of a hook sets the engine aside for the rest of the process, and the turn goes on
 *           with the host's built-in engine. CE_UNSUPPORTED is never a failure: the engine then has no such hook.
 * Sizes.    Each struct begins with its size in bytes, as its maker knows it. Read no member that lies beyond it.
 * Lifetime. The host makes a fresh instance for each operation (a turn, a compaction, a spawn) and destroys it after.
 *           create must be cheap, and whatever has to last belongs on disk, below agent_dir.
 * Output.   Never write to stdout: it belongs to the host. Use host->log.
 *
 * The JSON objects named below are those of the context engine contract; unknown keys are to be ignored, missing ones
 * have defaults.
 */
#ifndef OPENCLAW_ENGINE_H
#define OPENCLAW_ENGINE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Version of the contract this header describes. Hosts refuse another major version and accept any minor one. */
#define CE_CONTRACT_MAJOR 1
#define CE_CONTRACT_MINOR 0

/* What functions return. Other positive values are kept as they are; negative ones count as CE_FAILED. */
#define CE_OK 0
#define CE_FAILED 1         /* could not do what was asked */
#define CE_PANICKED 2       /* came upon a broken invariant; the instance is of no use any more */
#define CE_UNSUPPORTED 3    /* there is no such hook, method or service */
#define CE_INVALID_PARAMS 4 /* the request is not what the contract says */
#define CE_CANCELLED 5      /* ended early because host->cancelled said so */
#define CE_GONE 6           /* the instance became useless in an earlier call */
#define CE_INVALID_ANSWER 7 /* the answer is not what the contract says; also what a sink returns when it refuses */

/* Limits the host enforces. */
#define CE_MAX_ANSWER_BYTES 67108864 /* all texts of one answer together: 64 MiB */
#define CE_MAX_NEW_MESSAGES 65536    /* new messages in one answer; picks may be that many more than input messages */
#define CE_MAX_ERROR_BYTES 4096      /* an error text; what is longer is cut at a character and ends in an ellipsis */
#define CE_MAX_LOG_BYTES 16384       /* a log line; what is longer is cut at a character. Hosts may keep less */
#define CE_MAX_TABLE_BYTES 65536     /* a ce_engine_api; a larger size is refused */

/* Roles of messages, an open set: a role this header does not know is CE_ROLE_OTHER or a number not listed here. */
#define CE_ROLE_USER 0u
#define CE_ROLE_ASSISTANT 1u
#define CE_ROLE_TOOL_RESULT 2u /* the outcome of one tool call of the assistant message before it */
#define CE_ROLE_CUSTOM 3u      /* written by a plugin; the model sees it as a user message */
#define CE_ROLE_COMPACTION_SUMMARY 4u
#define CE_ROLE_BRANCH_SUMMARY 5u
#define CE_ROLE_BASH_EXECUTION 6u
#define CE_ROLE_OTHER UINT32_MAX

/* What sink->pick takes from. */
#define CE_PICK_INPUT 0u /* request->messages */
#define CE_PICK_NEW 1u   /* the messages handed to sink->new_message, in that order */

/* Levels of host->log. */
#define CE_LOG_ERROR 1u
#define CE_LOG_WARN 2u
#define CE_LOG_INFO 3u
#define CE_LOG_DEBUG 4u
#define CE_LOG_TRACE 5u

/* A text that belongs to the other side. See "Text" above. */
typedef struct ce_str {
    const char *ptr;
    size_t len; /* bytes */
} ce_str;

/* One message as the host holds it: these are the host's own records, nothing was copied. */
typedef struct ce_msg {
    ce_str id;       /* entry id, unique in the session; empty where the host has none */
    ce_str json;     /* the message object, exactly as stored */
    uint32_t role;   /* the role in json, CE_ROLE_ */
    uint32_t tokens; /* tokens of the message as the host counts them */
} ce_msg;

/*
 * What every hook receives. params_json has everything; the members beside it are what most engines need of it, so that
 * they need no JSON parser. A member that the hook does not have is 0 or empty.
 */
typedef struct ce_request {
    uint32_t size;
    uint32_t is_heartbeat;   /* ingest, ingest_batch, after_turn, commit_turn: 1 when the run was a heartbeat */
    ce_str params_json;      /* the JSON object of the hook's parameters */
    const ce_msg *messages;  /* assemble, ingest, ingest_batch, after_turn, commit_turn: oldest first */
    size_t message_count;
    uint64_t token_budget;   /* assemble, after_turn, compact: tokens the prompt may take; 0 when not known */
    ce_str session_id;       /* id of the transcript */
    ce_str session_key;      /* stable logical name of the session; empty when the engine does not accept it */
    ce_str advancement_key;  /* commit_turn: name of the logical turn, the same over retries and restarts; arbitrary
                                text, not fit for a file name as it is */
    ce_str method;           /* call_json: name of the hook. execute_tool: name of the tool */
} ce_request;

/* What an instance is made from. */
typedef struct ce_create {
    uint32_t size;
    uint32_t reserved;
    ce_str context_json;  /* everything, as one JSON object */
    ce_str settings_json; /* the plugin's settings, a JSON object that fits the manifest's configSchema */
    ce_str agent_dir;     /* absolute directory of the agent's state. It may not exist yet. Empty for some operations */
    ce_str workspace_dir; /* absolute directory the agent works in. Empty for some operations */
} ce_create;

/*
 * Where an answer goes: belongs to the host, one for each call. Use it on the thread that was called, and not after the
 * function has returned. Unless it says otherwise a function returns CE_OK, or CE_INVALID_ANSWER when it refuses; the
 * host remembers the first refusal and discards the answer, so ignoring it is safe. When a hook fails, what it wrote
 * and picked counts for nothing.
 */
typedef struct ce_sink ce_sink;
struct ce_sink {
    uint32_t size;
    uint32_t reserved;
    /* Appends to the JSON the hook answers with. May be called many times, cutting anywhere. */
    int32_t (*write)(ce_sink *sink, const char *text, size_t bytes);
    /* Says that and why the hook fails, in one sentence for a person; no secrets, no transcript text. The last one
       counts. Bytes that are no UTF-8 are replaced. Returns code, so that `return sink->error(...)` is all there is to
       do; a hook that returns another error has failed with that one, and one that returns CE_OK with this one. */
    int32_t (*error)(ce_sink *sink, int32_t code, const char *text, size_t bytes);
    /* assemble only: the next message of the assembled list, oldest first. No message twice. */
    int32_t (*pick)(ce_sink *sink, uint32_t index, uint32_t kind);
    /* assemble only: hands over a message object the engine made, as JSON, to be picked with CE_PICK_NEW. Its index is
       the number of new messages handed over before it in this call. */
    int32_t (*new_message)(ce_sink *sink, const char *json, size_t bytes);
    /* assemble only: text for the system prompt. The last one counts; blank counts as none. */
    int32_t (*prompt_addition)(ce_sink *sink, const char *text, size_t bytes);
    /* assemble only: the engine's guess, in tokens, for messages and addition. The host counts again. */
    int32_t (*estimated_tokens)(ce_sink *sink, uint64_t tokens);
};

/*
 * Receives the answer of host->call_json: called at most once, on the calling thread, before call_json returns. text is
 * the JSON the service answered, or why it failed; it lives until this function returns.
 */
typedef void (*ce_receive)(void *context, const char *text, size_t bytes);

/*
 * What a host offers: belongs to the host, one for each instance. Pass the pointer itself as first argument. Valid from
 * the call of create until destroy returns (for execute_tool: until it returns; when create fails: until create
 * returns), and safe to call from any thread, several at once, all that time. After that the pointer must not be used:
 * threads of the engine that hold it have to end before destroy returns.
 */
typedef struct ce_host ce_host;
struct ce_host {
    uint32_t size;
    uint32_t reserved;
    /* Hands one line to the host's log. level: CE_LOG_. No secrets, no transcript text. Bytes that are no UTF-8 are
       replaced. */
    void (*log)(const ce_host *host, uint32_t level, const char *text, size_t bytes);
    /* 1 when the call in progress should end early, else 0. Cheap: ask in loops, answer CE_CANCELLED. */
    int32_t (*cancelled)(const ce_host *host);
    /* Tokens of a text for the model in use. Messages carry their count already. */
    uint64_t (*count_tokens)(const ce_host *host, const char *text, size_t bytes);
    /* Calls a service of the host by name, with a JSON object. Which there are stands in the hostServices of a hook's
       params_json; others answer CE_UNSUPPORTED. receive may be NULL. */
    int32_t (*call_json)(const ce_host *host, const char *service, size_t service_bytes, const char *params_json,
                         size_t params_bytes, ce_receive receive, void *context);
};

/* A hook: self is what create made. */
typedef int32_t (*ce_hook)(void *self, const ce_request *request, ce_sink *sink);

/*
 * What a library hands over: static data that never changes. Members are appended, never moved. A member that is NULL,
 * or lies beyond size, is a hook the engine does not have: hosts treat it as CE_UNSUPPORTED. The first four functions
 * are required; a host refuses the library when one is missing, and when size is above CE_MAX_TABLE_BYTES.
 */
typedef struct ce_engine_api {
    uint32_t size; /* sizeof(ce_engine_api) */
    uint32_t reserved;

    /* REQUIRED. Writes the descriptor: {"id":...,"name":...,"version":...,"transcriptSemantics":{...}}. The id is that
       of note and manifest. Called once when the library is loaded, before any instance exists; no side effects.
       Error: the library is refused. */
    int32_t (*info_json)(ce_sink *sink);
    /* REQUIRED. Makes an instance and stores it in *self, which comes as NULL and may stay so. Opening a file is fine,
       long work is not. Host stays valid, see ce_host. Error: the turn runs on the built-in engine and the engine is
       set aside; when an error is returned, *self is not used and destroy is not called. */
    int32_t (*create)(const ce_create *context, const ce_host *host, ce_sink *sink, void **self);
    /* REQUIRED. Frees an instance. Called once for each that was made, after everything else, possibly without dispose
       and from any thread. Cannot fail. */
    void (*destroy)(void *self);
    /* REQUIRED. Builds the messages for one model run: sink->pick for each that the model gets, oldest first. Called
       once per attempt, after bootstrap. messages are the history before the current turn; never the current prompt.
       A call and its results stay adjacent. token_budget is what messages and prompt addition may take. The host counts
       again, mends split pairs and cuts what is over budget, and says so in the turn record. What is written is the
       rest of the answer, {"promptAuthority":...,"contextProjection":...}; may be nothing. */
    ce_hook assemble;

    /* Takes a session over, or finds that nothing is to do. Called at the start of every attempt of every turn when the
       transcript has messages; must be idempotent, and cheap when nothing is missing. Writes
       {"bootstrapped":true,"importedMessages":0,"reason":...}. Error: the maintain of this attempt is skipped too. */
    ce_hook bootstrap;
    /* Tidies up: after bootstrap, after an acknowledged commit, after a compaction. Writes
       {"changed":false,"bytesFreed":0,"rewrittenEntries":0}. Error: the turn goes on. */
    ce_hook maintain;
    /* Takes one message (message_count is 1), on runs outside durable turns and only when neither after_turn nor
       ingest_batch exists. Writes {"ingested":true}. Error: the message is not offered again. */
    ce_hook ingest;
    /* Takes the new messages of a run outside durable turns, when there is no after_turn. Writes {"ingestedCount":2}.
       Error: the messages are not offered again. */
    ce_hook ingest_batch;
    /* Takes the whole snapshot after a run outside durable turns; prePromptMessageCount in params_json says where this
       run's messages start. Writes nothing. Error: maintenance is skipped. */
    ce_hook after_turn;
    /* Stores one accepted turn, in one atomic write together with its advancement_key. messages are the visible ones
       from admission to terminal, both included. A key that is already stored changes nothing. Writes
       {"status":"committed"} or {"status":"duplicate"}, and never before the write is durable. Keys are remembered as
       long as the session lives: the host repeats a commit after a crash, possibly from another process. REQUIRED of an
       engine whose descriptor promises durable turns (turnAdvancementIdempotency). Error: the host keeps the turn and
       offers it again before the next one. */
    ce_hook commit_turn;
    /* Makes the context smaller. Writes {"ok":true,"compacted":true,"result":{"summary":...,"tokensBefore":...}}.
       Error: handed to whoever asked for the compaction. */
    ce_hook compact;
    /* Prepares for a child session, before it is dispatched. Writes null, or any JSON value as a handle for
       rollback_subagent_spawn. Error: the spawn fails. */
    ce_hook prepare_subagent_spawn;
    /* Takes a preparation back, on the same instance, at most once; params_json is the handle. Writes nothing. Absent
       counts as done. Error: logged. */
    ce_hook rollback_subagent_spawn;
    /* Hears that a child session ended, on a fresh instance, possibly more than once for one child and for children
       that were never prepared; must be idempotent. Writes nothing. Error: logged. */
    ce_hook on_subagent_ended;
    /* Says goodbye: called once per instance, after every other hook and before destroy; a process that dies never
       calls it. params_json is {}. Writes nothing. Absent counts as done. Error: logged, no consequence. */
    ce_hook dispose;
    /* A hook newer than this header: request->method is its contract name. Writes what that hook answers. Answer
       CE_UNSUPPORTED to an unknown name. */
    ce_hook call_json;

    /* Writes the agent tools the engine brings: [{"name":...,"description":...,"parameters":{...}}]. Their names stand
       in the manifest's contracts.tools. Called before any instance exists; no side effects. Absent: no tools. */
    int32_t (*tools_json)(ce_sink *sink);
    /* Runs one of its tools, without an instance: request->method is its name, params_json the call with arguments and
       context. Host is valid until the function returns. Writes {"text":...,"isError":false}. Error: the model is told
       that the tool failed; the engine is not set aside. A failure the model should learn from is an answer with
       isError. */
    int32_t (*execute_tool)(const ce_host *host, const ce_request *request, ce_sink *sink);
} ce_engine_api;

/* Exported whatever -fvisibility says. */
#if defined(_WIN32)
#define CE_EXPORT __declspec(dllexport)
#else
#define CE_EXPORT __attribute__((visibility("default")))
#endif

/*
 * The one function an engine library exports. Called once when the library is loaded. Answers static data; the host
 * reads it once and keeps the library open until the process ends.
 */
CE_EXPORT const ce_engine_api *openclaw_engine_c_v1(void);

/*
 * The note: what a library says of itself to a reader that does not run it. Written once per library, outside of
 * functions. id: the engine's id as a string literal; lower-case letters, digits, '-', '_' and '.', at most 127 bytes,
 * starting with a letter or digit, the same as in the manifest. A host refuses a library without it.
 */
#define OPENCLAW_ENGINE_NOTE(id)                                                                                       \
    CE_STATIC_ASSERT_(sizeof(id) > 1 && sizeof(id) <= 128, "an engine id takes 1 to 127 bytes");                       \
    CE_NOTE_PLACE_ static const ce_note_ openclaw_engine_note = {                                                      \
        9u, (uint32_t)sizeof(ce_note_desc_), 1u, "OpenClaw",                                                           \
        {{'O', 'C', 'E', 'N', 'G', 'I', 'N', 'E'}, CE_CONTRACT_MAJOR, CE_CONTRACT_MINOR, CE_NO_PANIC_,                 \
         (uint8_t)sizeof(void *), 0u, CE_TOOLCHAIN_, id}}

/* ---- Behind OPENCLAW_ENGINE_NOTE; not for use. ---- */

#define CE_NO_PANIC_ 1u /* "unwinds": nothing in C panics */

typedef struct ce_note_desc_ {
    char magic[8];
    uint16_t contract_major;
    uint16_t contract_minor;
    uint8_t panic;
    uint8_t pointer_bytes;
    uint16_t flags;
    char toolchain[64];
    char engine_id[128];
} ce_note_desc_;

typedef struct ce_note_ {
    uint32_t owner_bytes;
    uint32_t desc_bytes;
    uint32_t kind;
    char owner[12];
    ce_note_desc_ desc;
} ce_note_;

#if defined(__APPLE__)
#define CE_NOTE_SECTION_ "__DATA,__openclaw"
#else
#define CE_NOTE_SECTION_ ".note.openclaw"
#endif
#define CE_NOTE_PLACE_ __attribute__((used, aligned(4), section(CE_NOTE_SECTION_)))

#ifdef __cplusplus
#define CE_STATIC_ASSERT_(condition, text) static_assert(condition, text)
#else
#define CE_STATIC_ASSERT_(condition, text) _Static_assert(condition, text)
#endif

/* __VERSION__ has no bound, the field has 64 bytes: the numbers it is made of are used instead. */
#define CE_TEXT__(x) #x
#define CE_TEXT_(x) CE_TEXT__(x)
#if defined(__clang__)
#define CE_TOOLCHAIN_                                                                                                  \
    "clang " CE_TEXT_(__clang_major__) "." CE_TEXT_(__clang_minor__) "." CE_TEXT_(__clang_patchlevel__)
#elif defined(__GNUC__)
#define CE_TOOLCHAIN_ "gcc " CE_TEXT_(__GNUC__) "." CE_TEXT_(__GNUC_MINOR__) "." CE_TEXT_(__GNUC_PATCHLEVEL__)
#else
#define CE_TOOLCHAIN_ "C"
#endif

#ifdef __cplusplus
}
#endif

#endif /* OPENCLAW_ENGINE_H */
