import type { ModelEndpointId } from "@sluice/contract/words";
import type { Script } from "@sluice/simulator";

/** One call, sent several times at once on a budget for one. */
export interface Cell {
  readonly path: string;
  readonly body: object | (() => FormData);
  /** The reservation in docs/limits.md: tokens, or characters, at 10 USD for a million of either. */
  readonly held: number;
  readonly script?: Script;
  /** The upstream's cost in the same unit. Without it: input and output as the upstream counts them. */
  readonly used?: number;
  /** An earlier call whose answer has an id: its path, its body, and how this call names the id. */
  readonly before?: { readonly path: string; readonly body: object; readonly name: (id: string) => object };
  readonly headers?: Readonly<Record<string, string>>;
}

/**
 * A string explains why no such call exists. An object is a call that the gateway refuses and the upstream never sees.
 */
export type Reason =
  | string
  | { readonly refused: Pick<Cell, "path" | "body" | "headers" | "before">; readonly why: string };
type Inputs = Cell | Reason | readonly (Cell | Reason)[];
interface ServedInputs {
  /** The input is in the body. */
  readonly body: Inputs;
  /** The vendor stores the input. */
  readonly stored: Inputs;
}
export interface EndpointRow {
  readonly native: ServedInputs;
  readonly translated: ServedInputs;
  readonly socket: ServedInputs;
  readonly passThrough: ServedInputs;
}

export const contextWindow = 20_000;
const cap = 10;
/** 64 KB: 16,000 tokens, held with a quarter more. */
const text = "The quick brown fox jumps over the lazy dog, and then some more. ".repeat(985);
const textTokens: Script = { prompt_tokens: 16_000, tokens: 5 };
const textHeld = 20_000;
/** The vendor's object has as many tokens as the context window. */
const storedTokens: Script = { prompt_tokens: 19_000, tokens: 5 };
const storedHeld = contextWindow + 100;
/** 5,200 bytes. */
const few = "A few words. ".repeat(400);
const fewTokens: Script = { prompt_tokens: 1_300, tokens: 5 };
const fewHeld = 1_700;
const pixel = `data:image/png;base64,${Buffer.from("\x89PNG\r\n\x1a\n0123456789", "latin1").toString("base64")}`;

const both = (way: Inputs): ServedInputs => ({ body: way, stored: way });
const noSocket = both("WebSockets speak Responses alone");
const free = both("to count tokens costs nothing");
const nothingStored = "the request names no stored object";
const neverTranslated = both("only upstreams with the same API serve it");
const unreadForm = (path: string, form: () => FormData): ServedInputs =>
  both({ refused: { path, body: form }, why: "a passed-through form is not read, so a budget refuses it" });

const messages = (content: unknown) => [{ role: "user", content }];
const stream_options = { include_usage: true };
const chat = (model: string, content: unknown) => ({
  ...{ model, max_tokens: cap, stream: true, stream_options },
  messages: messages(content),
});
const claude = (model: string, content: unknown, more: object = {}) => ({
  ...{ model, max_tokens: cap, stream: true, messages: messages(content) },
  ...more,
});
const response = (model: string, content: unknown, more: object = {}) => ({
  ...{ model, max_output_tokens: cap, input: messages(content) },
  ...more,
});
const generation = (part: object, more: object = {}) => ({
  contents: [{ role: "user", parts: [part] }],
  generationConfig: { maxOutputTokens: cap },
  ...more,
});

const textCell = (path: string, body: object, more: Partial<Cell> = {}): Cell => ({
  ...{ path, body, held: textHeld, script: textTokens },
  ...more,
});
const storedCell = (path: string, body: object, more: Partial<Cell> = {}): Cell => ({
  ...{ path, body, held: storedHeld, script: storedTokens },
  ...more,
});
const decision = { input: few, questions: [{ type: "predicate", instructions: "A few." }] };
const geminiDecision = { input: few, questions: { few: { type: "noul", instructions: "A few." } } };
const fewCell = (path: string, body: object): Cell => ({ path, body, held: fewHeld, script: fewTokens });
const pictureOf = (body: object): Partial<Cell> => ({ body, held: 4_200, script: { prompt_tokens: 4_000, tokens: 5 } });

const interaction = (model: string, input: unknown, more: object = {}) => ({
  ...{ model, input, generation_config: { max_output_tokens: cap } },
  ...more,
});

const url = "https://example.com/thing";
const chatFile = [{ type: "file", file: { file_id: "file-1" } }];
const claudeFile = [{ type: "document", source: { type: "file", file_id: "file_1" } }];
const responseFile = [{ type: "input_file", file_id: "file-1" }];
const film = { fileData: { fileUri: "files/1", mimeType: "video/mp4" } };

/** A stored response of 15,000 tokens. */
const storedResponse = {
  path: "/v1/responses",
  body: response("openai", "Begin."),
  name: (previous_response_id: string) => ({ previous_response_id }),
};
const storedInteraction = {
  path: "/v1beta/interactions",
  body: interaction("gem", "Begin."),
  name: (previous_interaction_id: string) => ({ previous_interaction_id }),
};
const thread = { "anthropic-beta": "message-threads-2026-08-12" };
const storedThread = {
  path: "/v1/messages",
  body: claude("claude", "Begin.", { stream: false, thread: { type: "create" } }),
  name: (previous_message_id: string) => ({ thread: { type: "continue", previous_message_id } }),
};
/** A continuation brings the input and output of `before`, which used these tokens. */
export const beforeTokens: Script = { prompt_tokens: 15_000, tokens: 5 };
const continued: Partial<Cell> = { held: 15_100, script: { prompt_tokens: 15_010, tokens: 5 } };

const generate = (model: string) => `/v1beta/models/${model}:generateContent`;
const passThroughPaths = {
  chat: "/v1/providers/chat/chat/completions",
  messages: "/v1/providers/claude/v1/messages",
  responses: "/v1/providers/openai/responses",
  generate: "/v1/providers/gem/models/upstream-gem:generateContent",
  interactions: "/v1/providers/gem/interactions",
};

const picture = { prompt: "A cat.", n: 2 };
/** Two pictures of 2,000 tokens at most. */
const drawn: Pick<Cell, "held" | "script"> = { held: 4_100, script: { image_tokens: 1_900, prompt_tokens: 10 } };
/** A translated call carries a script only in its prompt. */
const scripted = 'A cat. [[sim {"image_tokens":1900,"prompt_tokens":10}]]';
const editForm = (model: string) => (): FormData => {
  const form = new FormData();
  for (const [name, value] of Object.entries({ model, prompt: "A cat.", n: "2" })) form.append(name, value);
  for (const name of ["a.png", "b.png"]) {
    form.append("image[]", new Blob([new Uint8Array(2_000)], { type: "image/png" }), name);
  }
  return form;
};
const edited: Pick<Cell, "held" | "script"> = { held: 12_400, script: { image_tokens: 1_900, prompt_tokens: 8_100 } };
const editJson = (model: string, images: readonly object[]) => ({ model, ...picture, images });
const soundForm = (model: string) => (): FormData => {
  const form = new FormData();
  form.append("model", model);
  form.append("file", new Blob([new Uint8Array(320_000).fill(7)], { type: "audio/mpeg" }), "a.mp3");
  return form;
};
/** A film of five seconds, by its size. */
const clip = {
  ...{ model: "clip", prompt: "a boat", ratio: "16:9", duration: 5, resolution: "720p" },
  ...{ audio: false, watermark: false, seed: -1 },
};

/** Every endpoint × how it is served × where its input is. */
export const overshootTable: Readonly<Record<ModelEndpointId | "video", EndpointRow>> = {
  chat: {
    native: {
      body: textCell("/v1/chat/completions", chat("chat", text)),
      stored: storedCell("/v1/chat/completions", chat("chat", chatFile)),
    },
    translated: {
      body: textCell("/v1/chat/completions", chat("claude", text)),
      stored: {
        refused: { path: "/v1/chat/completions", body: chat("claude", chatFile) },
        why: "a file of another vendor",
      },
    },
    socket: noSocket,
    passThrough: {
      body: [
        textCell(passThroughPaths.chat, chat("upstream-chat", text)),
        {
          ...textCell(passThroughPaths.chat, {}),
          ...pictureOf(chat("upstream-chat", [{ type: "image_url", image_url: { url } }])),
        },
      ],
      stored: storedCell(passThroughPaths.chat, chat("upstream-chat", chatFile)),
    },
  },
  messages: {
    native: {
      body: textCell("/v1/messages", claude("claude", text)),
      stored: [
        storedCell("/v1/messages", claude("claude", claudeFile)),
        storedCell("/v1/messages", claude("claude", "Go on."), { ...continued, before: storedThread, headers: thread }),
      ],
    },
    translated: {
      body: textCell("/v1/messages", claude("gem", text)),
      stored: {
        refused: { path: "/v1/messages", body: claude("gem", claudeFile) },
        why: "a file of another vendor",
      },
    },
    socket: noSocket,
    passThrough: {
      body: [
        textCell(passThroughPaths.messages, claude("claude-sim-4-5", text)),
        {
          ...textCell(passThroughPaths.messages, {}),
          ...pictureOf(claude("claude-sim-4-5", [{ type: "image", source: { type: "url", url } }])),
        },
      ],
      stored: [
        storedCell(passThroughPaths.messages, claude("claude-sim-4-5", claudeFile)),
        storedCell(
          passThroughPaths.messages,
          claude("claude-sim-4-5", [{ type: "document", source: { type: "url", url } }]),
        ),
      ],
    },
  },
  "count-tokens": { native: free, translated: free, socket: free, passThrough: free },
  "input-tokens": { native: free, translated: free, socket: free, passThrough: free },
  "gemini-count-tokens": { native: free, translated: free, socket: free, passThrough: free },
  responses: {
    native: {
      body: [
        textCell("/v1/responses", response("openai", text, { stream: true })),
        textCell("/v1/responses", response("openai", text, { background: true })),
      ],
      stored: [
        storedCell("/v1/responses", response("openai", responseFile)),
        storedCell("/v1/responses", response("openai", "Go on.", { conversation: "conv_1" })),
        storedCell("/v1/responses", response("openai", "Go on.", { prompt: { id: "pmpt_1" } })),
        storedCell("/v1/responses", response("openai", "Go on."), { ...continued, before: storedResponse }),
        storedCell("/v1/responses", response("openai", "Go on.", { background: true }), {
          ...continued,
          before: storedResponse,
        }),
        {
          ...storedCell("/v1/responses", {}),
          ...pictureOf(response("openai", [{ type: "input_image", file_id: "file-1" }])),
        },
      ],
    },
    translated: {
      body: textCell("/v1/responses", response("chat", text, { stream: true })),
      stored: {
        refused: { path: "/v1/responses", body: response("chat", "Go on."), before: storedResponse },
        why: "a response of another vendor",
      },
    },
    socket: {
      body: [textCell("/v1/responses", response("openai", text)), textCell("/v1/responses", response("claude", text))],
      stored: [
        storedCell("/v1/responses", response("openai", responseFile)),
        storedCell("/v1/responses", response("openai", "Go on."), { ...continued, before: storedResponse }),
      ],
    },
    passThrough: {
      body: [
        textCell(passThroughPaths.responses, response("upstream-openai", text, { stream: true })),
        storedCell(passThroughPaths.responses, response("upstream-openai", [{ type: "input_file", file_url: url }])),
      ],
      stored: [
        storedCell(passThroughPaths.responses, response("upstream-openai", responseFile)),
        storedCell(passThroughPaths.responses, response("upstream-openai", "Go on."), {
          ...continued,
          before: storedResponse,
        }),
      ],
    },
  },
  "responses-compact": {
    native: {
      body: textCell("/v1/responses/compact", { model: "openai", input: messages(text) }, { held: 22_000 }),
      stored: storedCell(
        "/v1/responses/compact",
        { model: "openai" },
        { ...continued, held: 17_100, before: storedResponse },
      ),
    },
    translated: {
      body: textCell("/v1/responses/compact", { model: "claude", input: messages(text) }, { held: 22_000 }),
      stored: {
        refused: { path: "/v1/responses/compact", body: { model: "claude" }, before: storedResponse },
        why: "a response of another vendor",
      },
    },
    socket: noSocket,
    passThrough: {
      body: textCell(
        `${passThroughPaths.responses}/compact`,
        { model: "upstream-openai", input: messages(text) },
        { held: 22_000 },
      ),
      stored: storedCell(
        `${passThroughPaths.responses}/compact`,
        { model: "upstream-openai" },
        { ...continued, held: 17_100, before: storedResponse },
      ),
    },
  },
  interactions: {
    native: {
      body: [
        textCell("/v1beta/interactions", interaction("gem", text, { stream: true })),
        textCell("/v1beta/interactions", interaction("gem", text, { background: true })),
      ],
      stored: [
        storedCell("/v1beta/interactions", interaction("gem", [{ type: "video", uri: "files/1" }])),
        storedCell("/v1beta/interactions", interaction("gem", [{ type: "video", uri: "https://youtu.be/x" }])),
        storedCell("/v1beta/interactions", interaction("gem", "Go on.", { cached_content: "cachedContents/1" })),
        storedCell("/v1beta/interactions", interaction("gem", "Go on."), { ...continued, before: storedInteraction }),
        storedCell("/v1beta/interactions", interaction("gem", "Go on.", { background: true }), {
          ...continued,
          before: storedInteraction,
        }),
        {
          ...storedCell("/v1beta/interactions", {}),
          ...pictureOf(interaction("gem", [{ type: "image", uri: "files/1" }])),
        },
      ],
    },
    translated: {
      body: textCell("/v1beta/interactions", interaction("chat", text, { stream: true })),
      stored: {
        refused: { path: "/v1beta/interactions", body: interaction("chat", "Go on."), before: storedInteraction },
        why: "an interaction of another vendor",
      },
    },
    socket: noSocket,
    passThrough: {
      body: textCell(passThroughPaths.interactions, interaction("upstream-gem", text)),
      stored: [
        storedCell(passThroughPaths.interactions, interaction("upstream-gem", [{ type: "video", uri: "files/1" }])),
        storedCell(passThroughPaths.interactions, interaction("upstream-gem", "Go on."), {
          ...continued,
          before: storedInteraction,
        }),
      ],
    },
  },
  generate: {
    native: {
      body: textCell(generate("gem"), generation({ text })),
      stored: [
        storedCell(generate("gem"), generation(film)),
        storedCell(generate("gem"), generation({ text: "Go on." }, { cachedContent: "cachedContents/1" })),
        storedCell(generate("gem"), generation({ fileData: { fileUri: "https://youtu.be/x", mimeType: "video/mp4" } })),
      ],
    },
    translated: {
      body: textCell(generate("chat"), generation({ text })),
      stored: { refused: { path: generate("chat"), body: generation(film) }, why: "a file of another vendor" },
    },
    socket: noSocket,
    passThrough: {
      body: textCell(passThroughPaths.generate, generation({ text })),
      stored: [
        storedCell(passThroughPaths.generate, generation(film)),
        storedCell(passThroughPaths.generate, generation({ text: "Go on." }, { cachedContent: "cachedContents/1" })),
      ],
    },
  },
  completions: {
    native: {
      body: textCell("/v1/completions", { model: "fim", prompt: text, max_tokens: cap }),
      stored: nothingStored,
    },
    translated: {
      body: [
        textCell("/v1/completions", { model: "codestral", prompt: text, max_tokens: cap }),
        {
          refused: { path: "/v1/completions", body: { model: "claude", prompt: text, max_tokens: cap } },
          why: "a model that completes no prompt",
        },
      ],
      stored: nothingStored,
    },
    socket: noSocket,
    passThrough: {
      body: textCell("/v1/providers/openai/completions", {
        ...{ model: "gpt-3.5-turbo-instruct", prompt: text, max_tokens: cap },
      }),
      stored: nothingStored,
    },
  },
  images: {
    native: {
      body: { path: "/v1/images/generations", body: { model: "image", ...picture }, ...drawn },
      stored: nothingStored,
    },
    translated: {
      body: { path: "/v1/images/generations", body: { model: "gem-image", prompt: scripted }, held: 2_100 },
      stored: nothingStored,
    },
    socket: noSocket,
    passThrough: {
      body: {
        path: "/v1/providers/openai/images/generations",
        body: { model: "upstream-image", ...picture },
        ...drawn,
      },
      stored: nothingStored,
    },
  },
  "image-edits": {
    native: {
      body: [
        { path: "/v1/images/edits", body: editForm("image"), ...edited },
        { path: "/v1/images/edits", body: editJson("image", [{ image_url: pixel }, { image_url: pixel }]), ...edited },
      ],
      stored: {
        ...{ path: "/v1/images/edits", ...edited },
        body: editJson("image", [{ file_id: "file-1" }, { file_id: "file-2" }]),
      },
    },
    translated: {
      body: {
        path: "/v1/images/edits",
        body: { ...editJson("gem-image", [{ image_url: pixel }]), prompt: scripted, n: 1 },
        held: 6_300,
      },
      stored: {
        refused: { path: "/v1/images/edits", body: editJson("gem-image", [{ file_id: "file-1" }]) },
        why: "a file of another vendor",
      },
    },
    socket: noSocket,
    passThrough: {
      body: {
        ...{ path: "/v1/providers/openai/images/edits", ...edited },
        body: editJson("upstream-image", [{ image_url: pixel }, { image_url: pixel }]),
      },
      stored: unreadForm("/v1/providers/openai/images/edits", editForm("upstream-image")).stored,
    },
  },
  embeddings: {
    native: { body: fewCell("/v1/embeddings", { model: "vector", input: few }), stored: nothingStored },
    translated: { body: fewCell("/v1/embeddings", { model: "gem-vector", input: few }), stored: nothingStored },
    socket: noSocket,
    passThrough: {
      body: fewCell("/v1/providers/openai/embeddings", { model: "upstream-vector", input: few }),
      stored: nothingStored,
    },
  },
  "embed-content": {
    native: {
      body: fewCell("/v1beta/models/gem-vector:embedContent", { content: { parts: [{ text: few }] } }),
      stored: nothingStored,
    },
    translated: {
      body: fewCell("/v1beta/models/vector:embedContent", { content: { parts: [{ text: few }] } }),
      stored: nothingStored,
    },
    socket: noSocket,
    passThrough: {
      body: fewCell("/v1/providers/gem/models/upstream-gem-vector:embedContent", {
        content: { parts: [{ text: few }] },
      }),
      stored: nothingStored,
    },
  },
  "batch-embed-contents": {
    native: {
      body: fewCell("/v1beta/models/gem-vector:batchEmbedContents", batchOf("gem-vector")),
      stored: nothingStored,
    },
    translated: { body: fewCell("/v1beta/models/vector:batchEmbedContents", batchOf("vector")), stored: nothingStored },
    socket: noSocket,
    passThrough: {
      body: fewCell("/v1/providers/gem/models/upstream-gem-vector:batchEmbedContents", batchOf("upstream-gem-vector")),
      stored: nothingStored,
    },
  },
  rerank: {
    native: {
      body: fewCell("/v1/rerank", { model: "ranker", query: "Which?", documents: [few] }),
      stored: nothingStored,
    },
    translated: neverTranslated,
    socket: noSocket,
    passThrough: {
      body: fewCell("/v1/providers/chat/rerank", { model: "upstream-ranker", query: "Which?", documents: [few] }),
      stored: nothingStored,
    },
  },
  moderations: {
    native: { body: fewCell("/v1/moderations", { model: "judge", input: few }), stored: nothingStored },
    translated: neverTranslated,
    socket: noSocket,
    passThrough: {
      body: fewCell("/v1/providers/openai/moderations", { model: "upstream-judge", input: few }),
      stored: nothingStored,
    },
  },
  decisions: {
    native: { body: fewCell("/v1/decisions", { model: "decider", ...decision }), stored: nothingStored },
    translated: neverTranslated,
    socket: noSocket,
    passThrough: {
      body: fewCell("/v1/providers/openai/decisions", { model: "upstream-decider", ...decision }),
      stored: nothingStored,
    },
  },
  "gemini-decisions": {
    native: { body: fewCell("/v1beta/decisions", { model: "gem-decider", ...geminiDecision }), stored: nothingStored },
    translated: neverTranslated,
    socket: noSocket,
    passThrough: {
      body: fewCell("/v1/providers/gem/decisions", { model: "models/upstream-gem-decider", ...geminiDecision }),
      stored: nothingStored,
    },
  },
  transcriptions: {
    native: {
      body: {
        path: "/v1/audio/transcriptions",
        body: soundForm("hears"),
        held: 10_800,
        script: { prompt_tokens: 10_500 },
      },
      stored: nothingStored,
    },
    translated: neverTranslated,
    socket: noSocket,
    passThrough: unreadForm("/v1/providers/chat/audio/transcriptions", soundForm("upstream-hears")),
  },
  translations: {
    native: {
      body: {
        path: "/v1/audio/translations",
        body: soundForm("hears"),
        held: 10_800,
        script: { prompt_tokens: 10_500 },
      },
      stored: nothingStored,
    },
    translated: neverTranslated,
    socket: noSocket,
    passThrough: unreadForm("/v1/providers/chat/audio/translations", soundForm("upstream-hears")),
  },
  speech: {
    native: {
      body: {
        path: "/v1/audio/speech",
        body: { model: "speaks", input: few, voice: "alloy" },
        held: 5_200,
        used: 5_200,
      },
      stored: "a stored voice is no input",
    },
    translated: neverTranslated,
    socket: noSocket,
    passThrough: {
      body: {
        ...{ path: "/v1/providers/openai/audio/speech", held: 5_200, used: 5_200 },
        body: { model: "upstream-speaks", input: few, voice: "alloy" },
      },
      stored: "a stored voice is no input",
    },
  },
  video: {
    native: both("videos are created with the gateway's own API"),
    translated: {
      body: { path: "/v1/video/tasks", body: clip, held: 108_000, used: 108_000 },
      stored: "a film is priced by its size, whatever its input",
    },
    socket: noSocket,
    passThrough: both({
      refused: { path: "/v1/providers/volc/contents/generations/tasks", body: { ...clip, model: "doubao-seedance" } },
      why: "its cost is unknown, so a budget refuses it",
    }),
  },
};

function batchOf(model: string): object {
  return { requests: [{ model: `models/${model}`, content: { parts: [{ text: few }] } }] };
}
