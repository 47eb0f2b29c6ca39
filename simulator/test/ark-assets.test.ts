import { afterAll, afterEach, beforeAll, describe, expect, setSystemTime, test } from "bun:test";
import { type RunningSimulator, type Script, serveSimulator } from "../src/index.ts";
import { checkVolcSignature } from "../src/volc-signature.ts";
import { lastRecord } from "./sdk-call.ts";
import { stuck, type TaskAnswer, taskCall } from "./task-call.ts";
import { type VolcCall, volcDate, volcSigned } from "./volc-sign.ts";

let running: RunningSimulator;
beforeAll(() => {
  running = serveSimulator({
    arkAccounts: {
      AKTESTEXAMPLE: { secret: "SecretKeyExample==", apiKeys: ["ark-one"], project: "default" },
      AKOTHER: { secret: "another", apiKeys: ["ark-two"] },
    },
  });
});
afterAll(() => running.stop());
// Tasks change state with the time of day.
afterEach(() => void setSystemTime());

function act(
  action: string,
  body: object,
  options: Partial<VolcCall> & { readonly script?: Script } = {},
): Promise<TaskAnswer> {
  const { script, ...signing } = options;
  const query = `Action=${action}&Version=2024-01-01`;
  const host = `127.0.0.1:${running.port}`;
  const headers = volcSigned({ query, host, body: JSON.stringify(body), date: volcDate(), ...signing });
  return taskCall(running, `/?${query}`, { body, headers, ...(script === undefined ? {} : { script }) });
}

async function createdId(action: string, body: object, script: Script = {}): Promise<string> {
  return (await act(action, body, { script })).body.text("Result", "Id");
}

const createGroup = (fields: object = {}): Promise<string> =>
  createdId("CreateAssetGroup", { Name: "cast", ...fields });
const createAsset = async (script: Script, fields: object = {}): Promise<string> =>
  createdId(
    "CreateAsset",
    { GroupId: await createGroup(), URL: "https://x/a.png", AssetType: "Image", ...fields },
    script,
  );

describe("a signature", () => {
  const vector = {
    method: "POST",
    path: "/",
    query: "Action=CreateAsset&Version=2024-01-01",
    body: Buffer.from('{"GroupId":"group-1","URL":"https://example.com/a.png","AssetType":"Image"}'),
  };
  const now = Date.parse("2026-03-20T14:24:52Z");
  const secretOf = (id: string): string | null => (id === "AKTESTEXAMPLE" ? "SecretKeyExample==" : null);

  test.each([
    ["host;x-content-sha256;x-date", "cb38ff8caaa7498da4b3a76a89a92df0109983b7d2f26d6d9b1521d968496681"],
    ["content-type;host;x-content-sha256;x-date", "31a3db8174f9973608a2edd73f4f9b38225cdb087bb86683e4b533306ad223db"],
  ])("of the published test vector over %s is accepted, and any change is refused", (names, signature) => {
    const scope = "AKTESTEXAMPLE/20260320/cn-beijing/ark/request";
    const headers = {
      host: "open.volcengineapi.com",
      "content-type": "application/json",
      "x-content-sha256": "1375ee526952e79d49f5b36d70af7e1906ce30dfcf681242f703be1262bddf5c",
      "x-date": "20260320T142452Z",
      authorization: `HMAC-SHA256 Credential=${scope}, SignedHeaders=${names}, Signature=${signature}`,
    };
    const check = (changes: object, at = now) =>
      checkVolcSignature({ ...vector, headers, ...changes }, secretOf, at).fault;
    expect(check({})).toBeNull();
    expect(check({ query: `${vector.query}&x=1` })).toBe("mismatch");
    expect(check({ body: Buffer.from("{}") })).toBe("mismatch");
    expect(check({ headers: { ...headers, host: "elsewhere" } })).toBe("mismatch");
    expect(check({}, now + 16 * 60_000)).toBe("expired");
    expect(check({ headers: { ...headers, authorization: headers.authorization.replace("AKTEST", "AKNONE") } })).toBe(
      "unknown key",
    );
    expect(check({ headers: { ...headers, authorization: undefined } })).toBe("absent");
  });

  test.each([
    ["another secret", { secret: "wrong" }, 401, "SignatureDoesNotMatch"],
    ["an unknown key", { accessKeyId: "AKNOBODY" }, 401, "InvalidAccessKey"],
    ["an old date", { date: "20200101T000000Z" }, 400, "InvalidTimestamp"],
  ])("with %s is refused", async (_what, signing, status, code) => {
    const answer = await act("GetAsset", { Id: "asset-1" }, signing);
    expect(answer.status).toBe(status);
    expect(answer.body.at("ResponseMetadata")).toMatchObject({
      Action: "GetAsset",
      Version: "2024-01-01",
      Service: "ark",
      Region: "cn-beijing",
      Error: { Code: code, CodeN: expect.any(Number), Message: expect.any(String) },
    });
    expect(answer.body.at("Result")).toBeUndefined();
    expect(await lastRecord(running)).toMatchObject({ signature_verified: false });
  });

  test("is required even for actions that do not exist", async () => {
    const unsigned = await taskCall(running, "/?Action=Nothing&Version=2024-01-01", { body: {} });
    expect(unsigned.body.at("ResponseMetadata", "Error", "Code")).toBe("MissingAuthenticationToken");
    const signed = await act("Nothing", {});
    expect(signed.body.at("ResponseMetadata", "Error", "Code")).toBe("InvalidAction");
    expect(await lastRecord(running)).toMatchObject({ signature_verified: true, model: "Nothing" });
  });
});

describe("a group", () => {
  test("can be created, read, renamed, listed and deleted together with its assets", async () => {
    const Id = await createGroup({ Description: "people", ProjectName: "film" });
    const film = { Id, ProjectName: "film" };
    expect(Id).toMatch(/^group-\d{14}-[0-9a-z]{5}$/);
    expect((await act("GetAssetGroup", film)).body.at("Result")).toMatchObject({
      Name: "cast",
      Description: "people",
      GroupType: "AIGC",
      ProjectName: "film",
      CreateTime: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/),
    });
    await act("UpdateAssetGroup", { ...film, Name: "crew" });
    const listed = await act("ListAssetGroups", { Filter: { GroupType: "AIGC", Name: "cre" }, ProjectName: "film" });
    expect(listed.body.at("Result")).toMatchObject({ Items: [{ Id, Name: "crew" }], TotalCount: 1, PageNumber: 1 });
    const assetInGroup = { GroupId: Id, URL: "https://x/a.png", AssetType: "Image", ProjectName: "film" };
    const AssetId = await createdId("CreateAsset", assetInGroup);
    expect((await act("DeleteAssetGroup", film)).body.at("Result")).toEqual({});
    expect((await act("GetAsset", { Id: AssetId, ProjectName: "film" })).status).toBe(404);
  });

  test("is found only in its own project and account", async () => {
    const Id = await createGroup();
    const otherProject = await act("GetAssetGroup", { Id, ProjectName: "film" });
    expect([otherProject.status, otherProject.body.at("ResponseMetadata", "Error", "Code")]).toEqual([
      404,
      "NotFound.group_id",
    ]);
    const otherAccount = await act("GetAssetGroup", { Id }, { accessKeyId: "AKOTHER", secret: "another" });
    expect(otherAccount.status).toBe(404);
  });

  test.each([
    ["CreateAssetGroup", {}, "MissingParameter"],
    ["CreateAssetGroup", { Name: "x".repeat(65) }, "InvalidParameter"],
    ["CreateAssetGroup", { Name: "x", GroupType: "LivenessFace" }, "InvalidParameter"],
    ["ListAssetGroups", { Filter: {} }, "MissingParameter"],
    ["ListAssets", { Filter: { GroupType: "AIGC" } }, "MissingParameter"],
    ["ListAssets", { Filter: { GroupType: "AIGC" }, PageNumber: 1, PageSize: 101 }, "InvalidParameter"],
    ["GetAsset", {}, "MissingParameter"],
  ])("refuses %s with %j", async (action, body, code) => {
    const { status, body: answer } = await act(action, body);
    expect([status, answer.at("ResponseMetadata", "Error", "Code")]).toEqual([400, code]);
  });
});

describe("an asset", () => {
  test("is Processing at first, then Active with a working link", async () => {
    const Id = await createAsset({ running_ms: 60_000 }, { Name: "face", Moderation: { Strategy: "Skip" } });
    expect((await act("GetAsset", { Id })).body.at("Result", "Status")).toBe("Processing");
    setSystemTime(Date.now() + 60_000);
    const shown = await act("GetAsset", { Id });
    expect(shown.body.at("Result", "Status")).toBe("Active");
    expect(shown.body.at("Result")).toMatchObject({
      Id,
      Name: "face",
      AssetType: "Image",
      Moderation: { Strategy: "Skip" },
    });
    expect((await fetch(shown.body.text("Result", "URL"))).headers.get("content-type")).toBe("image/png");
  });

  test("can be scripted to fail, and states the reason", async () => {
    const Id = await createAsset({
      running_ms: 0,
      ends: "failed",
      error_code: "InputImageSensitiveContentDetected.PrivacyInformation",
    });
    expect((await act("GetAsset", { Id })).body.at("Result")).toMatchObject({
      Status: "Failed",
      Error: { Code: "InputImageSensitiveContentDetected.PrivacyInformation", Message: expect.any(String) },
    });
  });

  test("can be listed by state and group, renamed and deleted", async () => {
    const GroupId = await createGroup();
    const video = { GroupId, URL: "https://x/v.mp4", AssetType: "Video" };
    const first = await createdId("CreateAsset", video, { running_ms: 0 });
    await createdId("CreateAsset", video, { running_ms: 600_000 });
    const Filter = { GroupType: "AIGC", GroupIds: [GroupId] };
    const pages = { PageNumber: 1, PageSize: 10 };
    const count = async (filter: object) =>
      (await act("ListAssets", { Filter: { ...Filter, ...filter }, ...pages })).body.at("Result", "TotalCount");
    expect([await count({}), await count({ Statuses: ["Active"] }), await count({ Statuses: ["Failed"] })]).toEqual([
      2, 1, 0,
    ]);
    await act("UpdateAsset", { Id: first, Name: "clip" });
    expect(await count({ Name: "clip" })).toBe(1);
    await act("DeleteAsset", { Id: first });
    expect(await count({})).toBe(1);
  });

  test.each([
    ["an invalid URL", { URL: "data:image/png;base64,AA==" }],
    ["an unknown type", { AssetType: "Text" }],
    ["an unknown strategy", { Moderation: { Strategy: "Never" } }],
  ])("with %s is refused", async (_what, fields) => {
    const body = { GroupId: await createGroup(), URL: "https://x/a.png", AssetType: "Image", ...fields };
    expect((await act("CreateAsset", body)).body.at("ResponseMetadata", "Error", "Code")).toBe("InvalidParameter");
  });

  test("takes presets under the name of the action", async () => {
    const body = { GroupId: await createGroup(), URL: "https://x/a.png", AssetType: "Image" };
    running.simulator.addPreset({
      script: { status: 403, error_code: "SubscriptionRequired" },
      count: 1,
      model: "CreateAsset",
    });
    expect((await act("CreateAsset", body)).body.at("ResponseMetadata", "Error", "Code")).toBe("SubscriptionRequired");
    expect((await act("CreateAsset", body)).status).toBe(200);
  });
});

describe("an asset in a task", () => {
  async function statusFor(id: string, apiKey = "ark-one", kind = "image"): Promise<number> {
    const item = { type: `${kind}_url`, [`${kind}_url`]: { url: `asset://${id}` }, role: `reference_${kind}` };
    const body = { model: "doubao-seedance-2-0-260128", content: [{ type: "text", text: "Image 1 walks" }, item] };
    const headers = { authorization: `Bearer ${apiKey}` };
    const path = "/api/v3/contents/generations/tasks";
    return (await taskCall(running, path, { body, headers, script: stuck.queued })).status;
  }

  test("must be Active, of the requested kind, and in the account and project of the key", async () => {
    const active = await createAsset({ running_ms: 0 });
    const processing = await createAsset({ running_ms: 600_000 });
    const failed = await createAsset({ running_ms: 0, ends: "failed" });
    const GroupId = await createGroup({ ProjectName: "film" });
    const assetInFilm = { GroupId, URL: "https://x/a.png", AssetType: "Image", ProjectName: "film" };
    const otherProject = await createdId("CreateAsset", assetInFilm, { running_ms: 0 });
    expect(await statusFor(active)).toBe(200);
    expect(await statusFor(active, "ark-one", "video")).toBe(400);
    expect(await statusFor(active, "ark-two")).toBe(400);
    expect(await statusFor(active, "ark-unknown")).toBe(400);
    expect([await statusFor(processing), await statusFor(failed), await statusFor(otherProject)]).toEqual([
      400, 400, 400,
    ]);
  });

  test("of the default account can be used with every key", async () => {
    const simulator = serveSimulator();
    const query = "Action=CreateAssetGroup&Version=2024-01-01";
    const headers = volcSigned({ query, host: `127.0.0.1:${simulator.port}`, body: '{"Name":"x"}', date: volcDate() });
    const { body } = await taskCall(simulator, `/?${query}`, { body: { Name: "x" }, headers });
    expect(body.text("Result", "Id")).toStartWith("group-");
    simulator.stop();
  });
});

test("a person who follows the link creates a group for themselves, once", async () => {
  const opened = await act("CreateVisualValidateSession", { CallbackURL: "https://caller.example/done?x=1" });
  const BytedToken = opened.body.text("Result", "BytedToken");
  expect((await act("GetVisualValidateResult", { BytedToken })).status).toBe(404);
  const page = await taskCall(running, opened.body.text("Result", "H5Link"));
  expect(page.headers.get("location")).toBe("https://caller.example/done?x=1&resultCode=10000");
  const Id = (await act("GetVisualValidateResult", { BytedToken })).body.text("Result", "GroupId");
  expect((await act("GetAssetGroup", { Id })).body.at("Result", "GroupType")).toBe("LivenessFace");
  expect((await act("DeleteAssetGroup", { Id })).status).toBe(403);
  expect((await act("GetVisualValidateResult", { BytedToken })).status).toBe(404);
});
