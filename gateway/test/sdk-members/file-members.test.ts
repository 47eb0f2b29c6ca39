import { afterAll, beforeAll, expect, test } from "bun:test";
import { png } from "../endpoints/assets/upload-form.ts";
import { fileForm, startFilesGateway, strangerKey, upload } from "../endpoints/files/files-gateway.ts";
import { aliceKey, type StartedGateway, upstream } from "../started-gateway.ts";
import { pathOf } from "../translation/fields/samples.ts";
import { readTypes } from "../translation/fields/vendor-types.ts";
import { bodyWith, membersOf, type Occurrence } from "./members.ts";
import { requestTypes } from "./request-types.ts";

/** Every member of a request in the official SDKs that can name a file, sent through a gateway with accounts of all three vendors. */
const members: ReadonlySet<string> = new Set([
  ...["file_id", "file_ids", "input_file_id", "fileUri", "uri", "fileName"],
  ...["training_file", "validation_file"],
]);

const objectTypes = `
export type openai_container = OpenAI.ContainerCreateParams;
export type openai_container_file = Pick<OpenAI.Containers.FileCreateParams, "file_id">;
export type openai_store = OpenAI.VectorStoreCreateParams;
export type openai_store_file = OpenAI.VectorStores.FileCreateParams;
export type openai_file_batch = OpenAI.VectorStores.FileBatchCreateParams;
export type openai_conversation = OpenAI.Conversations.ConversationCreateParams;
export type openai_items = Omit<OpenAI.Conversations.ItemCreateParams, "include">;
export type openai_batch = OpenAI.BatchCreateParams;
export type openai_tuning = Pick<OpenAI.FineTuning.JobCreateParams, "model" | "training_file" | "validation_file">;
`;

type Target = readonly [path: string, base: Readonly<Record<string, unknown>>];
const openaiInput = { model: "openai", input: "hi" };
const messages = [{ role: "user", content: "hi" }];
const targets: Readonly<Record<string, Target>> = {
  openai_chat: ["/v1/chat/completions", { model: "openai", messages }],
  openai_responses: ["/v1/responses", openaiInput],
  openai_beta_responses: ["/v1/responses", openaiInput],
  openai_input_tokens: ["/v1/responses/input_tokens", openaiInput],
  openai_compact: ["/v1/responses/compact", openaiInput],
  anthropic_messages: ["/v1/messages", { model: "anthropic", max_tokens: 9, messages }],
  anthropic_count_tokens: ["/v1/messages/count_tokens", { model: "anthropic", messages }],
  anthropic_beta_messages: ["/v1/messages", { model: "anthropic", max_tokens: 9, messages }],
  anthropic_beta_count_tokens: ["/v1/messages/count_tokens", { model: "anthropic", messages }],
  google_generate: ["/v1beta/models/gemini:generateContent", { contents: [{ role: "user", parts: [{ text: "hi" }] }] }],
  google_embed: ["/v1beta/models/gemini:embedContent", { content: { parts: [{ text: "hi" }] } }],
  interactions_agent: ["/v1beta/interactions", { agent: "gemini", input: "hi" }],
  interactions_model: ["/v1beta/interactions", { model: "gemini", input: "hi" }],
  openai_container: ["/v1/containers", { name: "work" }],
  openai_container_file: ["/v1/containers/{containers}/files", {}],
  openai_store: ["/v1/vector_stores", { name: "docs" }],
  openai_store_file: ["/v1/vector_stores/{vector_stores}/files", {}],
  openai_file_batch: ["/v1/vector_stores/{vector_stores}/file_batches", {}],
  openai_conversation: ["/v1/conversations", {}],
  openai_items: ["/v1/conversations/{conversations}/items", {}],
  openai_batch: ["/v1/batches", { endpoint: "/v1/responses", completion_window: "24h" }],
  openai_videos: ["/v1/videos", { model: "film", prompt: "hi" }],
  openai_tuning: ["/v1/fine_tuning/jobs", { model: "openai" }],
};

let gateway: StartedGateway;
/** Forwards to the simulator. */
let vendor: ReturnType<typeof startVendor>;
/** Bodies that the accounts received, except uploads of files. */
let sent: string[] = [];

function startVendor(simulator: { readonly url: string }) {
  const { origin } = new URL(simulator.url);
  return Bun.serve({
    idleTimeout: 0,
    port: 0,
    async fetch({ method, url, headers, body: stream }) {
      const { pathname, search } = new URL(url);
      const body = stream === null ? null : await new Response(stream).bytes();
      if (method === "POST" && !/\/v1(?:beta)?\/files$/.test(pathname))
        sent.push(new TextDecoder().decode(body ?? new Uint8Array(0)));
      return await fetch(`${origin}${pathname}${search}`, { method, headers, body });
    },
  });
}

let cases: readonly Occurrence[];
/** The part of the id of a workspace's picture that every dialect shares. */
let stem: string;
/** Objects of the two workspaces, by their collection. */
const objects = new Map<string, Readonly<Record<string, string>>>();

beforeAll(async () => {
  const types = await readTypes(requestTypes + objectTypes);
  cases = [...types].flatMap(([root, shape]) =>
    membersOf(root, shape).filter((one) => members.has(one.member.name) && !isOrigin(one) && !isOther(one)),
  );
  gateway = await startFilesGateway({
    providers: (simulator) => {
      vendor = startVendor(simulator);
      const base_url = `http://127.0.0.1:${vendor.port}/v1`;
      return (["openai", "anthropic", "gemini"] as const).map((kind) => upstream(kind, simulator, { kind, base_url }));
    },
    models: [
      ...["openai", "anthropic", "gemini"].map((provider) => ({
        name: provider,
        deployments: [{ provider, upstream_model: `up-${provider}` }],
        price: { input: 1, output: 10, image: 1 },
      })),
      {
        name: "film",
        type: "video",
        deployments: [{ provider: "openai", upstream_model: "sora-2" }],
        price: { video: 1 },
      },
    ],
  });
  stem = (await upload(gateway, fileForm({ purpose: "vision" }, png(1, 1), "a.png"))).id.slice("file-".length);
  for (const key of [aliceKey, strangerKey]) {
    const made = ["containers", "vector_stores", "conversations"].map(async (collection) => {
      const answer = await gateway.post(`/v1/${collection}`, { name: "mine" }, { key });
      return [collection, ((await answer.json()) as { id: string }).id];
    });
    objects.set(key, Object.fromEntries(await Promise.all(made)));
  }
});
afterAll(async () => {
  await gateway.stop();
  await vendor.stop(true);
});

/** Parts of earlier answers that give the source of something. They do not name an object to read. */
function isOrigin({ owner }: Occurrence): boolean {
  return /Citation|OutputBlock|CodeInterpreterToolCall$|^FilePath$|^Result$/.test(owner);
}

/** Addresses of pages and of what is not a file. */
function isOther({ root, owner, member: { name } }: Occurrence): boolean {
  return name === "uri" && (!root.startsWith("interactions") || !/Content|Part/.test(owner));
}

const shown = (one: Occurrence, { status, problem, sent }: Awaited<ReturnType<typeof send>>) =>
  `${one.root}: ${pathOf(one.steps)}: ${status} ${problem.slice(0, 200)}, ${sent.length} sent`;

async function send(one: Occurrence, id: string, key: string) {
  const [path, base] = targets[one.root] as Target;
  const inGoogles = one.root.startsWith("google") || one.root.startsWith("interactions");
  const name = inGoogles ? `files/${id}` : `${one.root.startsWith("anthropic") ? "file_" : "file-"}${id}`;
  const { body } = bodyWith(one, base);
  const text = JSON.stringify(body).replaceAll(
    /"(?:a (?:file_ids?|input_file_id|training_file|validation_file)|files\/abc)"/g,
    `"${name}"`,
  );
  const to = path.replace(/\{(\w+)\}/, (_, collection: string) => objects.get(key)?.[collection] ?? "");
  sent = [];
  const headers = path.startsWith("/v1/messages") ? { "anthropic-version": "2023-06-01", ...betas } : {};
  const answer = await gateway.post(to, text, { key, headers });
  const problem = (await answer.text()).replaceAll(/req_\w+|[0-9a-hjkmnp-tv-z]{26}/g, "?");
  return { status: answer.status, problem, sent, named: text.includes(name) };
}

const betas = { "anthropic-beta": "files-api-2025-04-14" };

test("finds the members of all dialects, and has an endpoint for each of their types", () => {
  expect(cases.map(({ root }) => root).filter((root) => targets[root] === undefined)).toEqual([]);
  const found = new Set(cases.map(({ root, member }) => `${root}.${member.name}`));
  for (const name of [
    ...["openai_chat.file_id", "openai_responses.file_id", "openai_responses.file_ids", "openai_compact.file_id"],
    ...["anthropic_messages.file_id", "google_generate.fileUri", "interactions_model.uri", "openai_videos.file_id"],
    ...["openai_container.file_ids", "openai_container_file.file_id", "openai_store.file_ids", "openai_items.file_id"],
    ...[
      "openai_store_file.file_id",
      "openai_file_batch.file_ids",
      "openai_batch.input_file_id",
      "openai_tuning.training_file",
    ],
  ]) {
    expect(found).toContain(name);
  }
});

test("each answers for another workspace's file like for a missing one, and nothing is sent", async () => {
  const wrong: string[] = [];
  for (const one of cases) {
    const theirs = await send(one, stem, strangerKey);
    const missing = await send(one, "0".repeat(26), strangerKey);
    const isRefused = theirs.status === 404 && theirs.sent.length === 0 && theirs.named;
    if (!isRefused || theirs.problem !== missing.problem) wrong.push(shown(one, theirs));
  }
  expect(wrong).toEqual([]);
});

test("each is replaced by the account's copy, or refused by a clear error", async () => {
  const wrong: string[] = [];
  let replaced = 0;
  for (const one of cases) {
    const own = await send(one, stem, aliceKey);
    const copies = gateway.simulator.simulator.files.list().map(({ id }) => id);
    const isRaw = own.sent.some((text) => text.includes(stem));
    const isCopied = own.sent.some((text) => copies.some((id) => text.includes(id)));
    if (isCopied) replaced++;
    const isClear = own.status >= 400 && own.status < 500 && own.sent.length === 0 && own.problem.includes("message");
    if (isRaw || !(isCopied || isClear)) wrong.push(shown(one, own));
  }
  expect(wrong).toEqual([]);
  expect(replaced).toBeGreaterThan(20);
});

test("an account's own id of a file is refused like a missing one", async () => {
  const wrong: string[] = [];
  for (const one of cases) {
    const named = await send(one, "of-acme", strangerKey);
    if (named.status !== 404 || named.sent.length > 0) wrong.push(shown(one, named));
  }
  expect(wrong).toEqual([]);
});
