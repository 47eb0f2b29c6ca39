import { afterAll, beforeAll, expect, test } from "bun:test";
import { errorOf, type StartedGateway, startGateway } from "../../started-gateway.ts";
import { videoGateway } from "../video-tasks/video-gateway.ts";

let gateway: StartedGateway;
let group: string;
beforeAll(async () => {
  gateway = await startGateway(videoGateway);
  const created = await gateway.post("/v1/asset-groups", { platform: "volcengine", name: "heroes" });
  group = ((await created.json()) as { id: string }).id;
});
afterAll(() => gateway.stop());

const path = "/v1/assets";
const asset = () => ({
  platform: "volcengine",
  group_id: group,
  url: "https://pictures.example/anna.png",
  asset_type: "Image",
  name: "anna",
});

test.each(["", "{", "[]", "7"])("returns 400 for a body that is not a JSON object: %j", async (body) => {
  expect(await errorOf(await gateway.post(path, body))).toMatchObject({ status: 400, code: "invalid_json" });
});

test.each([
  ["no text", 7],
  ["another scheme", "ftp://pictures.example/anna.png"],
  ["data", "data:image/png;base64,iVBORw0KGgo="],
  ["credentials", "https://user:word@pictures.example/anna.png"],
  ["a line break", "https://pictures.example/\r\nx-evil: 1"],
  ["a path only", "/anna.png"],
  ["too many characters", `https://pictures.example/${"a".repeat(20_000)}`],
])("rejects a URL with %s before calling the library", async (_, url) => {
  const before = gateway.simulator.simulator.truth.list().total;
  for (const platform of ["local", "volcengine"]) {
    const error = await errorOf(await gateway.post(path, { ...asset(), platform, url }));
    expect(error).toMatchObject({ status: 400, code: "invalid_request", param: "url" });
  }
  expect(gateway.simulator.simulator.truth.list().total).toBe(before);
});

test("returns 400 when the platform parameter is missing", async () => {
  for (const place of [`${path}/as_none`, `${path}/as_none?platform=`, `/v1/asset-groups/${group}`]) {
    const error = await errorOf(await gateway.get(place));
    expect(error).toMatchObject({ status: 400, code: "missing_required_parameter", param: "platform" });
  }
});

test("names the parameter when a page cursor or limit is invalid", async () => {
  expect(await errorOf(await gateway.get(`${path}?after=x`))).toMatchObject({ status: 400, param: "after" });
  expect(await errorOf(await gateway.get(`${path}?limit=1e9`))).toMatchObject({ status: 400, param: "limit" });
});

test("returns the library's error code for a bad request, and stores nothing", async () => {
  gateway.simulator.simulator.addPreset({
    script: { status: 400, error_code: "InvalidParameter.URL", error_message: "The account 2100 may not." },
    count: 1,
    model: "CreateAsset",
  });
  const error = await errorOf(await gateway.post(path, asset()));
  expect(error).toMatchObject({ status: 400, code: "invalid_request" });
  expect(error.message).toContain("InvalidParameter.URL");
  expect(error.message).not.toContain("2100");
  expect(((await (await gateway.get(path)).json()) as { data: object[] }).data).toEqual([]);
});
