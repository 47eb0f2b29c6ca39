import { describe, expect, test } from "bun:test";
import { Failure, type Provider } from "#core/index.ts";
import { type AssetLibrary, providerKind } from "#providers/index.ts";
import { kindOf, now, parsed, providerOf } from "../../../test/provider-fixture.ts";
import { answerOf } from "../../../test/video-fixture.ts";

const keys = { access_key_id: "AK", secret_access_key: "library-secret" };

function libraryOf(kind: string): AssetLibrary {
  const library = providerKind(kind)?.library;
  if (library === undefined) throw new Error(`${kind} has no library`);
  return library;
}

test("provides an asset library for Volcengine and BytePlus only", () => {
  expect([libraryOf("ark").platform, libraryOf("byteplus").platform]).toEqual(["volcengine", "byteplus"]);
  expect(providerKind("openai")?.library).toBeUndefined();
});

describe.each([
  ["ark", "https://open.volcengineapi.com/", "cn-beijing"],
  ["byteplus", "https://ark.ap-southeast-1.byteplusapi.com/", "ap-southeast-1"],
])("the asset library of %s", (kind, root, region) => {
  const library = libraryOf(kind);
  const provider = providerOf(kind, { settings: keys });
  const held = { upstreamId: "group-1", projectName: "" };

  test.each([
    [
      "CreateAssetGroup",
      library.createGroup(provider, { name: "n", description: "d", projectName: "p" }, now),
      { Name: "n", Description: "d", GroupType: "AIGC", ProjectName: "p" },
    ],
    ["DeleteAssetGroup", library.deleteGroup(provider, held, now), { Id: "group-1" }],
    [
      "CreateAsset",
      library.createAsset(
        provider,
        { upstreamGroupId: "group-1", url: "https://x.example/a.png", type: "Image", name: "a", projectName: "" },
        now,
      ),
      { GroupId: "group-1", URL: "https://x.example/a.png", AssetType: "Image", Name: "a" },
    ],
    [
      "GetAsset",
      library.getAsset(provider, { upstreamId: "asset-1", projectName: "p" }, now),
      { Id: "asset-1", ProjectName: "p" },
    ],
    ["DeleteAsset", library.deleteAsset(provider, { upstreamId: "asset-1", projectName: "" }, now), { Id: "asset-1" }],
  ])("builds a signed %s request", (action, draft, body) => {
    expect(draft).toMatchObject({ method: "POST", url: `${root}?Action=${action}&Version=2024-01-01` });
    expect(parsed(draft.body)).toEqual(body);
    expect(draft.headers["authorization"]).toStartWith(
      `HMAC-SHA256 Credential=AK/20260102/${region}/ark/request, SignedHeaders=host;x-content-sha256;x-date, Signature=`,
    );
    expect(JSON.stringify([draft.url, draft.headers, body])).not.toContain("library-secret");
  });
});

describe("the settings of an asset library", () => {
  const library = libraryOf("ark");
  const withSettings = (settings: Provider["settings"]): Provider => providerOf("ark", { settings });
  const check = (settings: Provider["settings"]): string | null | undefined =>
    kindOf("ark").checkSettings?.(withSettings(settings));

  test("uses the URL, project and session token from the settings", () => {
    const provider = withSettings({
      ...keys,
      session_token: "sts",
      region: "eu-west-1",
      openapi_url: "http://127.0.0.1:9999",
      project_name: "films",
    });
    const draft = library.getAsset(provider, { upstreamId: "asset-1", projectName: "" }, now);
    expect(draft.url).toBe("http://127.0.0.1:9999/?Action=GetAsset&Version=2024-01-01");
    expect(parsed(draft.body)).toEqual({ Id: "asset-1", ProjectName: "films" });
    expect(draft.headers["x-security-token"]).toBe("sts");
    expect(draft.headers["authorization"]).toContain(
      "/eu-west-1/ark/request, SignedHeaders=host;x-content-sha256;x-date;x-security-token,",
    );
    const named = library.getAsset(provider, { upstreamId: "asset-1", projectName: "own" }, now);
    expect(parsed(named.body)).toEqual({ Id: "asset-1", ProjectName: "own" });
  });

  test("names the missing keys and builds no request without them", () => {
    expect(library.lacks(withSettings({}))).toContain("settings.access_key_id");
    expect(library.lacks(withSettings({ access_key_id: "AK" }))).toContain("settings.secret_access_key");
    expect(library.lacks(withSettings(keys))).toBeNull();
    expect(() => library.getAsset(withSettings({}), { upstreamId: "a", projectName: "" }, now)).toThrow(Failure);
  });

  test("rejects incomplete or invalid settings", () => {
    expect(check({})).toBeNull();
    expect(check(keys)).toBeNull();
    expect(check({ access_key_id: "AK" })).toContain("set together");
    for (const openapi_url of ["open.volcengineapi.com", "https://x.example/?Action=Other", 5]) {
      expect(check({ ...keys, openapi_url })).toContain("settings.openapi_url");
    }
  });
});

describe("a response of the asset library", () => {
  const library = libraryOf("ark");
  const result = (Result: unknown): ReturnType<typeof answerOf> =>
    answerOf({ ResponseMetadata: { RequestId: "r", Action: "GetAsset" }, Result });
  const refusal = (Code: string): object => ({ ResponseMetadata: { RequestId: "r", Error: { Code, Message: "m" } } });

  test("returns the id of the created object", () => {
    expect(library.readId(result({ Id: "asset-1" }))).toBe("asset-1");
    for (const none of [{}, { Id: "" }, { Id: 5 }, null]) expect(() => library.readId(result(none))).toThrow(Failure);
  });

  test.each([
    ["Processing", "Processing"],
    ["Active", "Active"],
    ["Failed", "Failed"],
    // A word that nobody has confirmed ends nothing.
    ["Inactive", "Processing"],
  ])("reads the asset status %s as %s", (word, status) => {
    const shown = library.readAsset(
      result({ Id: "asset-1", Status: word, URL: "https://x.example/s", Error: { Code: "Face", Message: "no" } }),
    );
    expect(shown).toEqual({
      upstreamId: "asset-1",
      status: status as "Active",
      url: "https://x.example/s",
      error: status === "Failed" ? { code: "Face", message: "no" } : null,
    });
  });

  test("fails for an invalid response or an error in the body", () => {
    for (const body of ["", "[]", "{}", '{"Result":{}}', '{"Result":{"Id":"a"}}']) {
      expect(() => library.readAsset(answerOf(body))).toThrow(expect.objectContaining({ code: "upstream_error" }));
    }
    expect(() => library.readId(answerOf(refusal("InvalidParameter")))).toThrow(
      expect.objectContaining({ retry: "never", upstream: expect.objectContaining({ status: 400 }) }),
    );
  });

  test.each([
    [404, "NotFound.group_id", true, "other"],
    [400, "NotFound.Id", true, "never"],
    [404, "NotFound.ProjectName", false, "other"],
    [403, "SubscriptionRequired", false, "other"],
    [401, "SignatureDoesNotMatch", false, "other"],
    [429, "FlowLimitExceeded", false, "same"],
    [500, "InternalError", false, "same"],
  ])("classifies %i %s as gone: %p, retry: %s", (status, code, gone, retry) => {
    const classified = library.classify({ ...answerOf(refusal(code), status), now });
    expect([classified.gone, classified.code]).toEqual([gone, code]);
    expect(classified.failure.retry).toBe(retry as Failure["retry"]);
    if (status === 401 || status === 403) expect(classified.failure.upstream).toBeUndefined();
  });

  test("does not report an asset as gone for another server's 404", () => {
    expect(library.classify({ ...answerOf("<html>", 404), now }).gone).toBe(false);
  });
});
