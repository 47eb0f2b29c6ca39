import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { routes } from "../../src/api/routes.ts";
import { createHeaderSignIn } from "../header-sign-in.ts";
import { aliceKey, type StartedGateway, startGateway, upstream } from "../started-gateway.ts";
import { endpointCases } from "./endpoint-cases.ts";
import { exemptRoutes } from "./exempt-routes.ts";
import { email, secret } from "./guardrail-fixture.ts";

/** Every route of the gateway, as `POST /v1/messages`; WebSockets as `SOCKET /v1/responses`. */
const allRoutes = routes.flatMap(({ path, methods, socket }) => [
  ...Object.keys(methods).map((method) => `${method} ${path}`),
  ...(socket === undefined ? [] : [`SOCKET ${path}`]),
]);
const routeOf = (title: string): string => title.split(", ", 1)[0] ?? "";

test("has a case or an exemption for every route", () => {
  const covered = new Set([...Object.keys(endpointCases).map(routeOf), ...Object.keys(exemptRoutes)]);
  const missing = allRoutes
    .filter((route) => !covered.has(route))
    .map(
      (route) =>
        `${route}: add a case (a request with a text, and a vendor's answer with one) to endpoint-cases.ts or, if it carries no text to or from a vendor, the reason to exempt-routes.ts`,
    );
  expect(missing).toEqual([]);
  expect([...covered].filter((route) => !allRoutes.includes(route))).toEqual([]);
});

let vendor: ReturnType<typeof Bun.serve>;
let gateway: StartedGateway;
let answer: (() => Response) | null;
const received: string[] = [];
const plain = { id: "resp_1", object: "response", status: "completed", model: "m", output: [], usage: null };

beforeAll(async () => {
  vendor = Bun.serve({
    idleTimeout: 0,
    port: 0,
    hostname: "127.0.0.1",
    async fetch(request) {
      received.push(decodeURIComponent(request.url) + (await request.text()));
      // The response that is read again afterward.
      const isFirst = received.at(-1)?.endsWith(`"input":"hello"}`) === true;
      return answer === null || isFirst ? Response.json(plain) : answer();
    },
  });
  const base_url = `http://127.0.0.1:${vendor.port}`;
  const kinds = ["openai", "anthropic", "gemini", "jina", "ark", "openai-compatible"] as const;
  const model = (
    name: string,
    provider: string,
    type: "chat" | "image" | "embedding" | "video" | "rerank" = "chat",
  ) => ({
    ...{ name, type, deployments: [{ provider, upstream_model: upstreamModels[name] ?? `${name}-model` }] },
  });
  gateway = await startGateway({
    providers: (simulator) =>
      kinds.map((kind) =>
        upstream(kind, simulator, {
          ...{ kind, base_url },
          ...(kind === "openai" && { settings: { pass_through: { price_per_call: 0 } } }),
        }),
      ),
    models: [
      ...["openai", "anthropic", "gemini"].map((kind) => model(kind, kind)),
      model("image", "openai", "image"),
      model("completion", "openai-compatible"),
      { ...model("audio", "openai"), type: "transcription" },
      { ...model("speech", "openai"), type: "speech" },
      { ...model("moderation", "openai"), type: "moderation" },
      { ...model("decision", "openai"), type: "decision" },
      { ...model("gemini-decision", "gemini"), type: "decision" },
      model("vectors", "openai", "embedding"),
      model("gemini-vectors", "gemini", "embedding"),
      model("rerank", "jina", "rerank"),
      model("video", "ark", "video"),
    ],
    workspace: {
      pass_through: ["openai"],
      groups: [{ name: "default", pass_through: ["openai"] }],
      keys: [{ name: "alice", secret: aliceKey, pass_through: ["openai"] }],
    },
    guardrails: [
      { name: "keys", check: { kind: "credentials" }, action: "block" },
      { name: "mail", check: { kind: "personal_data", types: ["email"] }, action: "mask", on: ["input"] },
    ],
    openSignIn: ({ control }) => createHeaderSignIn(control.database, () => Date.now()),
  });
});
const upstreamModels: Readonly<Record<string, string>> = {
  image: "gpt-image-1",
  audio: "gpt-4o-transcribe",
  speech: "gpt-4o-mini-tts",
  video: "seedance-1-0-pro-250528",
};
afterAll(async () => {
  await gateway.stop();
  await vendor.stop(true);
});
beforeEach(() => {
  received.length = 0;
  answer = null;
});

/** The checks that the gateway recorded with a finding since the last call. */
async function recorded(): Promise<readonly string[]> {
  await gateway.entries();
  const { kysely } = gateway.control.database;
  const rows = await kysely.selectFrom("guardrail_checks").selectAll().execute();
  await kysely.deleteFrom("guardrail_checks").execute();
  return rows.map(({ guardrail_name, side, verdict }) => `${guardrail_name} ${side} ${verdict}`);
}

describe.each(Object.entries(endpointCases))("%s", (title, { send, isUnsent, answer: made }) => {
  test("refuses a credential in a request, and records it", async () => {
    await recorded();
    const { status, text } = await send(gateway, secret);
    expect(status).toBeGreaterThanOrEqual(400);
    if (!title.startsWith("HEAD")) expect(text).toContain('"keys');
    expect(text + received.join()).not.toContain(secret);
    expect(await recorded()).toEqual(["keys input blocked"]);
  });

  test("masks an email in a request, or refuses it", async () => {
    await send(gateway, email);
    expect(received.join()).not.toContain(email);
    expect(await recorded()).toEqual(["mail input masked"]);
    expect(received.join().includes("‹EMAIL_")).toBe(isUnsent !== true);
  });

  if (typeof made === "string") return;
  test("keeps a credential in an answer from the caller, and records it", async () => {
    await recorded();
    answer = () => made(["It is ", secret.slice(0, 9), secret.slice(9), ", as always."]);
    const { text } = await send(gateway, "hi");
    expect(text).not.toContain(secret.slice(9));
    expect(text).toContain("keys");
    expect(await recorded()).toEqual(["keys output blocked"]);
  });
});

test("records a refused call without a cost, and holds no budget", async () => {
  await (await gateway.chat({ model: "openai", messages: [{ role: "user", content: secret }] })).text();
  const [entry] = await gateway.entries();
  expect(entry).toMatchObject({
    model: "openai",
    outcome: "rejected",
    errorCode: "guardrail_blocked",
    upstreamModel: "",
  });
  expect(gateway.gateway.outstanding()).toBe(0);
});
