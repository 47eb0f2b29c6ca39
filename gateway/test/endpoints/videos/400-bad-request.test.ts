import { afterAll, beforeAll, expect, test } from "bun:test";
import { errorOf, type StartedGateway, startGateway } from "../../started-gateway.ts";
import { call, path, videoGateway, videoRequest } from "./videos-gateway.ts";

let gateway: StartedGateway;
beforeAll(async () => {
  gateway = await startGateway(videoGateway);
});
afterAll(() => gateway.stop());

test.each(["", "{", "[]", '"a boat"', "null"])("returns 400 for a body that is not a JSON object: %j", async (body) => {
  expect(await errorOf(await gateway.post(path, body))).toMatchObject({ status: 400, code: "invalid_json" });
});

test("requires a prompt", async () => {
  const { prompt: _, ...rest } = videoRequest;
  expect(await errorOf(await gateway.post(path, rest))).toMatchObject({
    status: 400,
    code: "missing_required_parameter",
    param: "prompt",
  });
});

test.each([
  [{ seconds: "four" }, "seconds", "an integer"],
  [{ seconds: -4 }, "seconds", "an integer"],
  [{ seconds: "4.5" }, "seconds", "an integer"],
  [{ size: "720p" }, "size", "1280x720"],
  [{ size: "1281x720" }, "size", "even"],
  [{ size: 720 }, "size", "1280x720"],
  [{ seconds: "5", duration: 10 }, "seconds", '"duration"'],
  [{ ratio: "16:9" }, "size", '"ratio"'],
  [{ input_reference: {} }, "input_reference", "image_url"],
  [{ input_reference: 7 }, "input_reference", "image_url"],
  [{ input_reference: { file_id: 7 } }, "input_reference", "file_id"],
  [{ input_reference: { image_url: "https://a.example/a.png", detail: "high" } }, "input_reference.detail", "known"],
  [{ input_reference: { image_url: "ftp://a.example/a.png" } }, "input_reference", "https"],
  [{ input_reference: "a.png" }, "input_reference", "https"],
  [{ character_ids: ["char_1"] }, "character_ids", "none"],
  [{ characters: [{ id: "char_1" }] }, "characters", "none"],
  [{ Seconds: "10" }, "Seconds", '"seconds"'],
  [{ SIZE: "1920x1080" }, "SIZE", '"size"'],
  [{ n: 4 }, "n", "1"],
  [{ prompt: 7 }, "prompt", "string"],
])("names the caller's field when it rejects %j", async (more, param, words) => {
  const error = await errorOf(await gateway.post(path, { ...videoRequest, ...more }));
  expect(error).toMatchObject({ status: 400, code: "invalid_request", param });
  expect(error.message).toContain(words);
  expect(gateway.simulator.simulator.truth.list().total).toBe(0);
});

test.each([
  [{ seconds: "20" }, "seconds", '"duration"', "15"],
  [{ size: "1000x720" }, "size", '"ratio"', "16:9"],
  [{ size: "640x360" }, "size", '"resolution"', "720p"],
])("names the allowed values and the caller's field when the model does not support %j", async (more, ...words) => {
  const [param, ours, allowed] = words;
  const error = await errorOf(await gateway.post(path, { ...videoRequest, ...more }));
  expect(error).toMatchObject({ status: 400, code: "invalid_request", param });
  for (const word of [`"${param}" is read as`, ours, allowed]) expect(error.message).toContain(word);
  expect(gateway.simulator.simulator.truth.list().total).toBe(0);
});

test("names an invalid cursor, order, limit or variant", async () => {
  for (const [query, param] of [
    ["after=video_0", "after"],
    [`after=video_${"0".repeat(26)}`, "after"],
    ["after=x", "after"],
    ["order=up", "order"],
    ["limit=0", "limit"],
    ["limit=many", "limit"],
  ]) {
    const error = await errorOf(await gateway.get(`${path}?${query}`));
    expect([query, error]).toMatchObject([query, { status: 400, code: "invalid_request", param }]);
  }
  const error = await errorOf(await gateway.get(`${path}/video_01/content?variant=poster`));
  expect(error).toMatchObject({ status: 400, code: "invalid_request", param: "variant" });
});

test.each([
  ["POST", "/edits"],
  ["POST", "/extensions"],
  ["POST", "/characters"],
  ["GET", "/characters/char_1"],
])("returns an error for %s %s, which is not offered", async (method, at) => {
  const error = await errorOf(await call(gateway, method, `${path}${at}`));
  expect(error).toMatchObject({ status: 400, code: "invalid_request" });
  expect(error.message).toContain("does not offer");
});
