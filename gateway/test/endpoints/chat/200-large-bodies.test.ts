import { expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { gzipSync } from "node:zlib";
import type { ProviderConfig } from "@sluice/contract";
import { bounds } from "#core/index.ts";
import { hello, type Overrides, type StartedGateway, startGateway, upstream } from "../../started-gateway.ts";

/** Larger than a body that is parsed in place, so a worker thread parses it. */
const content = "a".repeat(bounds.readInPlaceBytesMax);
const body = `{"messages":[{"role":"user","content":"${content}"}], "model" : "${hello.model}","x":{"kept":1e2}}`;
const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex");

/** Digests of the bodies that arrived upstream, with their models. */
function digestsUpstream({ simulator }: StartedGateway): readonly (readonly [model: string, digest: string])[] {
  return simulator.simulator.truth.list().data.map(({ model, body_sha256 }) => [model, body_sha256] as const);
}

/** Two accounts; the first one fails. */
function failover(first: string, kind: ProviderConfig["kind"]): Overrides {
  return {
    providers: (simulator) => [upstream("first", simulator, { kind }), upstream("second", simulator)],
    models: [
      {
        name: hello.model,
        deployments: [
          { provider: "first", upstream_model: first, priority: 1 },
          { provider: "second", upstream_model: "up-second", priority: 2 },
        ],
      },
    ],
  };
}

test.each([{}, { "content-encoding": "gzip" }])("passes the body with only the model changed: %j", async (headers) => {
  const gateway = await startGateway();
  try {
    const sent = "content-encoding" in headers ? gzipSync(body, { level: 0 }) : body;
    expect((await gateway.post("/v1/chat/completions", sent, { headers, script: { tokens: 1 } })).status).toBe(200);
    expect(digestsUpstream(gateway)).toEqual([["upstream-gpt", sha256(body.replace(hello.model, "upstream-gpt"))]]);
  } finally {
    await gateway.stop();
  }
});

// A kind that changes bodies and one that does not; a model name that is replaced and one that stays.
test.each([
  ["deepseek", "up-first"],
  ["deepseek", hello.model],
  ["openai-compatible", hello.model],
] as const)("sends the whole body to the next deployment when %s fails it as %s", async (kind, first) => {
  const gateway = await startGateway(failover(first, kind));
  try {
    const script = { name: `${kind} ${first}`, fail_first: 1, status: 503, tokens: 1 };
    const answer = await gateway.chat(body, { script });
    expect(answer.status).toBe(200);
    expect(answer.headers.get("x-sluice-attempts")).toBe("2");
    const second = digestsUpstream(gateway).find(([model]) => model === "up-second");
    expect(second?.[1]).toBe(sha256(body.replace(hello.model, "up-second")));
  } finally {
    await gateway.stop();
  }
});

const MiB = 1024 * 1024;
const ofSize = (bytes: number): string =>
  `{"messages":[{"role":"user","content":"${"é".repeat(bytes / 2)}"}], "model" : "${hello.model}","x":{"kept":1e2}}`;

// Around each size at which the handling of a body changes.
test.each([
  [MiB],
  [bounds.readInPlaceBytesMax],
  [bounds.sendAtOnceBytesMax - 1024],
  [bounds.sendAtOnceBytesMax],
  [bounds.sendAtOnceBytesMax + bounds.sendPieceBytes],
  [16 * MiB],
])("sends each upstream the same %p bytes, with a length instead of chunks", async (bytes) => {
  const gateway = await startGateway(failover("up-first", "openai-compatible"));
  try {
    const text = ofSize(bytes);
    const answer = await gateway.chat(text, { script: { name: `${bytes}`, fail_first: 1, status: 503, tokens: 1 } });
    expect(answer.status).toBe(200);
    const records = gateway.simulator.simulator.truth.list().data;
    expect(records.map(({ model }) => model).sort()).toEqual(["up-first", "up-second"]);
    for (const { model, body_sha256, request_headers } of records) {
      const sent = text.replace(hello.model, String(model));
      expect(body_sha256).toBe(sha256(sent));
      expect(request_headers["content-length"]).toBe(String(Buffer.byteLength(sent)));
      expect(request_headers["transfer-encoding"]).toBeUndefined();
    }
  } finally {
    await gateway.stop();
  }
});

test.each([
  ["{", '{"stream_options":{"include_usage":true},'],
  ['{"stream_options":{"a":1},', '{"stream_options":{"include_usage":true,"a":1},'],
  [
    `{"stream_options":{"a":"${"b".repeat(bounds.governingBytesMax)}"},`,
    `{"stream_options":{"include_usage":true,"a":"${"b".repeat(bounds.governingBytesMax)}"},`,
  ],
])("adds only the usage option to a stream whose caller did not ask for usage: %#", async (options, withUsage) => {
  const gateway = await startGateway();
  try {
    const text = ofSize(bounds.sendAtOnceBytesMax).replace('"x"', '"stream":true,"x"');
    const answer = await gateway.chat(text.replace("{", options), { script: { tokens: 1 } });
    expect(await answer.text()).toContain("[DONE]");
    expect(digestsUpstream(gateway)).toEqual([
      ["upstream-gpt", sha256(text.replace("{", withUsage).replace(hello.model, "upstream-gpt"))],
    ]);
  } finally {
    await gateway.stop();
  }
});

test("removes a governed field, with a warning", async () => {
  const gateway = await startGateway();
  try {
    const answer = await gateway.chat(body.replace("{", '{"service_tier":"priority",'), { script: { tokens: 1 } });
    expect(answer.status).toBe(200);
    expect(answer.headers.get("x-sluice-warnings")).toContain("service_tier");
    expect(digestsUpstream(gateway)[0]?.[1]).toBe(sha256(body.replace(hello.model, "upstream-gpt")));
  } finally {
    await gateway.stop();
  }
});

test.each([true, false])("answers a translated call in its caller's dialect (stream: %p)", async (stream) => {
  const gateway = await startGateway({
    providers: (simulator) => [
      upstream("main", simulator, { kind: "anthropic", base_url: new URL("/", simulator.url).href.slice(0, -1) }),
    ],
  });
  try {
    const tools = [
      { type: "function", function: { name: "search", description: "d", parameters: { type: "object" } } },
    ];
    const request = { ...(JSON.parse(body) as object), stream, tools };
    const answer = await gateway.chat(request, { script: { tokens: 2 } });
    const text = await answer.text();
    expect(answer.status).toBe(200);
    expect(text).toContain(stream ? "chat.completion.chunk" : '"chat.completion"');
    const [record] = gateway.simulator.simulator.truth.list().data;
    expect(record?.dialect).toContain("anthropic");
    expect(record?.body_bytes).toBeGreaterThan(content.length);
  } finally {
    await gateway.stop();
  }
});
