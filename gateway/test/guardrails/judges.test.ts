import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import { createHmac } from "node:crypto";
import type { GuardrailConfig } from "@sluice/contract/config-file";
import { parseExemptions } from "#core/index.ts";
import { until } from "../../../test/until.ts";
import { type StartedGateway, startGateway, upstream } from "../started-gateway.ts";
import { type EchoUpstream, eventStream, startEchoUpstream } from "./echo-upstream.ts";

/** A moderation model, a classifier and a webhook, scripted by the text that they get. */
function startJudge() {
  const requests: { readonly path: string; readonly body: string; readonly headers: Headers }[] = [];
  let answer = (body: string): Response | Promise<Response> => {
    const flagged = body.includes("bad");
    return Response.json({
      ...{ id: "m", model: "m", flagged, types: ["insult"] },
      results: [
        {
          flagged,
          categories: { violence: flagged, hate: false },
          category_scores: { violence: flagged ? 0.9 : 0, hate: 0.2 },
        },
      ],
      choices: [
        { index: 0, message: { role: "assistant", content: JSON.stringify({ flagged }) }, finish_reason: "stop" },
      ],
      usage: { prompt_tokens: 7, completion_tokens: 1, total_tokens: 8 },
    });
  };
  const normal = answer;
  const server = Bun.serve({
    idleTimeout: 0,
    port: 0,
    hostname: "127.0.0.1",
    async fetch(request) {
      const body = await request.text();
      requests.push({ path: new URL(request.url).pathname, body, headers: request.headers });
      return answer(body);
    },
  });
  return {
    url: `http://127.0.0.1:${server.port}`,
    requests,
    script(next: typeof answer | null) {
      answer = next ?? normal;
    },
    stop: () => void server.stop(true),
  };
}

let judge: ReturnType<typeof startJudge>;
let echo: EchoUpstream;

beforeAll(() => {
  judge = startJudge();
  echo = startEchoUpstream();
});
afterAll(() => {
  judge.stop();
  echo.stop();
});
beforeEach(() => {
  judge.requests.length = 0;
  judge.script(null);
  echo.requests.length = 0;
  echo.pieces = () => ["a good ", "answer"];
});

async function withGuardrail<Result>(
  guardrail: Partial<GuardrailConfig> & Pick<GuardrailConfig, "check">,
  use: (gateway: StartedGateway) => Promise<Result>,
): Promise<Result> {
  const gateway = await startGateway({
    providers: (simulator) => [
      upstream("main", simulator, { kind: "openai", base_url: echo.url }),
      upstream("judge", simulator, { kind: "openai", base_url: judge.url }),
    ],
    models: [
      {
        name: "gpt-test",
        deployments: [{ provider: "main", upstream_model: "gpt-5.1" }],
        price: { input: 1, output: 1 },
      },
      { name: "moderator", type: "moderation", deployments: [{ provider: "judge", upstream_model: "omni" }] },
      {
        name: "classifier",
        deployments: [{ provider: "judge", upstream_model: "gpt-nano" }],
        price: { input: 1, output: 1 },
      },
    ],
    workspace: { models: ["gpt-test"] },
    environment: { webhookExemptions: parseExemptions("127.0.0.1").rules },
    guardrails: [{ name: "judge", action: "block", ...guardrail }],
  });
  try {
    return await use(gateway);
  } finally {
    await gateway.stop();
  }
}

const ask = (content: string, stream = false) => ({ model: "gpt-test", stream, messages: [{ role: "user", content }] });

const checks: readonly (readonly [string, GuardrailConfig["check"]])[] = [
  ["a moderation model", { kind: "moderation", model: "moderator" }],
  ["a classifier", { kind: "classifier", model: "classifier", instructions: "Find insults." }],
];

test.each(checks)("asks %s about requests and answers, whole and streamed", async (_title, check) => {
  await withGuardrail({ check }, async (gateway) => {
    const good = await gateway.chat(ask("good"));
    expect([good.status, good.headers.get("x-sluice-guardrails")]).toEqual([200, "judge=passed, judge=passed"]);
    expect(await good.text()).toContain("a good answer");
    const bad = await gateway.chat(ask("something bad"));
    expect([bad.status, echo.requests.length]).toEqual([400, 1]);
    expect(await bad.text()).toContain("guardrail_blocked");
    echo.pieces = () => ["something ", "bad"];
    const answer = await gateway.chat(ask("good"));
    expect([answer.status, (await answer.text()).includes("something")]).toEqual([400, false]);
    const stream = await (await gateway.chat(ask("good", true))).text();
    expect(stream).toContain("guardrail_blocked");
    expect(stream).not.toContain("something");
    echo.pieces = () => ["all ", "good"];
    const sent = await (await gateway.chat(ask("good", true))).text();
    expect(sent).toContain("[DONE]");
    expect(sent).not.toContain("error");
  });
});

test("asks a webhook, with a signature and without secrets", async () => {
  const check = { kind: "webhook" as const, url: `${judge.url}/check`, secret: "top secret" };
  await withGuardrail({ check, on: ["input"] }, async (gateway) => {
    const bad = await gateway.chat(ask("something bad"));
    expect([bad.status, await bad.text()]).toEqual([400, expect.stringContaining("insult")]);
    const [{ body = "", headers = new Headers() } = {}] = judge.requests;
    expect(JSON.parse(body)).toMatchObject({ guardrail: "judge", side: "input", texts: [{ text: "something bad" }] });
    const key = Buffer.from("top secret");
    const signed = `${headers.get("webhook-id")}.${headers.get("webhook-timestamp")}.${body}`;
    const signature = createHmac("sha256", key).update(signed).digest("base64");
    expect(headers.get("webhook-signature")).toBe(`v1,${signature}`);
    expect(body + JSON.stringify([...headers])).not.toContain("sk-alice");
    expect((await gateway.chat(ask("good"))).status).toBe(200);
  });
});

test.each([false, true])("does not wait for a judge that only observes, streamed: %s", async (isStream) => {
  await withGuardrail({ check: checks[0]?.[1] as never, enforce: false, timeout_ms: 30_000 }, async (gateway) => {
    const judged = Promise.withResolvers<void>();
    judge.script(() => judged.promise.then(() => Response.json({ results: [] })));
    const answered = await gateway.chat(ask("bad", isStream));
    expect([answered.status, (await answered.text()).includes("answer")]).toEqual([200, true]);
    judged.resolve();
    // The judge's own call is in the ledger, too.
    await until(async () => gateway.gateway.outstanding() === 0 && (await gateway.entries()).length === 3);
  });
});

test("books the calls of a judging model to the caller, who may not call it", async () => {
  await withGuardrail({ check: checks[1]?.[1] as never, on: ["input"] }, async (gateway) => {
    await (await gateway.chat(ask("good"))).text();
    const entries = await gateway.entries();
    expect(entries.map(({ model, outcome, tags }) => [model, outcome, tags])).toContainEqual([
      "classifier",
      "succeeded",
      { guardrail: "judge" },
    ]);
    expect((await gateway.chat({ ...ask("x"), model: "classifier" })).status).toBe(404);
  });
});

test.each(["block", "pass"] as const)("applies `on_error` if there is no verdict: %s", async (on_error) => {
  await withGuardrail({ check: checks[0]?.[1] as never, on_error }, async (gateway) => {
    judge.script(() => new Response("down", { status: 500 }));
    const answered = await gateway.chat(ask("good"));
    expect(answered.status).toBe(on_error === "block" ? 503 : 200);
    expect(await answered.text()).toContain(on_error === "block" ? "guardrail_failed" : "a good answer");
  });
});

interface Question {
  readonly side: string;
  readonly texts: readonly { readonly place: string; readonly path: string; readonly text: string }[];
}

/** Lets the webhook mask each of these names. */
function maskNames(...names: readonly string[]): void {
  judge.script((body) => {
    const { texts } = JSON.parse(body) as Question;
    const masks = texts.flatMap(({ text }, index) =>
      names.flatMap((name) =>
        [...text.matchAll(new RegExp(name, "g"))].map(({ index: start }) => ({
          ...{ text: index, start, end: start + name.length, type: "name" },
        })),
      ),
    );
    return Response.json({ flagged: masks.length > 0, types: masks.length > 0 ? ["name"] : [], masks });
  });
}

const webhook = () => ({ kind: "webhook" as const, url: `${judge.url}/check`, secret: "a secret of 16 characters" });

test("masks what a webhook finds in a request, and restores it in the answer", async () => {
  await withGuardrail({ check: webhook(), action: "mask", on: ["input"] }, async (gateway) => {
    maskNames("Jane", "Jane Doe");
    for (const stream of [false, true]) {
      echo.pieces = (body) => ["Hello ", ...(/‹NAME_[0-9A-Z]{8}›/.exec(body)?.[0] ?? "no placeholder"), "!"];
      const answered = await gateway.chat(ask('🙂 I am "Jane Doe".', stream));
      const text = await answered.text();
      expect([answered.status, answered.headers.get("x-sluice-guardrails")]).toEqual([200, "judge=masked(2)"]);
      expect(echo.requests.at(-1)).toMatch(/🙂 I am \\"‹NAME_[0-9A-Z]{8}›\\"\./);
      expect(text).toContain("Jane Doe");
    }
  });
});

test("masks what a webhook finds in an answer, whole and streamed", async () => {
  await withGuardrail({ check: webhook(), action: "mask", on: ["output"] }, async (gateway) => {
    echo.pieces = () => ["Also, Al told J", "ane", " Doe."];
    const expected = /Also, ‹NAME_[0-9A-Z]{8}› told ‹NAME_[0-9A-Z]{8}›/;
    judge.script((body) => {
      const { texts } = JSON.parse(body) as Question;
      const index = texts.findIndex(({ text }) => text.includes("told"));
      const masks = ["Al told", "Jane Doe"].map((part) => {
        const start = texts[index]?.text.indexOf(part) ?? -1;
        return { text: index, start, end: start + (part === "Al told" ? 2 : part.length), type: "name" };
      });
      return Response.json({ flagged: true, masks });
    });
    expect(await (await gateway.chat(ask("hi"))).text()).toMatch(expected);
    const stream = await (await gateway.chat(ask("hi", true))).text();
    const content = [...stream.matchAll(/"content":"([^"]*)"/g)].map(([, piece]) => piece).join("");
    expect(content).toMatch(expected);
    expect(stream).not.toContain("ane");
  });
});

test.each([
  ["outside its text", { flagged: true, masks: [{ text: 0, start: 0, end: 999 }] }],
  ["nowhere", { flagged: true }],
])("fails the check if a webhook masks %s", async (_title, answer) => {
  await withGuardrail({ check: webhook(), action: "mask", on: ["input"] }, async (gateway) => {
    judge.script(() => Response.json(answer));
    const answered = await gateway.chat(ask("Jane"));
    expect([answered.status, (await answered.text()).includes("guardrail_failed")]).toEqual([503, true]);
    expect(echo.requests).toEqual([]);
  });
});

test("shows a judge the texts of a stream one by one, and only the guardrail's places", async () => {
  const events = [
    { delta: { reasoning_content: "I think" } },
    { delta: { reasoning_content: " of it" } },
    ...["The ", "answer"].map((content) => ({ delta: { content } })),
    ...['{"to":"', 'me"}'].map((args) => ({
      ...{ delta: { tool_calls: [{ index: 0, function: { name: "send", arguments: args } }] } },
    })),
    { delta: {}, finish_reason: "stop" },
  ].map((choice) => ({ id: "c1", choices: [{ index: 0, finish_reason: null, ...choice }] }));
  const check = webhook();
  await withGuardrail({ check, on: ["output"], at: ["text", "tool_arguments"], stream: "whole" }, async (gateway) => {
    judge.script(() => Response.json({ flagged: false }));
    echo.respond = () => eventStream(events);
    await (await gateway.chat(ask("hi", true))).text();
    echo.respond = null;
    const questions = judge.requests.map(({ body }) => JSON.parse(body) as Question);
    expect(questions).toHaveLength(1);
    const texts = questions[0]?.texts ?? [];
    expect(texts).toContainEqual({ place: "text", path: "choices[0].delta.content", text: "The answer" });
    expect(texts).toContainEqual(expect.objectContaining({ place: "tool_arguments", text: '{"to":"me"}' }));
    expect(JSON.stringify(texts)).not.toContain("I think");
  });
});

test.each([
  ["input", false],
  ["output", false],
  ["output", true],
] as const)("ends a call if its caller leaves before the judge answers: %s, streamed: %s", async (side, stream) => {
  await withGuardrail({ check: webhook(), on: [side], timeout_ms: 30_000 }, async (gateway) => {
    const judged = Promise.withResolvers<void>();
    judge.script(() => judged.promise.then(() => Response.json({ flagged: false })));
    const caller = new AbortController();
    const answered = gateway.chat(ask("hi", stream), { signal: caller.signal }).then((made) => made.text());
    await until(() => judge.requests.length === 1);
    caller.abort();
    await expect(answered).rejects.toThrow();
    await until(() => gateway.gateway.outstanding() === 0);
    expect(echo.requests).toHaveLength(side === "input" ? 0 : 1);
    judged.resolve();
    const next = await gateway.chat(ask("hi", stream));
    expect([next.status, (await next.text()).includes("answer")]).toEqual([200, true]);
    const sent = await gateway.entries();
    expect(sent.filter(({ model, upstreamModel }) => model === "gpt-test" && upstreamModel !== "")).toHaveLength(
      side === "input" ? 1 : 2,
    );
  });
});
