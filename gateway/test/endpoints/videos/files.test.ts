import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { ConfigFile } from "@sluice/contract";
import { bounds } from "#core/index.ts";
import { aliceKey, errorOf, type StartedGateway, startGateway, upstream } from "../../started-gateway.ts";
import { png } from "../assets/upload-form.ts";
import { fileForm, upload } from "../files/files-gateway.ts";
import { settledTask } from "../video-tasks/video-gateway.ts";
import { call, createVideo, endedVideo, path, sendForm, strangerKey } from "./videos-gateway.ts";

const bobKey = "sk-bob-0123456789abcdefghijklm";
const picture = png(8, 8);
const base64 = Buffer.from(picture).toString("base64");

/** An account of each vendor, and its model that takes a first frame. */
const accounts: readonly (readonly [kind: string, path: string, model: string, settings?: object])[] = [
  ["openai", "/v1", "sora-2"],
  ["azure-openai", "", "sora-2"],
  ["ark", "/api/v3", "doubao-seedance-2-0-260128"],
  ["gemini", "/v1beta", "veo-3.1-generate-preview"],
  [
    "vertex",
    "",
    "veo-3.1-generate-preview",
    { project: "tests", location: "europe-west4", storage_uri: "gs://bucket/videos" },
  ],
  ["dashscope", "/compatible-mode/v1", "wan2.5-i2v-preview"],
  ["minimax", "/v1", "MiniMax-Hailuo-02"],
  ["kling", "", "kling-v2-6", { access_key: "AKKLINGEXAMPLE" }],
  ["vidu", "", "viduq2"],
  ["runway", "", "gen4_turbo"],
  ["fal", "", "fal-ai/wan/v2.2-5b/image-to-video"],
  ["replicate", "/v1", "owner/name"],
  ["demo", "/v1", "demo-video"],
];

let gateway: StartedGateway;
/** The part of the id that every dialect shares. */
const stems: Record<string, string> = {};
beforeAll(async () => {
  gateway = await startGateway({
    providers: (simulator) => [
      ...accounts.map(([kind, at, , settings]) =>
        upstream(kind, simulator, {
          kind: kind as NonNullable<ConfigFile["providers"]>[number]["kind"],
          base_url: new URL(simulator.url).origin + at,
          ...(kind === "kling" ? { api_key: "kling-secret-example" } : {}),
          ...(settings === undefined ? {} : { settings: settings as Record<string, string> }),
        }),
      ),
      upstream("down", simulator, { kind: "openai", base_url: "http://127.0.0.1:9" }),
      upstream("second", simulator, { kind: "openai", api_key: "sk-second" }),
      upstream("open", simulator, { kind: "openai", settings: { pass_members: ["character_ids"] } }),
    ],
    models: [
      ...accounts.map(([kind, , model]) => film(kind, [{ provider: kind, upstream_model: model }])),
      film("failing", [
        { provider: "down", upstream_model: "sora-2", priority: 0 },
        { provider: "second", upstream_model: "sora-2", priority: 1 },
      ]),
      film("moving", [
        { provider: "down", upstream_model: "sora-2", priority: 0 },
        { provider: "ark", upstream_model: "doubao-seedance-2-0-260128", priority: 1 },
      ]),
      film("open", [{ provider: "open", upstream_model: "sora-2" }]),
    ],
    workspace: {
      groups: [{ name: "default" }, { name: "strict" }],
      keys: [
        { name: "alice", secret: aliceKey },
        { name: "bob", secret: bobKey, group: "strict" },
      ],
    },
    guardrails: [
      {
        name: "readable",
        check: { kind: "credentials" },
        action: "block",
        unreadable: "block",
        groups: ["acme/strict"],
      },
    ],
    moreWorkspaces: [{ slug: "rival", keys: [{ name: "mallory", secret: strangerKey }] }],
  });
  stems["picture"] = await stem(picture, "hero.png");
  stems["clip"] = await stem(new Uint8Array([0, 0, 0, 24, 0x66, 0x74, 0x79, 0x70]), "clip.mp4");
  stems["sound"] = await stem(new Uint8Array([0x49, 0x44, 0x33, 0, 1]), "song.mp3");
  stems["words"] = await stem("plain words", "words.txt");
  stems["nameless"] = await stem(picture, "picture");
});
afterAll(() => gateway.stop());

function film(name: string, deployments: readonly object[]): NonNullable<ConfigFile["models"]>[number] {
  return { name, type: "video", deployments, price: { video: 0.1 } } as NonNullable<ConfigFile["models"]>[number];
}

const stem = async (bytes: Uint8Array<ArrayBuffer> | string, name: string): Promise<string> =>
  (await upload(gateway, fileForm({ purpose: "vision" }, bytes, name))).id.slice("file-".length);
const named = (kind = "picture") => ({ file_id: `file-${stems[kind]}` });

const truth = () => gateway.simulator.simulator.truth.list().data;
/** Requests that created a video. Tasks of earlier tests are polled meanwhile. */
const creations = () =>
  truth().filter(({ method, path }) => method === "POST" && !path.endsWith("fetchPredictOperation"));
const lastSent = () => creations().at(-1);
const copies = () => gateway.simulator.simulator.files.list();

const request = { prompt: "She looks up." };

describe.each(accounts.map(([kind]) => kind))("%s", (model) => {
  test("makes a video from a file of the workspace, named in any dialect's form", async () => {
    for (const id of [`file-${stems["picture"]}`, `file_${stems["picture"]}`, `files/${stems["picture"]}`]) {
      const before = creations().length;
      const answer = await gateway.post(path, { ...request, model, input_reference: { file_id: id } });
      expect([answer.status, answer.status === 200 ? "" : await answer.text()]).toEqual([200, ""]);
      expect(creations().length).toBe(before + 1);
      const { body_text = "", parts = [] } = lastSent() ?? {};
      if (model === "azure-openai")
        expect(parts?.at(-1)).toMatchObject({ content_type: "image/png", size: picture.length });
      else if (model !== "openai") expect(body_text).toContain(base64);
      expect(body_text).not.toContain(stems["picture"]);
    }
  });
});

test("names an OpenAI account's copy, which is uploaded once", async () => {
  const fresh = await stem(png(9, 9), "fresh.png");
  const before = copies().length;
  const body = { ...request, model: "openai", seconds: "4", input_reference: { file_id: `file-${fresh}` } };
  const videos = await Promise.all([1, 2].map(() => createVideo(gateway, body)));
  const made = copies().slice(before);
  expect(made).toMatchObject([{ vendor: "openai", filename: "fresh.png", purpose: "vision" }]);
  expect(JSON.parse(lastSent()?.body_text ?? "{}")).toEqual({
    model: "sora-2",
    ...request,
    seconds: "4",
    input_reference: { file_id: made[0]?.id },
  });
  for (const { id } of videos) expect((await endedVideo(gateway, id)).status).toBe("completed");
});

test("uploads the file to the next account when the first one fails, and sends its bytes to another vendor", async () => {
  const fresh = { file_id: `file-${await stem(png(10, 10), "next.png")}` };
  const before = copies().length;
  expect(await createVideo(gateway, { ...request, model: "failing", input_reference: fresh })).toMatchObject({
    status: "queued",
  });
  expect(copies().slice(before)).toMatchObject([{ vendor: "openai", account: "Bearer sk-second" }]);
  expect(await createVideo(gateway, { ...request, model: "moving", input_reference: fresh })).toMatchObject({
    status: "queued",
  });
  expect(lastSent()?.body_text).toContain(Buffer.from(png(10, 10)).toString("base64"));
  expect(copies().length).toBe(before + 1);
});

test("reads the file's id in a form, as the official client writes it and as JSON", async () => {
  for (const fields of [
    { "input_reference[file_id]": named().file_id },
    { input_reference: JSON.stringify(named()) },
  ]) {
    const answer = await sendForm(gateway, { ...request, model: "ark", ...fields });
    expect(answer.status).toBe(200);
    expect(lastSent()?.body_text).toContain(base64);
  }
});

test("uses files as frames and references of a task, each with its own type", async () => {
  const post = (more: object) => gateway.post("/v1/video/tasks", { ...request, model: "ark", ...more });
  const frames = await post({ image: named(), last_frame: named() });
  expect(frames.status).toBe(200);
  expect(lastSent()?.body_text?.split(base64)).toHaveLength(3);
  const references = await post({ references: [named(), { ...named("sound"), type: "image" }] });
  expect(references.status).toBe(200);
  const { content } = JSON.parse(lastSent()?.body_text ?? "{}") as { content: { type: string }[] };
  expect(content.map(({ type }) => type)).toEqual(["text", "image_url", "audio_url"]);
  // This vendor takes videos by their URL only.
  const error = await errorOf(await post({ references: [named(), named("clip")] }));
  expect(error).toMatchObject({ status: 400, code: "InvalidParameter" });
  expect(lastSent()?.body_text).toContain("data:video/mp4;base64,");
});

test("answers for another workspace's file like for a missing one, and sends nothing", async () => {
  const before = creations().length;
  for (const [at, more, param] of [
    [path, (id: string) => ({ input_reference: { file_id: id } }), "input_reference.file_id"],
    ["/v1/video/tasks", (id: string) => ({ image: { file_id: id } }), "image.file_id"],
    ["/v1/video/tasks", (id: string) => ({ references: [{ file_id: id }] }), "references[0].file_id"],
  ] as const) {
    const send = async (id: string, key: string) => {
      const { message, ...error } = await errorOf(
        await gateway.post(at, { ...request, model: "ark", ...more(id) }, { key }),
      );
      return { ...error, message: message.replace(id, "?") };
    };
    const theirs = await send(`file-${stems["picture"]}`, strangerKey);
    expect(theirs).toMatchObject({ status: 404, code: "not_found", param });
    expect(theirs).toEqual(await send(`file-${"0".repeat(26)}`, strangerKey));
    // The account's own id of a copy, which another workspace may have.
    for (const id of [copies()[0]?.id ?? "", "file-of-acme"]) expect(await send(id, aliceKey)).toEqual(theirs);
  }
  expect(creations().length).toBe(before);
});

test("returns Anthropic's and OpenAI's error for an expired file, and 404 for a deleted one", async () => {
  const old = await stem("short-lived picture", "old.png");
  const input_reference = { file_id: `file-${old}` };
  const { kysely } = gateway.control.database;
  await kysely.updateTable("files").set({ expires_at: 1 }).where("id", "=", old).execute();
  const send = async () => errorOf(await gateway.post(path, { ...request, model: "ark", input_reference }));
  expect(await send()).toMatchObject({ status: 404, code: "file_expired", param: "input_reference.file_id" });
  expect((await call(gateway, "DELETE", `/v1/files/file-${old}`)).status).toBe(200);
  expect(await send()).toMatchObject({ status: 404, code: "not_found", param: "input_reference.file_id" });
});

test.each([
  ["a text", { image: "words" }, "image.file_id", "text/plain"],
  ["a file of no type", { image: "nameless" }, "image.file_id", "application/octet-stream"],
  ["a video as the first frame", { image: "clip" }, "image.file_id", "video/mp4"],
  ["a sound as the last frame", { last_frame: "sound" }, "last_frame.file_id", "audio/mpeg"],
  ["a text as a reference", { references: "words" }, "references[0].file_id", "text/plain"],
])("refuses %s, and names its type", async (_, files, param, type) => {
  const material = Object.entries(files).map(([name, kind]) => [
    name,
    name === "references" ? [named(kind)] : named(kind),
  ]);
  const body = { ...request, model: "ark", ...Object.fromEntries(material) };
  const error = await errorOf(await gateway.post("/v1/video/tasks", body));
  expect(error).toMatchObject({ status: 400, code: "invalid_request", param });
  expect(error.message).toContain(type);
});

test("refuses a file with a URL, an id that is no text, and files that are too large together", async () => {
  const send = async (more: object, at = path) =>
    errorOf(await gateway.post(at, { ...request, model: "ark", ...more }));
  const both = { ...named(), image_url: "https://pictures.example/a.png" };
  expect(await send({ input_reference: both })).toMatchObject({ status: 400, param: "input_reference" });
  expect(await send({ input_reference: { file_id: 7 } })).toMatchObject({ status: 400, param: "input_reference" });
  const image = { ...named(), url: "https://pictures.example/a.png" };
  expect(await send({ image }, "/v1/video/tasks")).toMatchObject({ status: 400, param: "image" });
  const bytes = new Uint8Array(bounds.inlinedFilesBytesMax + 1 - picture.length);
  const large = { file_id: `file-${await stem(bytes, "large.png")}` };
  expect((await gateway.post(path, { ...request, model: "ark", input_reference: large })).status).toBe(200);
  const error = await send({ references: [large, named(), named()] }, "/v1/video/tasks");
  expect(error).toMatchObject({ status: 400, code: "invalid_request", param: "references[0].file_id" });
  expect(error.message).toContain(String(bounds.inlinedFilesBytesMax + 1));
});

test("checks the file with the guardrails of the caller", async () => {
  const body = { ...request, model: "ark", input_reference: named() };
  const error = await errorOf(await gateway.post(path, body, { key: bobKey }));
  expect(error).toMatchObject({ status: 400, code: "guardrail_blocked" });
});

test("returns the first video for a repeated Idempotency-Key after its file was deleted, and 409 for another file", async () => {
  const file = `file-${await stem(png(11, 11), "gone.png")}`;
  const headers = { "idempotency-key": "with-file" };
  const send = (id: string) =>
    gateway.post(path, { ...request, model: "ark", input_reference: { file_id: id } }, { headers });
  const { id } = (await (await send(file)).json()) as { id: string };
  expect((await call(gateway, "DELETE", `/v1/files/${file}`)).status).toBe(200);
  const sent = creations().length;
  expect(await (await send(file)).json()).toMatchObject({ id });
  expect(await errorOf(await send(named().file_id))).toMatchObject({ status: 409, code: "idempotency_conflict" });
  expect(creations().length).toBe(sent);
});

test("fails a task, at no cost, if its file was deleted before it was sent", async () => {
  const file = `file-${await stem(png(12, 12), "gone.png")}`;
  const { kysely } = gateway.control.database;
  const task = await gateway.post("/v1/video/tasks", { ...request, model: "ark", image: { file_id: file } });
  const { id } = (await task.json()) as { id: string };
  expect((await call(gateway, "DELETE", `/v1/files/${file}`)).status).toBe(200);
  const sent = creations().length;
  // As a process leaves it that stops between the two.
  await kysely
    .updateTable("tasks")
    .set({ state: "accepted", upstream_id: null, due_at: 1, lease: null, leased_until: null })
    .where("id", "=", id)
    .execute();
  expect(await settledTask(gateway, id)).toMatchObject({
    status: "failed",
    error: { code: "not_found", message: expect.stringContaining(file) },
    cost: { amount_usd: 0 },
  });
  expect(creations().length).toBe(sent);
});

test.each([
  ["a file", { input_reference: { file_id: "file-of-acme" } }, "input_reference.file_id"],
  ["a file in a form's name", { "input_reference[file_id]": "file-of-acme" }, "input_reference[file_id]"],
  ["a file in JSON as text", { input_reference: '{"\\u0066ile_id":"file-of-acme"}' }, "input_reference.file_id"],
  ["a character", { character_ids: ["char_1"] }, "character_ids"],
  ["characters", { characters: [{ id: "char_1" }] }, "characters"],
  ["a list of files", { deep: [{ FileIds: ["file-of-acme"] }] }, "deep[0].FileIds"],
  [
    "a file of Google",
    { instances: [{ video: { uri: `https://a.example/v1beta/files/x:download` } }] },
    "instances[0].video.uri",
  ],
  ["Google's storage", { instances: [{ image: { gcsUri: "gs://other/x.png" } }] }, "instances[0].image.gcsUri"],
  ["an element of Kling", { element_list: [{ element_id: 7 }] }, "element_list[0].element_id"],
  ["a file in Ark's content", { content: [{ type: "image_url", file_id: "file-of-acme" }] }, "content[0].file_id"],
])("refuses %s of the account in a vendor's own field, and sends nothing", async (_, more, param) => {
  const before = creations().length;
  for (const model of ["openai", "ark", "gemini", "kling"]) {
    const error = await errorOf(await gateway.post("/v1/video/tasks", { ...request, model, ...more }));
    expect(error).toMatchObject({ status: 400, code: "invalid_request", param });
    expect(error.message).toContain("file_id");
  }
  expect(creations().length).toBe(before);
});

test("passes such a field to an account that allows it, and similar fields of other meaning", async () => {
  const open = await gateway.post("/v1/video/tasks", { ...request, model: "open", character_ids: ["char_1"] });
  expect(open.status).toBe(200);
  expect(lastSent()?.parts?.find(({ name }) => name === "character_ids")?.value).toBe('["char_1"]');
  const harmless = { negative_prompt: "gs://x, files/y", extra: { uri: "https://pictures.example/files/a.png" } };
  expect((await gateway.post("/v1/video/tasks", { ...request, model: "ark", ...harmless })).status).toBe(200);
  expect(JSON.parse(lastSent()?.body_text ?? "{}")).toMatchObject(harmless);
});

test("keeps the file's bytes out of the stored task", async () => {
  const { id } = await createVideo(gateway, { ...request, model: "ark", input_reference: named() });
  const { kysely } = gateway.control.database;
  const row = await kysely
    .selectFrom("task_requests")
    .select("request")
    .where("task_id", "=", id.replace("video_", "vt_"))
    .executeTakeFirstOrThrow();
  expect(String(row.request)).toContain(named().file_id);
  expect(String(row.request)).not.toContain(base64);
});
