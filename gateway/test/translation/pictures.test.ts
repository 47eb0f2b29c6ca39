import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type AnsweringGateway, paths, startAnsweringGateway } from "./answering-gateway.ts";

let gateway: AnsweringGateway;
beforeAll(async () => {
  gateway = await startAnsweringGateway();
});
afterAll(() => gateway.stop());

const data = "iVBORw0KGgo=";
const url = `data:image/png;base64,${data}`;
const parts = [{ text: "Here:" }, { inlineData: { mimeType: "image/png", data } }];
const gemini = { candidates: [{ content: { parts }, finishReason: "STOP" }] };
const usage = { input_tokens: 10, output_tokens: 5 };
const response = {
  id: "resp_1",
  object: "response",
  status: "completed",
  output: [{ type: "image_generation_call", id: "ig_1", status: "completed", result: data, output_format: "png" }],
  usage,
};
const upstreams = {
  "of-gemini": { whole: gemini, events: [gemini] },
  "of-responses": {
    whole: response,
    events: [
      { type: "response.created", response: { ...response, status: "in_progress", output: [] } },
      { type: "response.output_item.added", output_index: 0, item: { ...response.output[0], result: null } },
      { type: "response.output_item.done", output_index: 0, item: response.output[0] },
      { type: "response.completed", response },
    ],
  },
} as const;
const request = { messages: [{ role: "user", content: "draw" }] };

describe.each(["of-gemini", "of-responses"] as const)("a picture in an answer of an upstream %s", (model) => {
  test("is in the message's images", async () => {
    const answer = await gateway.call(paths.chat, { ...request, model }, upstreams[model].whole);
    expect([answer.status, answer.headers.get("x-sluice-warnings")]).toEqual([200, null]);
    expect(await answer.json()).toMatchObject({
      choices: [{ message: { role: "assistant", images: [{ type: "image_url", image_url: { url } }] } }],
    });
  });

  test("is in the images of a delta in a stream", async () => {
    const answer = await gateway.call(paths.chat, { ...request, model, stream: true }, upstreams[model].events);
    const text = await answer.text();
    expect([answer.status, answer.headers.get("x-sluice-warnings")]).toEqual([200, null]);
    const chunks = [...text.matchAll(/^data: (\{.*)$/gm)].map(([, text]) => JSON.parse(text ?? ""));
    const images = chunks.flatMap(({ choices }) => choices[0]?.delta.images ?? []);
    expect(images).toMatchObject([{ type: "image_url", image_url: { url } }]);
    expect(text).not.toContain("sluice-warning");
  });
});

test("requests pictures from Gemini by modality, and sends them back unchanged", async () => {
  const answer = await gateway.call(
    paths.chat,
    {
      model: "of-gemini",
      modalities: ["text", "image"],
      messages: [
        ...request.messages,
        { role: "assistant", content: "Here:", images: [{ type: "image_url", image_url: { url } }] },
        { role: "user", content: "again" },
      ],
    },
    gemini,
  );
  expect([answer.status, answer.headers.get("x-sluice-warnings")]).toEqual([200, null]);
  await answer.text();
  expect(gateway.sent()).toMatchObject({
    generationConfig: { responseModalities: ["TEXT", "IMAGE"] },
    contents: [{ role: "user" }, { role: "model", parts }, { role: "user" }],
  });
});

test("returns pictures to a caller of Gemini's dialect", async () => {
  const body = {
    contents: [{ role: "user", parts: [{ text: "draw" }] }],
    generationConfig: { responseModalities: ["TEXT", "IMAGE"] },
  };
  const message = { role: "assistant", content: "x", images: [{ type: "image_url", image_url: { url } }] };
  const answer = await gateway.call("/v1beta/models/of-chat:generateContent", body, {
    id: "c1",
    choices: [{ index: 0, message, finish_reason: "stop" }],
  });
  expect(answer.status).toBe(200);
  expect(await answer.json()).toMatchObject({
    candidates: [{ content: { parts: [{ text: "x" }, { inlineData: { mimeType: "image/png", data } }] } }],
  });
  expect(gateway.sent()).toMatchObject({ modalities: ["text", "image"] });
});

test("rejects speech by its field, and warns when pictures are not supported", async () => {
  const speechAnswer = await gateway.call(
    paths.chat,
    { ...request, model: "of-gemini", modalities: ["text", "audio"] },
    gemini,
  );
  expect(speechAnswer.status).toBe(400);
  expect(await speechAnswer.json()).toMatchObject({ error: { code: "unsupported_by_model", param: "modalities" } });
  const message = { id: "msg_1", type: "message", role: "assistant", content: [], stop_reason: "end_turn", usage };
  const pictureRequest = { ...request, model: "of-messages", modalities: ["text", "image"] };
  const pictureAnswer = await gateway.call(paths.chat, pictureRequest, message);
  expect([pictureAnswer.status, pictureAnswer.headers.get("x-sluice-warnings")]).toEqual([
    200,
    expect.stringContaining("image output"),
  ]);
  await pictureAnswer.text();
});
