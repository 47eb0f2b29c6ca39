import { afterAll, beforeAll, expect, test } from "bun:test";
import { bounds } from "#core/index.ts";
import { errorOf, type StartedGateway, startGateway } from "../../started-gateway.ts";
import { createVideo, endedVideo, sendForm, twoVendors, type Video, videoRequest } from "./videos-gateway.ts";

let gateway: StartedGateway;
beforeAll(async () => {
  gateway = await startGateway(twoVendors);
});
afterAll(() => gateway.stop());

const png = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
);
const picture = (bytes: Uint8Array = png): File =>
  new File([new Uint8Array(bytes)], "first.png", { type: "image/png" });
const sora = { model: "sora-2", prompt: "a boat", seconds: "8", size: "720x1280" };
const lastSent = () =>
  gateway.simulator.simulator.truth
    .list()
    .data.filter(({ method }) => method === "POST")
    .at(-1);
const taskOf = async ({ id }: Video) => (await (await gateway.get(`/v1/video/tasks/${id}`)).json()) as object;

test("passes a form with a picture to OpenAI as the same form", async () => {
  const answer = await sendForm(gateway, { ...sora, input_reference: picture() });
  expect(answer.status).toBe(200);
  const video = (await answer.json()) as Video;
  expect(video).toMatchObject({ status: "queued", seconds: "8", size: "720x1280" });
  const parts = lastSent()?.parts ?? [];
  expect(
    parts.map(({ name, filename, value, content_type, size }) =>
      filename === null ? [name, value] : [name, content_type, size],
    ),
  ).toEqual([
    ["model", "sora-2"],
    ["prompt", "a boat"],
    ["seconds", "8"],
    ["size", "720x1280"],
    ["input_reference", "image/png", png.length],
  ]);
  expect(await endedVideo(gateway, video.id)).toMatchObject({ status: "completed", seconds: "8", size: "720x1280" });
});

test("translates the same form for another vendor", async () => {
  const { size: _, ...withoutSize } = { ...videoRequest, model: "kling", input_reference: picture() };
  const answer = await sendForm(gateway, withoutSize);
  expect([answer.status, lastSent()?.path]).toEqual([200, "/v1/videos/image2video"]);
  const sent = JSON.parse(lastSent()?.body_text ?? "{}") as { image: string; duration: string };
  expect([sent.image, sent.duration]).toEqual([png.toString("base64"), "5"]);
  // This vendor takes the size from the picture, so another size is an error instead of being dropped.
  const error = await errorOf(await sendForm(gateway, { ...withoutSize, size: "1280x720" }));
  expect(error).toMatchObject({ status: 400, code: "unsupported_by_model", param: "size" });
});

test("stores a large picture outside the database until the vendor has received it", async () => {
  const large = Buffer.concat([png, Buffer.alloc(300_000, 7)]);
  const answer = await sendForm(gateway, { ...sora, input_reference: picture(large) });
  expect(answer.status).toBe(200);
  expect(lastSent()?.parts?.find(({ name }) => name === "input_reference")?.size).toBe(large.length);
});

test("reads objects, lists, numbers and booleans in a form like in JSON", async () => {
  const { size: _, ...kling } = { ...videoRequest, model: "kling" };
  const inBrackets = await sendForm(gateway, {
    ...kling,
    "input_reference[image_url]": "https://pictures.example/a.png",
    "metadata[order]": "17",
    seed: "-1",
    watermark: "false",
  });
  expect(await taskOf((await inBrackets.json()) as Video)).toMatchObject({
    metadata: { order: "17" },
    seed: -1,
    watermark: false,
  });
  expect(JSON.parse(lastSent()?.body_text ?? "{}")).toMatchObject({ image: "https://pictures.example/a.png" });
  const asJson = await sendForm(gateway, {
    ...kling,
    input_reference: '{"image_url":"https://pictures.example/b.png"}',
    metadata: '{"order":{"line":3}}',
  });
  expect(await taskOf((await asJson.json()) as Video)).toMatchObject({ metadata: { order: { line: 3 } } });
});

test("treats a form with another boundary as the same request", async () => {
  const headers = { "idempotency-key": "form-1" };
  const fields = { ...sora, input_reference: picture() };
  const first = (await (await sendForm(gateway, fields, headers)).json()) as Video;
  const again = (await (await sendForm(gateway, fields, headers)).json()) as Video;
  expect(again.id).toBe(first.id);
  const other = await sendForm(gateway, { ...fields, prompt: "another" }, headers);
  expect(await errorOf(other)).toMatchObject({ status: 409, code: "idempotency_conflict" });
});

test.each([
  ["an empty file", { input_reference: picture(new Uint8Array(0)) }, "input_reference"],
  ["no picture", { input_reference: new File(["x"], "x.txt", { type: "text/plain" }) }, "input_reference"],
  ["an unknown file field", { mask: picture() }, "mask"],
  ["two fields for the length", { duration: "5" }, "seconds"],
  ["a name with too many brackets", { "metadata[a][b][c][d]": "1" }, "metadata[a][b][c][d]"],
  ["a list that is also an object", { "references[]": "https://a.example/a.png", "references[x]": "y" }, "references"],
  ["metadata that is not JSON", { metadata: "{" }, "metadata"],
  ["metadata followed by a member", { metadata: '{}, "model": "other"' }, "metadata"],
  ["metadata with two ends", { metadata: '{}}{"a":{}' }, "metadata"],
])("names the field when it rejects %s", async (_, fields, param) => {
  // Tasks of earlier tests are polled meanwhile.
  const creations = () =>
    gateway.simulator.simulator.truth.list().data.filter(({ method }) => method === "POST").length;
  const before = creations();
  expect(await errorOf(await sendForm(gateway, { ...sora, ...fields }))).toMatchObject({
    status: 400,
    code: "invalid_request",
    param,
  });
  expect(creations()).toBe(before);
});

test("rejects a duplicate field, because readers could disagree about its value", async () => {
  const twice = new FormData();
  for (const prompt of ["one", "two"]) twice.append("prompt", prompt);
  twice.append("model", "sora-2");
  const answer = await fetch(`${gateway.url}/v1/videos`, {
    method: "POST",
    headers: { authorization: "Bearer sk-alice-0123456789abcdefghij" },
    body: twice,
  });
  expect(await errorOf(answer)).toMatchObject({ status: 400, code: "invalid_request", param: "prompt" });
});

test("limits the number and the nesting of values in a form's JSON", async () => {
  for (const metadata of [`{"a":[${"1,".repeat(20_000)}1]}`, `{"a":${"[".repeat(200_000)}`]) {
    const error = await errorOf(await sendForm(gateway, { ...sora, metadata }));
    expect([400, 413]).toContain(error.status);
  }
});

test("rejects a form with a file that is too large, before and after reading it", async () => {
  const error = await errorOf(
    await sendForm(gateway, { ...sora, input_reference: picture(Buffer.alloc(bounds.taskRequestBytesMax + 1)) }),
  );
  expect(error).toMatchObject({ status: 413, code: "request_too_large" });
  const tooLargeInBase64 = await sendForm(gateway, {
    ...sora,
    input_reference: picture(Buffer.alloc(Math.ceil(bounds.taskRequestBytesMax * 0.8), 1)),
  });
  expect(await errorOf(tooLargeInBase64)).toMatchObject({ status: 413, code: "request_too_large" });
});

test("uses OpenAI's default model when the form names none", async () => {
  expect(await createVideo(gateway, { prompt: "a boat" })).toMatchObject({
    model: "sora-2",
    seconds: null,
    size: null,
  });
});
