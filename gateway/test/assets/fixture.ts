import { createHmac } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Assets, type AssetsDependencies, createAssetStore } from "#assets/index.ts";
import { type Asset, defaultTimeouts, type Provider, Secret } from "#core/index.ts";
import { ProviderClient } from "#provider-client/index.ts";
import { createDiskBlobStore } from "#storage/index.ts";
import { createIds } from "#system/index.ts";
import { until } from "../../../test/until.ts";
import { silentObserver } from "../conformance/store-fixture.ts";
import { FakeClock } from "../fake-clock.ts";
import { openMigrated } from "../migrated.ts";
import { quietConfigSnapshot } from "../quiet-config-snapshot.ts";
import { noWorkload } from "../workload-fixture.ts";
import { FakeLibrary } from "./fake-library.ts";
import { SmallWeb } from "./web.ts";

export const never = new AbortController().signal;

/** Two tenants. */
export const acme = "ws_acme";
export const other = "ws_other";

export interface AssetsFixture extends AsyncDisposable {
  readonly assets: Assets;
  readonly gateway: AssetsDependencies;
  readonly clock: FakeClock;
  readonly web: SmallWeb;
  /** Settings of every provider that `arkAccount` creates. */
  readonly library: FakeLibrary;
  readonly providers: Map<string, Provider>;
  /** Log messages at level warn and above. */
  readonly complaints: string[];
  publicUrl: string | null;
  /** A second gateway with the same database and blobs. */
  another(changes?: Partial<AssetsDependencies>): Assets;
  /** A group of acme on our own platform. */
  localGroup(): Promise<string>;
  /** Creates an asset from a URL and waits until it is Active or Failed. */
  settled(groupId: string, url: string, type?: string): Promise<Asset>;
  row(id: string, workspaceId?: string): Promise<Asset>;
}

/** The assets module with a real database and disk, a fake clock, and fake web pages. */
export async function openFixture(changes: Partial<AssetsDependencies> = {}): Promise<AssetsFixture> {
  const directory = mkdtempSync(join(tmpdir(), "sluice-assets-"));
  const clock = new FakeClock();
  const database = await openMigrated(join(directory, "sluice.db"));
  const web = new SmallWeb();
  const library = new FakeLibrary();
  web.page("https://open.volcengineapi.com", library.page);
  const providers = new Map<string, Provider>();
  const complaints: string[] = [];
  const started: Assets[] = [];
  const gateway: AssetsDependencies = {
    store: createAssetStore({ database }),
    blobs: createDiskBlobStore({ directory: join(directory, "blobs"), clock }),
    transport: web,
    providerClient: new ProviderClient(web, clock, noWorkload),
    configSnapshot: () => quietConfigSnapshot({ providers }),
    clock,
    ids: createIds(clock),
    chance: { unit: () => 0.5 },
    observer: {
      ...silentObserver,
      log: (level, message) => void (level === "warn" || level === "error" ? complaints.push(message) : 0),
    },
    signer: { sign: signed, signatures: (text) => [signed(text)] },
    publicUrl: () => fixture.publicUrl,
    ...changes,
  };
  const another = (more: Partial<AssetsDependencies> = {}): Assets => {
    const made = new Assets({ ...gateway, ...more });
    started.push(made);
    return made;
  };
  const assets = another();
  const row = async (id: string, workspaceId = acme): Promise<Asset> => {
    const found = await gateway.store.findAsset(workspaceId, id);
    if (found === null) throw new Error(`no asset ${id}`);
    return found;
  };
  const fixture: AssetsFixture = {
    assets,
    gateway,
    clock,
    web,
    library,
    providers,
    complaints,
    publicUrl: null,
    another,
    row,
    localGroup: async () => (await assets.createGroup(...groupCall({}))).id,
    async settled(groupId, url, type = "Image") {
      assets.start();
      const { id } = await assets.createAsset(...assetCall({ groupId, url, type }));
      await until(async () => (await row(id)).status !== "Processing");
      return row(id);
    },
    async [Symbol.asyncDispose]() {
      await Promise.all(started.map((one) => one.stop()));
      await database.close();
      rmSync(directory, { recursive: true, force: true });
    },
  };
  return fixture;
}

/** In this module's field names; a body has them in snake case. */
interface CallFields extends Readonly<Record<string, unknown>> {
  readonly workspaceId?: string;
  readonly signal?: AbortSignal;
}

export function groupCall({
  workspaceId = acme,
  signal = never,
  projectName: project_name,
  ...changes
}: CallFields): Parameters<Assets["createGroup"]> {
  return [workspaceId, { platform: "local", name: "Faces", description: "", project_name, ...changes }, signal];
}

export function assetCall({
  workspaceId = acme,
  signal = never,
  ...fields
}: CallFields): Parameters<Assets["createAsset"]> {
  const usual = { platform: "local", groupId: "", url: "https://a.example/x.png", type: "Image", name: "Anna" };
  const { groupId: group_id, type: asset_type, ...changes } = { ...usual, ...fields };
  return [workspaceId, { ...changes, group_id, asset_type }, signal];
}

export function arkAccount(id: string, changes: Partial<Provider> = {}): Provider {
  return {
    id,
    kind: "ark",
    baseUrl: "https://ark.cn-beijing.volces.com/api/v3",
    secret: new Secret("ark-key"),
    allowPrivateNetwork: false,
    timeouts: defaultTimeouts,
    disconnect: "cancel",
    settings: { access_key_id: "AKTEST", secret_access_key: "SKTEST" },
    enabled: true,
    ...changes,
  };
}

export const thrownBy = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => null,
    (thrown: unknown) => thrown,
  );

function signed(text: string): string {
  return createHmac("sha256", "a key of this test").update(text).digest("base64url");
}
