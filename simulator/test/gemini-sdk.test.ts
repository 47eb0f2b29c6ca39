import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import {
  ApiError,
  type Content,
  FunctionCallingConfigMode,
  type GenerateContentResponse,
  GoogleGenAI,
  Modality,
  Type,
} from "@google/genai";
import { type RunningSimulator, serveSimulator } from "../src/index.ts";
import { lastRecord, scripted, thrownBy } from "./sdk-call.ts";

let running: RunningSimulator;
let client: GoogleGenAI;
beforeAll(() => {
  running = serveSimulator();
  client = new GoogleGenAI({
    apiKey: "AIza-sim-4321",
    apiVersion: "v1beta",
    httpOptions: { baseUrl: `http://127.0.0.1:${running.port}` },
  });
});
afterAll(() => running.stop());

function withScript(script: Parameters<typeof scripted>[0]): { httpOptions: { headers: Record<string, string> } } {
  return { httpOptions: scripted(script) };
}

const tools = {
  functionDeclarations: [
    { name: "get_weather", parameters: { type: Type.OBJECT, properties: { city: { type: Type.STRING } } } },
    { name: "get_time" },
  ],
};

function textOf(chunks: readonly GenerateContentResponse[]): string {
  return chunks
    .flatMap((chunk) => chunk.candidates?.[0]?.content?.parts ?? [])
    .map((part) => part.text ?? "")
    .join("");
}

describe("generateContent through the official client", () => {
  test("counts cached tokens in the prompt, and thoughts separately", async () => {
    const answer = await client.models.generateContent({
      model: "gemini-2.5-flash",
      contents: "one two three",
      config: { systemInstruction: "be brief", ...withScript({ tokens: 5, cached_tokens: 2, reasoning_tokens: 7 }) },
    });
    expect(answer.text).toBe(" the quick brown fox jumps");
    expect(answer.candidates?.[0]).toMatchObject({ index: 0, finishReason: "STOP", content: { role: "model" } });
    expect(answer.modelVersion).toBe("gemini-2.5-flash");
    expect(answer.usageMetadata).toMatchObject({
      promptTokenCount: 5,
      cachedContentTokenCount: 2,
      candidatesTokenCount: 5,
      thoughtsTokenCount: 7,
      totalTokenCount: 17,
    });
    const record = await lastRecord(running);
    expect(record).toMatchObject({
      dialect: "gemini",
      path: "/v1beta/models/gemini-2.5-flash:generateContent",
      authorization_last4: "4321",
      output_tokens_emitted: 12,
    });
    expect(JSON.stringify(record)).not.toContain("AIza-sim");
  });

  test("streams the same text, with growing usage and the finish reason at the end", async () => {
    const request = { model: "gemini-2.5-flash", contents: "what is a sluice?" };
    const whole = await client.models.generateContent(request);
    const chunks = await Array.fromAsync(await client.models.generateContentStream(request));
    expect(textOf(chunks)).toBe(whole.text ?? "");
    const counts = chunks.map((chunk) => chunk.usageMetadata?.candidatesTokenCount ?? -1);
    expect(counts).toEqual([...counts].sort((a, b) => a - b));
    expect(counts.at(-1)).toBe(whole.usageMetadata?.candidatesTokenCount ?? 0);
    expect(chunks.map((chunk) => chunk.candidates?.[0]?.finishReason).filter(Boolean)).toEqual(["STOP" as never]);
    expect(await lastRecord(running)).toMatchObject({ query: "alt=sse", terminal_sent: true, usage_sent: true });
  });

  test("returns thoughts if requested, and counts them", async () => {
    const answer = await client.models.generateContent({
      model: "gemini-2.5-flash",
      contents: "x",
      config: { thinkingConfig: { includeThoughts: true } },
    });
    expect(answer.candidates?.[0]?.content?.parts?.[0]).toEqual({
      thought: true,
      text: "First, what is being asked here?",
    });
    expect(answer.usageMetadata?.thoughtsTokenCount).toBe(6);
  });

  test("signs calls; Gemini 3 requires the signature and an equal number of results", async () => {
    const model = "gemini-3-pro-preview";
    const contents: Content[] = [{ role: "user", parts: [{ text: "Oslo please" }] }];
    const config = { tools: [tools], ...withScript({ tool_calls: 2 }) };
    const whole = await client.models.generateContent({ model, contents, config });
    const chunks = await Array.fromAsync(await client.models.generateContentStream({ model, contents, config }));
    const streamed = chunks.flatMap((chunk) => chunk.candidates?.[0]?.content?.parts ?? []);
    const turn = whole.candidates?.[0]?.content;
    if (turn?.parts === undefined) throw new Error("no turn");
    for (const parts of [turn.parts, streamed]) {
      const calls = parts.filter((part) => part.functionCall !== undefined);
      expect(calls.map((part) => [part.functionCall?.name, part.functionCall?.args])).toEqual([
        ["get_weather", { city: "Oslo please" }],
        ["get_time", {}],
      ]);
      expect(calls.map((part) => part.thoughtSignature !== undefined)).toEqual([true, false]);
    }
    const results = turn.parts.map((part) => ({
      functionResponse: { name: part.functionCall?.name ?? "", response: { output: "two words" } },
    }));
    const next = (parts: Content["parts"], responses = results): Promise<GenerateContentResponse> =>
      client.models.generateContent({
        model,
        contents: [...contents, { role: "model", parts: parts ?? [] }, { role: "user", parts: responses }],
        config: { tools: [tools] },
      });
    const done = await next(turn.parts);
    expect(done.candidates?.[0]?.finishReason).toBe("STOP" as never);
    expect(done.usageMetadata?.promptTokenCount).toBe(6);

    const unsigned = turn.parts.map(({ thoughtSignature: _, ...part }) => part);
    expect(String(await thrownBy(next(unsigned)))).toContain("missing a thought_signature");
    const forged = turn.parts.map((part, index) => (index === 0 ? { ...part, thoughtSignature: "Zm9yZ2Vk" } : part));
    expect(String(await thrownBy(next(forged)))).toContain("signature is not valid");
    expect(String(await thrownBy(next(turn.parts, results.slice(1))))).toContain("number of function response parts");
  });

  test("follows a forced function and a schema", async () => {
    const forced = await client.models.generateContent({
      model: "gemini-2.5-flash",
      contents: "x",
      config: {
        tools: [tools],
        toolConfig: {
          functionCallingConfig: { mode: FunctionCallingConfigMode.ANY, allowedFunctionNames: ["get_time"] },
        },
      },
    });
    expect(forced.functionCalls?.map((call) => call.name)).toEqual(["get_time"]);
    const shaped = await client.models.generateContent({
      model: "gemini-2.5-flash",
      contents: "shape it",
      config: {
        responseMimeType: "application/json",
        responseSchema: { type: Type.OBJECT, properties: { ok: { type: Type.BOOLEAN } } },
      },
    });
    expect(JSON.parse(shaped.text ?? "")).toEqual({ ok: true });
  });

  test("returns an image as inline data, and a blocked prompt without candidates", async () => {
    const drawn = await client.models.generateContent({
      model: "gemini-2.5-flash-image",
      contents: "a cat",
      config: { responseModalities: [Modality.TEXT, Modality.IMAGE], ...withScript({ tokens: 2, image_tokens: 100 }) },
    });
    const image = drawn.candidates?.[0]?.content?.parts?.find((part) => part.inlineData !== undefined)?.inlineData;
    expect(image?.mimeType).toBe("image/png");
    expect(
      Buffer.from(image?.data ?? "", "base64")
        .subarray(1, 4)
        .toString(),
    ).toBe("PNG");
    expect(drawn.usageMetadata?.candidatesTokenCount).toBe(102);
    const blocked = await client.models.generateContent({
      model: "gemini-2.5-flash",
      contents: "x",
      config: withScript({ blocked: "SAFETY" }),
    });
    expect(blocked.candidates).toBeUndefined();
    expect(blocked.promptFeedback?.blockReason).toBe("SAFETY" as never);
  });

  test("counts tokens, and returns errors in Google's format", async () => {
    const counted = await client.models.countTokens({ model: "gemini-2.5-flash", contents: "one two three" });
    expect(counted.totalTokens).toBe(3);
    const request = { model: "gemini-2.5-flash", contents: "x", config: withScript({ status: 429 }) };
    const error = await thrownBy(client.models.generateContent(request));
    if (!(error instanceof ApiError)) throw new Error("not an API error");
    expect(error.status).toBe(429);
    expect(error.message).toContain("RESOURCE_EXHAUSTED");
    expect(error.message).toContain("RetryInfo");
    const broken = Array.fromAsync(
      await client.models.generateContentStream({ ...request, config: withScript({ error_event_after: 2 }) }),
    );
    expect(String(await thrownBy(broken))).toContain("UNAVAILABLE");
  });
});

async function post(path: string, body: unknown, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(`http://127.0.0.1:${running.port}${path}`, { method: "POST", headers, body: JSON.stringify(body) });
}

const hello = { contents: [{ role: "user", parts: [{ text: "hi" }] }] };

test("without alt=sse, the stream is one JSON array", async () => {
  const headers = scripted({ tokens: 3 }, { "x-goog-api-key": "k" }).headers;
  const answer = await post("/v1beta/models/g:streamGenerateContent", hello, headers);
  expect(answer.headers.get("content-type")).toContain("application/json");
  const chunks: GenerateContentResponse[] = JSON.parse(await answer.text());
  expect(textOf(chunks)).toBe(" the quick brown");
  expect(chunks.length).toBe(4);
});

test("model names can contain slashes and colons; a key in the query is accepted and not recorded", async () => {
  const answer = await post("/v1beta/models/a%2Fb%3Ac:generateContent?key=sk-secret-7777&alt=json", hello);
  expect(await answer.json()).toMatchObject({ modelVersion: "a/b:c" });
  const record = await lastRecord(running);
  expect(record).toMatchObject({ model: "a/b:c", query: "key=redacted&alt=json", authorization_last4: "7777" });
  expect((await post("/v1beta/models/x:generateContent", hello)).status).toBe(403);
});

test.each([
  [
    "a schema field that OpenAPI does not have",
    { tools: [{ functionDeclarations: [{ name: "f", parameters: { $schema: "x" } }] }] },
    "Cannot find field",
  ],
  [
    "budget and level together",
    { generationConfig: { thinkingConfig: { thinkingBudget: 1, thinkingLevel: "LOW" } } },
    "only one",
  ],
  ["no contents", { contents: [] }, "contents is not specified"],
  [
    "a call that is not answered",
    { contents: [...hello.contents, { role: "model", parts: [{ functionCall: { name: "f", args: {} } }] }] },
    "number of function response parts",
  ],
])("refuses %s", async (_name, fields, message) => {
  const answer = await post("/v1beta/models/g:generateContent", { ...hello, ...fields }, { "x-goog-api-key": "k" });
  expect(answer.status).toBe(400);
  const { error } = (await answer.json()) as { error: { message: string; status: string } };
  expect(error.status).toBe("INVALID_ARGUMENT");
  expect(error.message).toContain(message);
});
