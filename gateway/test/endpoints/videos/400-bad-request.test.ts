import { afterAll, beforeAll, expect, test } from "bun:test";
import { errorOf, type StartedGateway, startGateway } from "../../started-gateway.ts";
import { ask, call, path, videoGateway } from "./videos-gateway.ts";

let gateway: StartedGateway;
beforeAll(async () => {
  gateway = await startGateway(videoGateway);
});
afterAll(() => gateway.stop());

test.each(["", "{", "[]", '"a boat"', "null"])("a body that is no JSON object is told to be so: %j", async (body) => {
  expect(await errorOf(await gateway.post(path, body))).toMatchObject({ status: 400, code: "invalid_json" });
});

test("a prompt is asked for", async () => {
  const { prompt: _, ...rest } = ask;
  expect(await errorOf(await gateway.post(path, rest))).toMatchObject({
    status: 400,
    code: "missing_required_parameter",
    param: "prompt",
  });
});

test.each([
  [{ seconds: "four" }, "seconds", "whole number"],
  [{ seconds: -4 }, "seconds", "whole number"],
  [{ seconds: "4.5" }, "seconds", "whole number"],
  [{ size: "720p" }, "size", "1280x720"],
  [{ size: "1281x720" }, "size", "even"],
  [{ size: 720 }, "size", "1280x720"],
  [{ seconds: "5", duration: 10 }, "seconds", '"duration"'],
  [{ ratio: "16:9" }, "size", '"ratio"'],
  [{ input_reference: {} }, "input_reference", "image_url"],
  [{ input_reference: 7 }, "input_reference", "image_url"],
  [{ input_reference: { file_id: "file-123" } }, "input_reference", "no files are kept"],
  [{ input_reference: { image_url: "https://a.example/a.png", detail: "high" } }, "input_reference.detail", "known"],
  [{ input_reference: { image_url: "ftp://a.example/a.png" } }, "input_reference", "https"],
  [{ input_reference: "a.png" }, "input_reference", "https"],
  [{ character_ids: ["char_1"] }, "character_ids", "not offered"],
  [{ characters: [{ id: "char_1" }] }, "characters", "not offered"],
  [{ Seconds: "10" }, "Seconds", '"seconds"'],
  [{ SIZE: "1920x1080" }, "SIZE", '"size"'],
  [{ n: 4 }, "n", "1"],
  [{ prompt: 7 }, "prompt", "string"],
])("%j is refused by the name that the caller used", async (more, param, words) => {
  const told = await errorOf(await gateway.post(path, { ...ask, ...more }));
  expect(told).toMatchObject({ status: 400, code: "invalid_request", param });
  expect(told.message).toContain(words);
  expect(gateway.simulator.simulator.truth.list().total).toBe(0);
});

test.each([
  [{ seconds: "20" }, "seconds", '"duration"', "15"],
  [{ size: "1000x720" }, "size", '"ratio"', "16:9"],
  [{ size: "640x360" }, "size", '"resolution"', "720p"],
])(
  "what the model does not take is told with what it takes, and by the caller's own name: %j",
  async (more, ...words) => {
    const [param, ours, allowed] = words;
    const told = await errorOf(await gateway.post(path, { ...ask, ...more }));
    expect(told).toMatchObject({ status: 400, code: "invalid_request", param });
    for (const word of [`"${param}" is read as`, ours, allowed]) expect(told.message).toContain(word);
    expect(gateway.simulator.simulator.truth.list().total).toBe(0);
  },
);

test("a place, an order, a length of a list and a variant that there are not are told by their names", async () => {
  for (const [query, param] of [
    ["after=video_0", "after"],
    [`after=video_${"0".repeat(26)}`, "after"],
    ["after=x", "after"],
    ["order=up", "order"],
    ["limit=0", "limit"],
    ["limit=many", "limit"],
  ]) {
    const told = await errorOf(await gateway.get(`${path}?${query}`));
    expect([query, told]).toMatchObject([query, { status: 400, code: "invalid_request", param }]);
  }
  const told = await errorOf(await gateway.get(`${path}/video_01/content?variant=poster`));
  expect(told).toMatchObject({ status: 400, code: "invalid_request", param: "variant" });
});

test.each([
  ["POST", "/edits"],
  ["POST", "/extensions"],
  ["POST", "/characters"],
  ["GET", "/characters/char_1"],
])("%s %s is said not to be offered", async (method, at) => {
  const told = await errorOf(await call(gateway, method, `${path}${at}`));
  expect(told).toMatchObject({ status: 400, code: "invalid_request" });
  expect(told.message).toContain("does not offer");
});
