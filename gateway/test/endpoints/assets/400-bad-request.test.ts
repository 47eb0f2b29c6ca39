import { afterAll, beforeAll, expect, test } from "bun:test";
import { errorOf, type StartedGateway, startGateway } from "../../started-gateway.ts";
import { videoGateway } from "../video-tasks/video-gateway.ts";

let gateway: StartedGateway;
let group: string;
beforeAll(async () => {
  gateway = await startGateway(videoGateway);
  const made = await gateway.post("/v1/asset-groups", { platform: "volcengine", name: "heroes" });
  group = ((await made.json()) as { id: string }).id;
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

test.each(["", "{", "[]", "7"])("a body that is no JSON object is told to be so: %j", async (body) => {
  expect(await errorOf(await gateway.post(path, body))).toMatchObject({ status: 400, code: "invalid_json" });
});

test.each([
  ["no text", 7],
  ["another scheme", "ftp://pictures.example/anna.png"],
  ["data", "data:image/png;base64,iVBORw0KGgo="],
  ["credentials", "https://user:word@pictures.example/anna.png"],
  ["a line break", "https://pictures.example/\r\nx-evil: 1"],
  ["a path only", "/anna.png"],
  ["more than any address has", `https://pictures.example/${"a".repeat(20_000)}`],
])("an address with %s is refused before anybody is asked", async (_, url) => {
  const before = gateway.simulator.simulator.truth.list().total;
  for (const platform of ["local", "volcengine"]) {
    const told = await errorOf(await gateway.post(path, { ...asset(), platform, url }));
    expect(told).toMatchObject({ status: 400, code: "invalid_request", param: "url" });
  }
  expect(gateway.simulator.simulator.truth.list().total).toBe(before);
});

test("a look that names no platform is told so", async () => {
  for (const place of [`${path}/as_none`, `${path}/as_none?platform=`, `/v1/asset-groups/${group}`]) {
    const told = await errorOf(await gateway.get(place));
    expect(told).toMatchObject({ status: 400, code: "missing_required_parameter", param: "platform" });
  }
});

test("a page that no list gave out is told by the name of its parameter", async () => {
  expect(await errorOf(await gateway.get(`${path}?after=x`))).toMatchObject({ status: 400, param: "after" });
  expect(await errorOf(await gateway.get(`${path}?limit=1e9`))).toMatchObject({ status: 400, param: "limit" });
});

test("what the library says of the request itself is told with its code, and nothing is kept of it", async () => {
  gateway.simulator.simulator.addPreset({
    script: { status: 400, error_code: "InvalidParameter.URL", error_message: "The account 2100 may not." },
    count: 1,
    model: "CreateAsset",
  });
  const told = await errorOf(await gateway.post(path, asset()));
  expect(told).toMatchObject({ status: 400, code: "invalid_request" });
  expect(told.message).toContain("InvalidParameter.URL");
  expect(told.message).not.toContain("2100");
  expect(((await (await gateway.get(path)).json()) as { data: object[] }).data).toEqual([]);
});
