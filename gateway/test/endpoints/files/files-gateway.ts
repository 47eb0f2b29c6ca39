import { readdirSync } from "node:fs";
import { join } from "node:path";
import { until } from "../../../../test/until.ts";
import { aliceKey, type Overrides, type StartedGateway, startGateway, upstream } from "../../started-gateway.ts";

export const strangerKey = "sk-mallory-0123456789abcdefgh";
export const powerlessKey = "sk-nobody-0123456789abcdefghi";

/** Accounts of the three vendors with files, and two workspaces. */
const filesGateway: Overrides = {
  providers: (simulator) =>
    (["openai", "anthropic", "gemini"] as const).map((kind) => upstream(kind, simulator, { kind })),
  models: ["openai", "anthropic", "gemini"].map((provider) => ({
    name: provider,
    deployments: [{ provider, upstream_model: `up-${provider}` }],
    price: { input: 1, output: 10 },
  })),
  keys: [
    { name: "alice", secret: aliceKey },
    { name: "nobody", secret: powerlessKey, models: ["no-such-model"] },
  ],
  moreWorkspaces: [{ slug: "rival", keys: [{ name: "mallory", secret: strangerKey }] }],
};

export const startFilesGateway = (more: Overrides = {}): Promise<StartedGateway> =>
  startGateway({ ...filesGateway, ...more });

export const bearer = (key = aliceKey) => ({ authorization: `Bearer ${key}` });

export function fileForm(
  fields: Readonly<Record<string, string>>,
  bytes: string | Uint8Array<ArrayBuffer> | null,
  name = "notes.txt",
): FormData {
  const form = new FormData();
  for (const [field, value] of Object.entries(fields)) form.append(field, value);
  if (bytes !== null) form.append("file", new Blob([bytes]), name);
  return form;
}

export type FileBody = { readonly id: string; readonly [member: string]: unknown };

/** Uploads as OpenAI's clients do. */
export async function upload(
  gateway: StartedGateway,
  form: FormData,
  headers: Record<string, string> = bearer(),
): Promise<FileBody> {
  const answer = await fetch(`${gateway.url}/v1/files`, { method: "POST", headers, body: form });
  const text = await answer.text();
  if (answer.status !== 200) throw new Error(`${answer.status} ${text}`);
  return JSON.parse(text) as FileBody;
}

/** Names of the stored bytes. */
export function storedBytes({ dataDir }: StartedGateway): readonly string[] {
  const folder = join(dataDir, "blobs", "files");
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((each) => each.isFile())
    .map(({ name }) => name);
}

/** Resolves when only these bytes are stored, and nothing is spooled. */
export async function untilStored(gateway: StartedGateway, hashes: readonly string[]): Promise<void> {
  const expected = [...hashes].sort().join();
  await until(() => [...storedBytes(gateway)].sort().join() === expected);
  await until(() => readdirSync(join(gateway.dataDir, "spool")).length === 0);
}
