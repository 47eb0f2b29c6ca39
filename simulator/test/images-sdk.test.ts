import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import OpenAI, { toFile } from "openai";
import OpenAIPrevious from "openai-previous";
import { type RunningSimulator, serveSimulator } from "../src/index.ts";
import { lastRecord, scripted, sha256, thrownBy } from "./sdk-call.ts";

let running: RunningSimulator;
beforeAll(() => {
  running = serveSimulator();
});
afterAll(() => running.stop());

function clientOf(Sdk: typeof OpenAI | typeof OpenAIPrevious): OpenAI {
  return new Sdk({ baseURL: running.url, apiKey: "sk-sim-0000", maxRetries: 0 }) as unknown as OpenAI;
}

const pixels = Buffer.from(Array.from({ length: 70_000 }, (_, index) => index % 251));

describe.each([
  ["openai", OpenAI],
  ["openai-previous", OpenAIPrevious],
])("images through %s", (_name, Sdk) => {
  test("generate returns base64 and the tokens of words and images", async () => {
    const answer = await clientOf(Sdk).images.generate(
      { model: "gpt-image-1", prompt: "a small cat", n: 2, size: "1536x1024" },
      scripted({ image_tokens: 50 }),
    );
    expect(answer).toMatchObject({
      output_format: "png",
      size: "1536x1024",
      usage: {
        input_tokens: 3,
        input_tokens_details: { text_tokens: 3, image_tokens: 0 },
        output_tokens: 100,
        total_tokens: 103,
      },
    });
    expect(
      Buffer.from(answer.data?.[1]?.b64_json ?? "", "base64")
        .subarray(1, 4)
        .toString(),
    ).toBe("PNG");
    expect(await lastRecord(running)).toMatchObject({ output_tokens_emitted: 100, prompt_tokens: 3 });
  });

  test("edit: the truth records every part of the upload exactly", async () => {
    const answer = await clientOf(Sdk).images.edit({
      image: [
        await toFile(pixels, "one.png", { type: "image/png" }),
        await toFile(pixels.subarray(9), "two.png", { type: "image/png" }),
      ],
      mask: await toFile(pixels.subarray(0, 5), "mask.png", { type: "image/png" }),
      prompt: "add a hat",
      model: "gpt-image-1",
    });
    expect(answer.usage?.input_tokens_details).toEqual({ text_tokens: 3, image_tokens: 24 });
    const record = await lastRecord(running);
    // The client writes the parts in its own order.
    const files = ["one.png", "two.png", "mask.png"].map((name) =>
      record.parts?.find((part) => part.filename === name),
    );
    expect(files).toEqual([
      { name: "image[]", filename: "one.png", content_type: "image/png", size: 70_000, sha256: sha256(pixels) },
      {
        name: "image[]",
        filename: "two.png",
        content_type: "image/png",
        size: 69_991,
        sha256: sha256(pixels.subarray(9)),
      },
      { name: "mask", filename: "mask.png", content_type: "image/png", size: 5, sha256: sha256(pixels.subarray(0, 5)) },
    ]);
    expect(record.parts?.find((part) => part.name === "prompt")?.value).toBe("add a hat");
    expect(record).toMatchObject({ model: "gpt-image-1", body_bytes: expect.any(Number), prompt_tokens: 27 });
    expect(record.body_text).toBeUndefined();
  });

  test.each(["generate", "edit"] as const)("%s streams partial images, then the image with the usage", async (kind) => {
    const client = clientOf(Sdk);
    const common = { model: "gpt-image-1", prompt: "x", stream: true as const, partial_images: 2 };
    const stream =
      kind === "generate"
        ? await client.images.generate(common)
        : await client.images.edit({ ...common, image: await toFile(pixels, "one.png", { type: "image/png" }) });
    const events = await Array.fromAsync<{ type: string }>(stream);
    const name = kind === "generate" ? "image_generation" : "image_edit";
    expect(events.map((event) => event.type)).toEqual([
      `${name}.partial_image`,
      `${name}.partial_image`,
      `${name}.completed`,
    ]);
    expect(events.at(-1)).toMatchObject({ usage: { output_tokens: 16 } });
    expect(await lastRecord(running)).toMatchObject({
      output_tokens_emitted: 16,
      terminal_sent: true,
      usage_sent: true,
    });
  });

  test("an older model returns a URL that can be fetched", async () => {
    const answer = await clientOf(Sdk).images.generate({ model: "dall-e-3", prompt: "x" });
    expect(answer.usage).toBeUndefined();
    const image = await fetch(answer.data?.[0]?.url ?? "");
    expect(image.headers.get("content-type")).toBe("image/png");
    expect(
      Buffer.from(await image.arrayBuffer())
        .subarray(1, 4)
        .toString(),
    ).toBe("PNG");
  });

  test("refuses an empty file and a missing prompt", async () => {
    const client = clientOf(Sdk);
    const empty = client.images.edit({
      image: await toFile(Buffer.alloc(0), "e.png", { type: "image/png" }),
      prompt: "x",
    });
    expect(await thrownBy(empty)).toMatchObject({ status: 400, code: "empty_image_file" });
    expect(await thrownBy(client.images.generate({ prompt: "" }))).toMatchObject({ status: 400, param: "prompt" });
  });
});

describe("Seedream", () => {
  const body = {
    model: "doubao-seedream-4-5-251128",
    prompt: "a cat",
    image: ["https://x/1.png"],
    sequential_image_generation: "auto",
    sequential_image_generation_options: { max_images: 3 },
  };

  function post(fields: object, script = {}): Promise<Response> {
    const headers = scripted(script).headers;
    return fetch(`${running.url}/images/generations`, {
      method: "POST",
      headers,
      body: JSON.stringify({ ...body, ...fields }),
    });
  }

  test("counts images, and reports failures among them", async () => {
    const answer = await (await post({}, { failed_images: 1, image_tokens: 100 })).json();
    expect(answer).toMatchObject({
      model: body.model,
      data: [
        { error: { code: "OutputImageSensitiveContentDetected" } },
        { url: expect.any(String), size: "2048x2048" },
        {},
      ],
      usage: { generated_images: 2, output_tokens: 200, total_tokens: 200, input_images: 1 },
    });
  });

  test("streams whole images one by one", async () => {
    const text = await (await post({ stream: true, response_format: "b64_json" }, { failed_images: 1 })).text();
    const names = [...text.matchAll(/^event: (.+)$/gm)].map((match) => match[1]);
    expect(names).toEqual([
      "image_generation.partial_failed",
      "image_generation.partial_succeeded",
      "image_generation.partial_succeeded",
      "image_generation.completed",
    ]);
    expect(text.endsWith("data: [DONE]\n\n")).toBe(true);
  });
});

describe.each([
  ["openai", OpenAI],
  ["openai-previous", OpenAIPrevious],
])("embeddings through %s", (_name, Sdk) => {
  test("returns the same unit vectors as floats and as base64, and counts words as tokens", async () => {
    const client = clientOf(Sdk);
    const request = { model: "text-embedding-3-small", input: ["one two", "three"], dimensions: 40 };
    const decoded = await client.embeddings.create(request);
    const floats = await client.embeddings.create({ ...request, encoding_format: "float" });
    expect(decoded.data.map((row) => row.embedding)).toEqual(floats.data.map((row) => row.embedding));
    expect(decoded.data[0]?.embedding.length).toBe(40);
    expect(Math.hypot(...(decoded.data[0]?.embedding ?? []))).toBeCloseTo(1, 5);
    expect(decoded.usage).toEqual({ prompt_tokens: 3, total_tokens: 3 });
    const tokens = await client.embeddings.create({ model: "e", input: [[1, 2, 3], [4]] });
    expect(tokens.usage.prompt_tokens).toBe(4);
    expect(await thrownBy(client.embeddings.create({ model: "e", input: "" }))).toMatchObject({ status: 400 });
  });
});
