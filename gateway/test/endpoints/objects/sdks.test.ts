import { afterAll, beforeAll, expect, test } from "bun:test";
import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";
import { aliceKey, type StartedGateway } from "../../started-gateway.ts";
import { bearer, powerlessKey, startFilesGateway, strangerKey } from "../files/files-gateway.ts";

/** The vendors' documented examples, run with their own SDKs. */
let gateway: StartedGateway;
beforeAll(async () => {
  gateway = await startFilesGateway();
});
afterAll(() => gateway.stop());

const openAi = (apiKey = aliceKey) => new OpenAI({ apiKey, baseURL: `${gateway.url}/v1`, maxRetries: 0 });
const claude = (apiKey = aliceKey) => new Anthropic({ apiKey, baseURL: gateway.url, maxRetries: 0 });
const statusOf = async (call: PromiseLike<unknown>): Promise<unknown> => {
  try {
    return await call;
  } catch (thrown) {
    return (thrown as { status?: unknown }).status;
  }
};
async function idsOf(list: AsyncIterable<{ id?: string | undefined }>): Promise<readonly (string | undefined)[]> {
  const ids: (string | undefined)[] = [];
  for await (const { id } of list) ids.push(id);
  return ids;
}
const skillFile = () => new File(["---\nname: skill\n---\n"], "skill/SKILL.md", { type: "text/markdown" });

test("conversations: created, read, grown, used by a response and deleted, by their workspace alone", async () => {
  const client = openAi();
  const stranger = openAi(strangerKey);
  const items = [{ type: "message", role: "user", content: "Hello!" }] as const;
  const { id } = await client.conversations.create({ items: [...items], metadata: { topic: "demo" } });
  expect(await client.conversations.retrieve(id)).toMatchObject({ id, metadata: { topic: "demo" } });
  const added = await client.conversations.items.create(id, { items: [...items] });
  const item = added.data[0]?.id ?? "";
  expect((await idsOf(client.conversations.items.list(id))).length).toBe(2);
  expect(await client.conversations.items.retrieve(item, { conversation_id: id })).toMatchObject({ id: item });
  await client.conversations.update(id, { metadata: { topic: "other" } });
  const response = await client.responses.create({ model: "openai", input: "And?", conversation: id });
  expect(response.status).toBe("completed");
  expect(await statusOf(stranger.conversations.retrieve(id))).toBe(404);
  expect(await statusOf(stranger.conversations.items.list(id))).toBe(404);
  expect(await statusOf(stranger.conversations.delete(id))).toBe(404);
  await client.conversations.items.delete(item, { conversation_id: id });
  expect(await client.conversations.retrieve(id)).toMatchObject({ id });
  expect(await client.conversations.delete(id)).toMatchObject({ id, deleted: true });
  expect(await statusOf(client.conversations.retrieve(id))).toBe(404);
});

test("containers: a list has the workspace's own, and a file is the account's copy of the workspace's", async () => {
  const client = openAi();
  const stranger = openAi(strangerKey);
  const file = await client.files.create({ file: new File(["a,b"], "a.csv"), purpose: "user_data" });
  const container = await client.containers.create({ name: "work", file_ids: [file.id] });
  const others = await stranger.containers.create({ name: "theirs" });
  expect(await idsOf(client.containers.list())).toEqual([container.id]);
  expect(await idsOf(stranger.containers.list())).toEqual([others.id]);
  const second = await client.containers.create({ name: "second" });
  expect(await idsOf(client.containers.list({ limit: 1 }))).toEqual([second.id, container.id]);
  const made = await client.containers.files.create(container.id, { file: new File(["x"], "x.txt") });
  expect(made.path).toBe("/mnt/data/x.txt");
  const content = await client.containers.files.content.retrieve(made.id, { container_id: container.id });
  expect([content.headers.get("content-type"), await content.text()]).toEqual(["application/octet-stream", "x"]);
  await client.containers.files.create(container.id, { file_id: file.id });
  expect((await idsOf(client.containers.files.list(container.id))).length).toBe(3);
  expect(await statusOf(stranger.containers.files.list(container.id))).toBe(404);
  const theirs = await stranger.files.create({ file: new File(["c"], "c.csv"), purpose: "user_data" });
  expect(await statusOf(client.containers.create({ name: "stolen", file_ids: [theirs.id] }))).toBe(404);
  await client.containers.files.delete(made.id, { container_id: container.id });
  expect(await client.containers.retrieve(container.id)).toMatchObject({ id: container.id, memory_limit: "1g" });
  await client.containers.delete(container.id);
  expect(await statusOf(client.containers.retrieve(container.id))).toBe(404);
  expect(await idsOf(client.containers.list())).toEqual([second.id]);
});

test("skills of OpenAI", async () => {
  const client = openAi();
  const skill = await client.skills.create({ files: [skillFile()] });
  const version = await client.skills.versions.create(skill.id, { files: [skillFile()] });
  expect(version.skill_id).toBe(skill.id);
  expect(await client.skills.retrieve(skill.id)).toMatchObject({ id: skill.id, latest_version: "2" });
  expect(await idsOf(client.skills.list())).toEqual([skill.id]);
  expect(await idsOf(openAi(strangerKey).skills.list())).toEqual([]);
  expect(await statusOf(openAi(strangerKey).skills.content.retrieve(skill.id))).toBe(404);
  await client.skills.versions.delete("2", { skill_id: skill.id });
  expect(await client.skills.update(skill.id, { default_version: "1" })).toMatchObject({ default_version: "1" });
  await client.skills.delete(skill.id);
  expect(await statusOf(client.skills.retrieve(skill.id))).toBe(404);
});

test("the skills that Anthropic provides can be read by every workspace, and not changed", async () => {
  for (const client of [claude(), claude(strangerKey)]) {
    expect(await client.skills.retrieve("pptx")).toMatchObject({ id: "pptx", source: "anthropic" });
  }
  expect(await statusOf(claude().skills.delete("pptx"))).toBe(404);
  expect(await statusOf(claude().skills.retrieve("no-such-skill"))).toBe(404);
  expect(await statusOf(openAi().skills.retrieve("pptx"))).toBe(404);
  expect(await statusOf(claude(powerlessKey).skills.retrieve("pptx"))).toBe(404);
});

test("skills of Anthropic, at the same paths", async () => {
  const client = claude();
  const skill = await client.skills.create({ files: [skillFile()] });
  expect(skill.type).toBe("skill");
  const other = await client.skills.create({ files: [skillFile()] });
  expect(await idsOf(client.skills.list({ limit: 1 }))).toEqual([other.id, skill.id]);
  expect(await idsOf(openAi().skills.list())).toEqual([]);
  expect(await statusOf(claude(strangerKey).skills.retrieve(skill.id))).toBe(404);
  await client.skills.delete(skill.id);
  expect(await idsOf(client.skills.list())).toEqual([other.id]);
});

test("vector stores: files and searches, named by the workspace's ids", async () => {
  const client = openAi();
  const file = await client.files.create({ file: new File(["text"], "a.txt"), purpose: "assistants" });
  const store = await client.vectorStores.create({ name: "docs" });
  const added = await client.vectorStores.files.create(store.id, { file_id: file.id });
  expect(added.id).toBe(file.id);
  expect((await client.vectorStores.files.retrieve(file.id, { vector_store_id: store.id })).id).toBe(file.id);
  expect((await client.vectorStores.files.delete(file.id, { vector_store_id: store.id })).id).toBe(file.id);
  expect(await statusOf(client.vectorStores.files.retrieve(file.id, { vector_store_id: store.id }))).toBe(404);
  await client.vectorStores.fileBatches.create(store.id, { file_ids: [file.id] });
  expect((await client.vectorStores.search(store.id, { query: "text" })).data.length).toBe(1);
  expect(await idsOf(client.vectorStores.list())).toEqual([store.id]);
  expect(await statusOf(openAi(strangerKey).vectorStores.search(store.id, { query: "text" }))).toBe(404);
  await client.vectorStores.delete(store.id);
  expect(await statusOf(client.vectorStores.retrieve(store.id))).toBe(404);
});

test("leaves an object that its vendor has lost out of the list", async () => {
  const client = openAi();
  const { id } = await client.containers.create({ name: "expiring" });
  const vendor = gateway.simulator.url;
  await fetch(`${vendor}/v1/containers/${id}`, { method: "DELETE", headers: bearer("sk-upstream-of-openai") });
  expect(await idsOf(client.containers.list())).not.toContain(id);
  expect(await statusOf(client.containers.retrieve(id))).toBe(404);
});

test("an object is missing for a key of its workspace that may call no model of the account", async () => {
  const { id } = await openAi().conversations.create({});
  expect(await statusOf(openAi(powerlessKey).conversations.retrieve(id))).toBe(404);
  expect(await statusOf(openAi(powerlessKey).conversations.create({}))).toBe(404);
  expect(await statusOf(openAi("sk-wrong").conversations.retrieve(id))).toBe(401);
});
