import { expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { gzipSync } from "node:zlib";
import type { ProviderConfig } from "@sluice/contract";
import { bounds } from "#core/index.ts";
import { hello, type Overrides, type StartedGateway, startGateway, upstream } from "../../started-gateway.ts";

/** Larger than what is worked on at once: it goes to a thread and comes back. */
const content = "a".repeat(bounds.readInPlaceBytesMax);
const body = `{"messages":[{"role":"user","content":"${content}"}], "model" : "${hello.model}","x":{"kept":1e2}}`;
const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex");

/** Digests of what arrived upstream, by the model that was asked for. */
function arrived({ simulator }: StartedGateway): readonly (readonly [model: string, digest: string])[] {
  return simulator.simulator.truth.list().data.map(({ model, body_sha256 }) => [model, body_sha256] as const);
}

/** Two accounts, of which the first fails. */
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

test.each([{}, { "content-encoding": "gzip" }])("it arrives as it was sent, but for the model: %j", async (headers) => {
  const gateway = await startGateway();
  try {
    const sent = "content-encoding" in headers ? gzipSync(body, { level: 0 }) : body;
    expect((await gateway.post("/v1/chat/completions", sent, { headers, script: { tokens: 1 } })).status).toBe(200);
    expect(arrived(gateway)).toEqual([["upstream-gpt", sha256(body.replace(hello.model, "upstream-gpt"))]]);
  } finally {
    await gateway.stop();
  }
});

// A kind that changes bodies on their way, and one that does not; a name that is patched, and one that is the same.
test.each([
  ["deepseek", "up-first"],
  ["deepseek", hello.model],
  ["openai-compatible", hello.model],
] as const)("when %s fails with it as %s, the next deployment gets all of it", async (kind, first) => {
  const gateway = await startGateway(failover(first, kind));
  try {
    const script = { name: `${kind} ${first}`, fail_first: 1, status: 503, tokens: 1 };
    const answer = await gateway.chat(body, { script });
    expect(answer.status).toBe(200);
    expect(answer.headers.get("x-sluice-attempts")).toBe("2");
    const second = arrived(gateway).find(([model]) => model === "up-second");
    expect(second?.[1]).toBe(sha256(body.replace(hello.model, "up-second")));
  } finally {
    await gateway.stop();
  }
});

const MiB = 1024 * 1024;
const ofSize = (bytes: number): string =>
  `{"messages":[{"role":"user","content":"${"é".repeat(bytes / 2)}"}], "model" : "${hello.model}","x":{"kept":1e2}}`;

// Around each size at which a body is handled in another way.
test.each([
  [MiB],
  [bounds.readInPlaceBytesMax],
  [bounds.sendAtOnceBytesMax - 1024],
  [bounds.sendAtOnceBytesMax],
  [bounds.sendAtOnceBytesMax + bounds.sendPieceBytes],
  [16 * MiB],
])("of %p bytes, each upstream gets the same bytes, with a length and not in chunks", async (bytes) => {
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
])("of a stream whose caller asks for no usage, nothing else is different: %#", async (options, asking) => {
  const gateway = await startGateway();
  try {
    const text = ofSize(bounds.sendAtOnceBytesMax).replace('"x"', '"stream":true,"x"');
    const answer = await gateway.chat(text.replace("{", options), { script: { tokens: 1 } });
    expect(await answer.text()).toContain("[DONE]");
    expect(arrived(gateway)).toEqual([
      ["upstream-gpt", sha256(text.replace("{", asking).replace(hello.model, "upstream-gpt"))],
    ]);
  } finally {
    await gateway.stop();
  }
});

test("what is governed in it is left out, and its caller is told", async () => {
  const gateway = await startGateway();
  try {
    const answer = await gateway.chat(body.replace("{", '{"service_tier":"priority",'), { script: { tokens: 1 } });
    expect(answer.status).toBe(200);
    expect(answer.headers.get("x-sluice-warnings")).toContain("service_tier");
    expect(arrived(gateway)[0]?.[1]).toBe(sha256(body.replace(hello.model, "upstream-gpt")));
  } finally {
    await gateway.stop();
  }
});

test.each([true, false])("translated, it is answered in its caller's dialect (stream: %p)", async (stream) => {
  const gateway = await startGateway({
    providers: (simulator) => [
      upstream("main", simulator, { kind: "anthropic", base_url: new URL("/", simulator.url).href.slice(0, -1) }),
    ],
  });
  try {
    const tools = [{ type: "function", function: { name: "look", description: "d", parameters: { type: "object" } } }];
    const asked = { ...(JSON.parse(body) as object), stream, tools };
    const answer = await gateway.chat(asked, { script: { tokens: 2 } });
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
