import { afterAll, beforeAll, expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { until } from "../../../test/until.ts";
import { startVendor, type Vendor } from "../endpoints/providers/vendor.ts";
import { openSocket } from "../endpoints/responses-socket/socket-gateway.ts";
import { settledTask } from "../endpoints/video-tasks/video-gateway.ts";
import { explanationOf } from "../explain/fixture.ts";
import { type StartedGateway, startGateway } from "../started-gateway.ts";
import { calls, type DialectName, dialects, event, providerAt, scripts } from "../streams/scripted-upstream.ts";

/** The account's key. It has no vendor's format, so only its value identifies it. */
const key = "K3y/of+the'company=2026~Wm2Xv8Tb4Rn6Pd1L";
/** A secret of the account's proxy or signature, in a setting that no form knows. */
const setting = "Zq7-hidden-setting-J5s0Gf3Hc9";
const callersKey = "canary-of-the-caller-0123456789";

const escaped = [...key].map((one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, "0")}`).join("");
const ofKey: readonly string[] = [
  ...[key, key.slice(0, 10), key.slice(11, 27), encodeURIComponent(key), `****${key.slice(-5)}`, escaped],
  ...["", "a", "ab"].map((before) => Buffer.from(`${before}${key}`).toString("base64")),
];
/** One message quotes each secret in every form. */
const ofAccount = `refused: ${ofKey.join(" | ")} | ${setting} |`;
const words = `${ofAccount} ${callersKey} |`;

/** The parts of a secret in a text that a caller reads or its client decodes. */
function leaks(text: string): readonly string[] {
  const read = text
    .replaceAll(/\\+u([0-9a-f]{4})/gi, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)))
    .replaceAll(/%([0-9a-f]{2})/gi, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)));
  const base64 = [...read.matchAll(/[A-Za-z0-9+/=_-]{12,}/g)].flatMap(({ 0: run }) =>
    [0, 1, 2, 3].map((from) => Buffer.from(run.slice(from), "base64").toString("latin1")),
  );
  const shown = [text, read, ...base64];
  return [key, setting, callersKey].flatMap((secret) =>
    Array.from({ length: secret.length - 11 }, (_, at) => secret.slice(at, at + 12)).filter((part) =>
      shown.some((one) => one.includes(part)),
    ),
  );
}

const errors: Readonly<Record<DialectName, object>> = {
  chat: { error: { message: words, type: "server_error", code: key, param: key } },
  responses: { type: "error", code: "server_error", message: words, param: key },
  messages: { type: "error", error: { type: "api_error", message: words } },
  gemini: { error: { code: 503, message: words, status: "UNAVAILABLE" } },
  interactions: { event_type: "error", error: { code: key, message: words } },
};

const errorForms = ["whole 200", "400", "401", "429", "500", "first event", "after content", "two events"] as const;
type ErrorForm = (typeof errorForms)[number];
const translatedForms: readonly ErrorForm[] = ["whole 200", "400", "first event", "after content"];

/** Each has a separate account, because an account that keeps failing is skipped. */
const cases = dialects.flatMap((caller) =>
  dialects.flatMap((upstream) =>
    (caller === upstream ? errorForms : translatedForms).map((way) => ({
      ...{ caller, upstream, way, model: `${caller}-${upstream}-${way.replace(" ", "-")}` },
    })),
  ),
);
const others = Array.from({ length: 24 }, (_, at) => at);

let vendor: Vendor;
let gateway: StartedGateway;
beforeAll(async () => {
  vendor = await startVendor();
  const url = vendor.url.replace("/v1", "");
  const accounts = [
    ...cases.map(({ model, upstream }) => ({ id: model, upstream })),
    ...dialects.flatMap((upstream) => others.map((at) => ({ id: `${upstream}-${at}`, upstream }))),
  ];
  const settings = { own_secret: setting };
  gateway = await startGateway({
    providers: () => [
      ...accounts.map(({ id, upstream }) => {
        const account = providerAt(id, scripts[upstream].kind, { url });
        return { ...account, api_key: key, settings: { ...account.settings, ...settings } };
      }),
      { ...providerAt("clips", "ark", { url }), api_key: key, settings },
      {
        ...providerAt("own-batches", scripts.messages.kind, { url }),
        ...{ api_key: key, settings: { ...settings, batches: true } },
      },
    ],
    models: [
      ...accounts.map(({ id, upstream }) => ({
        name: id,
        deployments: [{ provider: id, upstream_model: scripts[upstream].upstreamModel }],
      })),
      {
        name: "own-batches",
        deployments: [{ provider: "own-batches", upstream_model: scripts.messages.upstreamModel }],
      },
      {
        name: "clip",
        type: "video" as const,
        deployments: [{ provider: "clips", upstream_model: "doubao-seedance-2-0-260128" }],
      },
    ],
    keys: [{ name: "alice", secret: callersKey, pass_through: ["chat-0"] }],
    guardrails: [{ name: "words", check: { kind: "words", words: ["unspeakable"] }, action: "block", on: ["output"] }],
  });
});
afterAll(async () => {
  await gateway.stop();
  vendor.stop();
});

function answer(body: string, { status = 200, type = "application/json" } = {}): void {
  vendor.answer = (_, response) => {
    response.statusCode = status;
    response.setHeader("content-type", type);
    response.setHeader("x-request-id", `id-${key}`);
    // Longer than a call waits for the same account.
    response.setHeader("retry-after", "600");
    response.setHeader("request-id", setting);
    response.end(body);
  };
}

const ask = (path: string, body: object): Promise<Response> =>
  gateway.post(path, body, { key: callersKey, headers: { "anthropic-version": "2023-06-01" } });

async function shown(response: Response): Promise<string> {
  return `${JSON.stringify([...response.headers])}\n${await response.clone().text()}`;
}

const json = (value: object): string => JSON.stringify(value).replaceAll(JSON.stringify(escaped).slice(1, -1), escaped);
const streamed = (value: object): string => event({ ...value }).replace(/data: .*/, () => `data: ${json(value)}`);

/** Makes an upstream report an error, in each form that its API has. */
function answerError(upstream: DialectName, way: ErrorForm): void {
  const { preamble, content } = scripts[upstream];
  const error = streamed(errors[upstream]);
  const type = "text/event-stream";
  if (way === "whole 200") answer(json(errors[upstream]));
  else if (way === "first event") answer(error, { type });
  else if (way === "after content") answer([...preamble, content, error].join(""), { type });
  else if (way === "two events") answer([...preamble, content, error, error].join(""), { type });
  else answer(json(errors[upstream]), { status: Number(way) });
}

test.each(cases)("a caller of $caller sees no secret that an upstream of $upstream quotes: $way", async (one) => {
  const { caller, upstream, way, model } = one;
  answerError(upstream, way);
  const before = vendor.received.length;
  const [path, body] = calls[caller](model);
  const isStream = way.includes("event") || way.includes("content");
  const response = isStream
    ? await ask(path, body)
    : await ask(path.replace(":streamGenerateContent?alt=sse", ":generateContent"), inOne(body));
  const text = await shown(response);
  expect(vendor.received.length).toBeGreaterThan(before);
  expect(text).toMatch(/refused|overloaded|error/i);
  expect(leaks(text)).toEqual([]);
  expect(leaks(JSON.stringify(await explanationOf(gateway, response)))).toEqual([]);
});

function inOne(body: object): object {
  return "stream" in body ? { ...body, stream: false, stream_options: undefined } : body;
}

test("a header of a successful answer contains no secret", async () => {
  const { preamble, content, end } = scripts.chat;
  answer([...preamble, content, ...end].join(""), { type: "text/event-stream" });
  const response = await ask(...calls.chat("chat-0"));
  expect(response.headers.get("x-sluice-upstream-request-id")).toBe("id-[redacted]");
  expect(leaks(await shown(response))).toEqual([]);
});

/** Every file that renders a failure, and a call that reaches it. */
const places: Readonly<Record<string, () => Promise<string>>> = {
  "api/model-call.ts": async () => (await failing("chat", "400")) + (await passedThrough()),
  "api/direct-call.ts": () => failing("chat", "400"),
  "api/respond.ts": () => failing("chat", "400"),
  "api/answer-arrival.ts": async () => {
    const chat = await failing("chat", "400");
    answer(json({ error: { code: key, message: ofAccount } }), { status: 400 });
    return chat + (await shown(await ask("/v1/video/tasks", { model: "clip", prompt: "a boat" })));
  },
  "api/server.ts": () => failing("chat", "400"),
  "api/endpoints/responses.ts": async () => (await overSocket("first event")) + (await responseObjects()),
  "api/socket/socket-turn.ts": () => overSocket("after content"),
  "tasks/submit/refusals.ts": async () => {
    vendor.answer = ({ method }, response) => {
      response.setHeader("content-type", "application/json");
      const failed = { id: "t1", status: "failed", error: { code: key, message: ofAccount } };
      response.end(json(method === "POST" ? { id: "t1" } : failed));
    };
    const made = (await (await ask("/v1/video/tasks", { model: "clip", prompt: "a boat" })).json()) as {
      id: string;
    };
    const headers = { authorization: `Bearer ${callersKey}` };
    return JSON.stringify(await settledTask({ ...gateway, get: (path) => gateway.get(path, headers) }, made.id));
  },
  "batches/accept/accept.ts": () => batchResults(fresh("messages")),
  "batches/result/render-row.ts": () => batchResults(fresh("messages")),
  "batches/run/own-run.ts": () => batchResults(fresh("messages")),
  "batches/run/vendor-settlement.ts": () => batchResults("own-batches"),
  "relay/attempt/answer-stream.ts": async () =>
    (await failing("chat", "after content")) + (await failing("responses", "after content")),
  "relay/attempt/upstream-refusal.ts": () => failing("messages", "429"),
  "relay/guarded-call.ts": () => {
    const { preamble, end } = scripts.chat;
    const delta = { content: `unspeakable, said ${key} ` };
    const content = `data: ${json({ id: "c", choices: [{ index: 0, delta, finish_reason: null }] })}\n\n`;
    answer([...preamble, content, ...end].join(""), { type: "text/event-stream" });
    return ask(...calls.chat(fresh("chat"))).then(shown);
  },
  "relay/translation/translated-tap.ts": () => failing("messages", "after content"),
  "relay/translation/translations.ts": async () => {
    const turn = await failing("gemini", "after content");
    answerError("chat", "400");
    return turn + (await shown(await ask("/v1/completions", { model: fresh("chat"), prompt: "x" })));
  },
};

/** A model of an upstream that has not failed yet. */
let used = 0;
const fresh = (upstream: DialectName): string => `${upstream}-${++used}`;

async function failing(upstream: DialectName, way: ErrorForm): Promise<string> {
  answerError(upstream, way);
  return shown(await ask(...calls.chat(fresh(upstream))));
}

/**
 * The results of a batch with a row that the upstream refuses, and one that the gateway refuses. Rows run without the caller's key, so
 * no upstream can quote it.
 */
async function batchResults(model: string): Promise<string> {
  answer(json({ type: "error", error: { type: "api_error", message: ofAccount } }), { status: 400 });
  const params = { max_tokens: 9, messages: [{ role: "user", content: "hi" }] };
  const requests = [
    { custom_id: "upstream", params: { ...params, model } },
    { custom_id: "gateway", params: { ...params, model: "no-such-model" } },
  ];
  const made = await ask("/v1/messages/batches", { requests });
  const { id } = (await made.clone().json()) as { id: string };
  const headers = { authorization: `Bearer ${callersKey}`, "anthropic-version": "2023-06-01" };
  const results = await until(async () => {
    const answered = await gateway.get(`/v1/messages/batches/${id}/results`, headers);
    return answered.status === 200 ? shown(answered) : null;
  });
  expect(results.match(/"errored"/g)).toHaveLength(2);
  return (await shown(made)) + results;
}

async function responseObjects(): Promise<string> {
  const { preamble, content, end } = scripts.responses;
  answer([...preamble, content, ...end].join(""), { type: "text/event-stream" });
  await (await ask("/v1/responses", { model: fresh("responses"), stream: true, store: true, input: "hi" })).text();
  answerError("responses", "400");
  const headers = { authorization: `Bearer ${callersKey}` };
  const refused = await shown(await gateway.get("/v1/responses/resp_1", headers));
  answer(json({ id: "resp_1", object: "response", status: "failed", error: { code: "x", message: words } }));
  return refused + (await shown(await gateway.get("/v1/responses/resp_1", headers)));
}

async function passedThrough(): Promise<string> {
  let all = "";
  for (const way of errorForms) {
    answerError("chat", way);
    const [, body] = calls.chat("up");
    all += await shown(await ask("/v1/providers/chat-0/chat/completions", body));
  }
  return all;
}

async function overSocket(way: ErrorForm): Promise<string> {
  const socket = await openSocket(gateway, { key: callersKey });
  answerError("responses", way);
  const frames = await socket.ask({ model: fresh("responses"), store: false, input: "hi" });
  answerError("chat", way);
  const translated = await socket.ask({ model: fresh("chat"), store: false, input: "hi" });
  socket.close();
  return JSON.stringify([frames, translated]);
}

test.each(Object.entries(places))("%s renders no secret", async (_, act) => {
  const text = await act();
  expect(text).toMatch(/refused|error/);
  expect(leaks(text)).toEqual([]);
});

test("no other file renders a failure", () => {
  const source = join(import.meta.dir, "../../src");
  const rendering = readdirSync(source, { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".ts") && !file.endsWith(".test.ts") && !file.startsWith("protocols/"))
    .filter((file) =>
      /\brender(?:Failure|Error|StreamError|BareError|Refusal)\b/.test(readFileSync(join(source, file), "utf8")),
    );
  expect(rendering.toSorted()).toEqual(Object.keys(places).toSorted());
});

test("no secret of the account is stored or logged", async () => {
  await gateway.entries();
  await gateway.gateway.explainer.written();
  const files = readdirSync(gateway.dataDir, { recursive: true, withFileTypes: true }).filter((one) => one.isFile());
  const held = files.map((one) => readFileSync(join(one.parentPath, one.name)).toString("latin1")).join("\n");
  for (const secret of [key.slice(11, 27), setting, callersKey]) expect(held.includes(secret)).toBe(false);
});
