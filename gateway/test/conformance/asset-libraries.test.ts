import { describe, expect, test } from "bun:test";
import { createSimulator } from "@sluice/simulator";
import { type AssetLibrary, type GoodAnswer, type OutboundDraft, providerKind } from "#providers/index.ts";
import { providerOf } from "../provider-fixture.ts";

/** The simulator has its own implementation of the signature check. */
const simulator = createSimulator();

async function send(draft: OutboundDraft): Promise<GoodAnswer> {
  const { url, method, headers, body } = draft;
  const answer = await simulator.fetch(new Request(url, { method, headers, body }));
  return { status: answer.status, headers: answer.headers, body: new Uint8Array(await answer.arrayBuffer()) };
}

function libraryOf(kind: string): AssetLibrary {
  const library = providerKind(kind)?.library;
  if (library === undefined) throw new Error(`${kind} has no library`);
  return library;
}

describe.each(["ark", "byteplus"])("the asset library of %s", (kind) => {
  const library = libraryOf(kind);
  const keys = { access_key_id: "AKTESTEXAMPLE", secret_access_key: "SecretKeyExample==" };
  const provider = providerOf(kind, { settings: keys });
  const group = { name: "people", description: "a cast", projectName: "" };
  const url = "https://pictures.example/a.png";

  test("creates, reads and deletes a group and an asset", async () => {
    const now = Date.now();
    const upstreamGroupId = library.readId(await send(library.createGroup(provider, group, now)));
    const libraryGroup = { upstreamId: upstreamGroupId, projectName: "" };
    const assetFields = { upstreamGroupId, url, type: "Image", name: "face", projectName: "" } as const;
    const upstreamId = library.readId(await send(library.createAsset(provider, assetFields, now)));
    const asset = { upstreamId, projectName: "" };
    const read = library.readAsset(await send(library.getAsset(provider, asset, now)));
    expect(["Processing", "Active"]).toContain(read.status);
    expect(read).toMatchObject({ upstreamId, error: null });
    expect((await send(library.deleteAsset(provider, asset, now))).status).toBe(200);
    const again = await send(library.getAsset(provider, asset, now));
    expect(library.classify({ ...again, now }).gone).toBe(true);
    expect((await send(library.deleteGroup(provider, libraryGroup, now))).status).toBe(200);
  });

  test("rejects another key's signature, as a failure of the account that callers do not see", async () => {
    const stranger = providerOf(kind, { settings: { ...keys, secret_access_key: "another" } });
    const answer = await send(library.createGroup(stranger, group, Date.now()));
    const { gone, failure } = library.classify({ ...answer, now: Date.now() });
    expect(gone).toBe(false);
    expect(failure).toMatchObject({ retry: "other", unhealthy: true, upstream: undefined });
  });
});
