import { afterAll, beforeAll, expect, test } from "bun:test";
import { bounds } from "#core/index.ts";
import { errorOf, type StartedGateway, startGateway } from "../../started-gateway.ts";
import { ask, endedVideo, form, made, twoVendors, type Video } from "./videos-gateway.ts";

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

test("a form with a picture reaches OpenAI as the same form, with the upstream's model in it", async () => {
  const answer = await form(gateway, { ...sora, input_reference: picture() });
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

test("the same form makes a video of another vendor's, with the picture where that vendor takes it", async () => {
  const { size: _, ...shapeless } = { ...ask, model: "kling", input_reference: picture() };
  const answer = await form(gateway, shapeless);
  expect([answer.status, lastSent()?.path]).toEqual([200, "/v1/videos/image2video"]);
  const sent = JSON.parse(lastSent()?.body_text ?? "{}") as { image: string; duration: string };
  expect([sent.image, sent.duration]).toEqual([png.toString("base64"), "5"]);
  // This vendor takes the shape from the picture: what it cannot carry is not dropped.
  const told = await errorOf(await form(gateway, { ...shapeless, size: "1280x720" }));
  expect(told).toMatchObject({ status: 400, code: "unsupported_by_model", param: "size" });
});

test("a picture larger than a row takes is kept apart until the vendor has it, and arrives whole", async () => {
  const large = Buffer.concat([png, Buffer.alloc(300_000, 7)]);
  const answer = await form(gateway, { ...sora, input_reference: picture(large) });
  expect(answer.status).toBe(200);
  expect(lastSent()?.parts?.find(({ name }) => name === "input_reference")?.size).toBe(large.length);
});

test("members of objects, lists, numbers and flags are read as in JSON, however a client writes them", async () => {
  const { size: _, ...kling } = { ...ask, model: "kling" };
  const inBrackets = await form(gateway, {
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
  const asJson = await form(gateway, {
    ...kling,
    input_reference: '{"image_url":"https://pictures.example/b.png"}',
    metadata: '{"order":{"line":3}}',
  });
  expect(await taskOf((await asJson.json()) as Video)).toMatchObject({ metadata: { order: { line: 3 } } });
});

test("a form that is sent again, between other boundaries, is the same request", async () => {
  const headers = { "idempotency-key": "form-1" };
  const fields = { ...sora, input_reference: picture() };
  const first = (await (await form(gateway, fields, headers)).json()) as Video;
  const again = (await (await form(gateway, fields, headers)).json()) as Video;
  expect(again.id).toBe(first.id);
  const other = await form(gateway, { ...fields, prompt: "another" }, headers);
  expect(await errorOf(other)).toMatchObject({ status: 409, code: "idempotency_conflict" });
});

test.each([
  ["no bytes", { input_reference: picture(new Uint8Array(0)) }, "input_reference"],
  ["no picture", { input_reference: new File(["x"], "x.txt", { type: "text/plain" }) }, "input_reference"],
  ["a file that nobody asked for", { mask: picture() }, "mask"],
  ["a length of two kinds", { duration: "5" }, "seconds"],
  ["a name with too many brackets", { "metadata[a][b][c][d]": "1" }, "metadata[a][b][c][d]"],
  ["a list that is an object too", { "references[]": "https://a.example/a.png", "references[x]": "y" }, "references"],
  ["metadata that is no JSON", { metadata: "{" }, "metadata"],
  ["metadata with a member behind it", { metadata: '{}, "model": "other"' }, "metadata"],
  ["metadata with two ends", { metadata: '{}}{"a":{}' }, "metadata"],
])("%s is refused by its name", async (_, fields, param) => {
  const before = gateway.simulator.simulator.truth.list().total;
  expect(await errorOf(await form(gateway, { ...sora, ...fields }))).toMatchObject({
    status: 400,
    code: "invalid_request",
    param,
  });
  expect(gateway.simulator.simulator.truth.list().total).toBe(before);
});

test("a field that stands twice is refused: two readers could take either", async () => {
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

test("JSON in a form that holds more values, or deeper ones, than a body of a task may is refused", async () => {
  for (const metadata of [`{"a":[${"1,".repeat(20_000)}1]}`, `{"a":${"[".repeat(200_000)}`]) {
    const told = await errorOf(await form(gateway, { ...sora, metadata }));
    expect([400, 413]).toContain(told.status);
  }
});

test("a form whose file would be too large for a task is told so, before and after it is read", async () => {
  const told = await errorOf(
    await form(gateway, { ...sora, input_reference: picture(Buffer.alloc(bounds.taskRequestBytesMax + 1)) }),
  );
  expect(told).toMatchObject({ status: 413, code: "request_too_large" });
  const grown = await form(gateway, {
    ...sora,
    input_reference: picture(Buffer.alloc(Math.ceil(bounds.taskRequestBytesMax * 0.8), 1)),
  });
  expect(await errorOf(grown)).toMatchObject({ status: 413, code: "request_too_large" });
});

test("without a model OpenAI's usual one is meant", async () => {
  expect(await made(gateway, { prompt: "a boat" })).toMatchObject({ model: "sora-2", seconds: null, size: null });
});
