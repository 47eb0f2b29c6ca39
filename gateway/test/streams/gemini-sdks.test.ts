import { afterAll, beforeAll, expect, test } from "bun:test";
import { ApiError, GoogleGenAI } from "@google/genai";
import { ApiError as FirstApiError, GoogleGenAI as FirstGenAI } from "google-genai-1";
import { ApiError as PreviousApiError, GoogleGenAI as PreviousGenAI } from "google-genai-previous";
import type { RawUpstream } from "../raw-upstream.ts";
import { aliceKey, type StartedGateway, startGateway } from "../started-gateway.ts";
import {
  type DialectName,
  dialects,
  overloads,
  type Piece,
  providerAt,
  scripts,
  startScriptedUpstream,
} from "./scripted-upstream.ts";

let upstream: RawUpstream & { script: readonly Piece[] };
let gateway: StartedGateway;
let calls = 0;

beforeAll(async () => {
  upstream = await startScriptedUpstream();
  gateway = await startGateway({
    providers: () => dialects.map((dialect) => providerAt(dialect, scripts[dialect].kind, upstream)),
    models: dialects.flatMap((dialect) =>
      Array.from({ length: 12 }, (_, index) => ({
        name: `of-${dialect}-${index}`,
        deployments: [{ provider: dialect, upstream_model: scripts[dialect].upstreamModel }],
      })),
    ),
  });
});
afterAll(async () => {
  await gateway.stop();
  upstream.stop();
});

const sdks = [
  ["the newest SDK", GoogleGenAI, ApiError],
  ["the SDK before it", PreviousGenAI, PreviousApiError],
  // This SDK ends a stream without an exception when the error follows `data:`.
  ["the SDK 1.52", FirstGenAI, FirstApiError],
] as const;
const ends: readonly (readonly [string, (upstream: DialectName) => Piece, number])[] = [
  ["reports an overload", (dialect) => overloads[dialect], 503],
  ["is cut", () => null, 502],
];
const cases = sdks.flatMap(([sdk, Client, SdkError]) =>
  ends.flatMap(([end, last, status]) =>
    dialects.map((dialect) => [sdk, dialect, end, { Client, SdkError, last, status }] as const),
  ),
);

test.each(cases)(
  "%s raises an error when a stream of %s %s",
  async (_sdk, dialect, _end, { Client, SdkError, last, status }) => {
    const { preamble, content } = scripts[dialect];
    upstream.script = [...preamble, content, last(dialect)];
    const httpOptions = { baseUrl: gateway.url, retryOptions: { attempts: 1 } };
    const client = new Client({ apiKey: aliceKey, httpOptions });
    const model = `of-${dialect}-${calls++ % 12}`;
    const stream = await client.models.generateContentStream({ model, contents: "hi" });
    let text = "";
    const thrown = await (async () => {
      for await (const chunk of stream) text += chunk.text ?? "";
      return null;
    })().catch((reason: unknown) => reason);
    expect(thrown).toBeInstanceOf(SdkError);
    expect([text, (thrown as ApiError).status]).toEqual(["hello", status]);
  },
);

test("repeats an error in the middle of a stream without data: at the end", async () => {
  const { preamble, content } = scripts.messages;
  upstream.script = [...preamble, content, overloads.messages];
  const answer = await gateway.post(`/v1beta/models/of-messages-7:streamGenerateContent?alt=sse`, {
    contents: [{ role: "user", parts: [{ text: "hi" }] }],
  });
  const [bare = "", event = ""] = (await answer.text()).trimEnd().split("\n\n").toReversed();
  expect(event).toBe(`data: ${bare}`);
  expect(JSON.parse(bare).error).toMatchObject({ code: 503, status: "UNAVAILABLE" });
});
