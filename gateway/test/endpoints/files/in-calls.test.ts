import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { until } from "../../../../test/until.ts";
import { errorOf, type StartedGateway, upstream } from "../../started-gateway.ts";
import { png } from "../assets/upload-form.ts";
import { bearer, fileForm, startFilesGateway, strangerKey, upload } from "./files-gateway.ts";

const pdf = Buffer.from("%PDF-1.7\n%âãÏÓ\nnot really\n%%EOF\n", "latin1");
const picture = png(8, 8);
const words = 'Words in "quotes" and 好.';

let gateway: StartedGateway;
/** Ids in the form of each dialect. */
let stems: Record<"pdf" | "picture" | "words" | "sound", string>;
beforeAll(async () => {
  gateway = await startFilesGateway({
    providers: (simulator) => [
      ...(["openai", "anthropic", "gemini"] as const).map((kind) => upstream(kind, simulator, { kind })),
      upstream("second", simulator, { kind: "openai", api_key: "sk-second" }),
      upstream("down", simulator, { kind: "openai", base_url: "http://127.0.0.1:9" }),
      upstream("plain", simulator, { kind: "openai-compatible" }),
    ],
    models: [
      ...["openai", "anthropic", "gemini", "plain"].map((provider) => ({
        name: provider,
        deployments: [{ provider, upstream_model: `up-${provider}` }],
        price: { input: 1, output: 10 },
      })),
      {
        name: "failing",
        deployments: [
          { provider: "down", upstream_model: "up", priority: 0 },
          { provider: "second", upstream_model: "up", priority: 1 },
        ],
      },
    ],
  });
  const stem = async (bytes: Uint8Array<ArrayBuffer> | string, name: string) =>
    (await upload(gateway, fileForm({ purpose: "user_data" }, bytes, name))).id.slice("file-".length);
  stems = {
    pdf: await stem(new Uint8Array(pdf), "report.pdf"),
    picture: await stem(picture, "photo.png"),
    words: await stem(words, "words.txt"),
    sound: await stem(new Uint8Array([0x49, 0x44, 0x33, 0, 1, 2]), "song.mp3"),
  };
});
afterAll(() => gateway.stop());
beforeEach(() => gateway.simulator.simulator.truth.clear());

const copies = () => gateway.simulator.simulator.files.list();
const sent = () => gateway.simulator.simulator.truth.list().data.at(-1)?.body_text ?? "";
const text = "What is in it?";
const version = { headers: { "anthropic-version": "2023-06-01" } };

type Kind = keyof typeof stems;
interface Dialect {
  readonly model: string;
  readonly path: (model: string) => string;
  readonly body: (model: string, kind: Kind) => object;
}

const dialects: Record<string, Dialect> = {
  chat: {
    model: "openai",
    path: () => "/v1/chat/completions",
    body: (model, kind) => ({
      model,
      messages: [
        {
          role: "user",
          content: [
            { type: "text", text },
            { type: "file", file: { file_id: `file-${stems[kind]}` } },
          ],
        },
      ],
    }),
  },
  responses: {
    model: "openai",
    path: () => "/v1/responses",
    body: (model, kind) => ({
      model,
      input: [
        {
          role: "user",
          content: [
            kind === "picture"
              ? { type: "input_image", detail: "auto", file_id: `file-${stems[kind]}` }
              : { type: "input_file", file_id: `file-${stems[kind]}` },
            { type: "input_text", text },
          ],
        },
      ],
    }),
  },
  messages: {
    model: "anthropic",
    path: () => "/v1/messages",
    body: (model, kind) => ({
      model,
      max_tokens: 50,
      messages: [
        {
          role: "user",
          content: [
            {
              type: kind === "picture" ? "image" : "document",
              source: { type: "file", file_id: `file_${stems[kind]}` },
            },
            { type: "text", text },
          ],
        },
      ],
    }),
  },
  generate: {
    model: "gemini",
    path: (model) => `/v1beta/models/${model}:generateContent`,
    body: (_model, kind) => ({
      contents: [
        {
          role: "user",
          parts: [
            {
              fileData: {
                mimeType: kind === "pdf" ? "application/pdf" : kind === "picture" ? "image/png" : "text/plain",
                fileUri: `${gateway.url}/v1beta/files/${stems[kind]}`,
              },
            },
            { text },
          ],
        },
      ],
    }),
  },
};

const interactions: Dialect = {
  model: "gemini",
  path: () => "/v1beta/interactions",
  body: (model, kind) => ({
    model,
    input: [
      {
        type: kind === "picture" ? "image" : "document",
        uri: `${gateway.url}/v1beta/files/${stems[kind]}`,
        mime_type: kind === "pdf" ? "application/pdf" : kind === "picture" ? "image/png" : "text/plain",
      },
      { type: "text", text },
    ],
  }),
};
dialects["interactions"] = interactions;

async function call(dialect: Dialect, model: string, kind: Kind): Promise<Response> {
  return gateway.post(dialect.path(model), dialect.body(model, kind), version);
}

describe.each(Object.entries(dialects))("%s", (_name, dialect) => {
  test.each(["pdf", "picture", "words"] as const)("names the account's copy of a file: %s", async (kind) => {
    const before = copies().length;
    for (const _ of [1, 2]) {
      const answer = await call(dialect, dialect.model, kind);
      expect([answer.status, answer.status === 200 ? "" : await answer.text()]).toEqual([200, ""]);
    }
    const made = copies().slice(before);
    expect(made.length).toBeLessThanOrEqual(1);
    const bytes = { pdf, picture, words }[kind];
    const copy = copies().findLast(({ vendor, sha256 }) => {
      return vendor === dialect.model && sha256 === createHash("sha256").update(bytes).digest("hex");
    });
    expect(copy).toMatchObject({
      deleted: false,
      filename: { pdf: "report.pdf", picture: "photo.png", words: "words.txt" }[kind],
    });
    expect(sent()).toContain(`${copy?.id}"`);
    expect(sent()).not.toContain(stems[kind]);
  });

  test.each(["openai", "anthropic", "gemini", "plain"].filter((model) => model !== dialect.model))(
    "sends the file inside a call that is translated: %s",
    async (model) => {
      for (const [kind, bytes] of [
        ["pdf", pdf.toString("base64")],
        ["picture", Buffer.from(picture).toString("base64")],
        ["words", JSON.stringify(words).slice(1, -1)],
      ] as const) {
        const answer = await call(dialect, model, kind);
        expect([kind, answer.status, answer.status === 200 ? "" : await answer.text()]).toEqual([kind, 200, ""]);
        expect(sent()).toContain(bytes);
        expect(sent()).not.toContain(stems[kind]);
      }
    },
  );

  test("returns 404 for another workspace's file as for a missing one, and sends nothing", async () => {
    const send = async (body: object) => {
      const answer = await gateway.post(dialect.path(dialect.model), body, { ...version, key: strangerKey });
      return [answer.status, (await answer.text()).replaceAll(/req_\w+|[0-9a-hjkmnp-tv-z]{26}/g, "")];
    };
    const theirs = await send(dialect.body(dialect.model, "pdf"));
    const unused = JSON.parse(JSON.stringify(dialect.body(dialect.model, "pdf")).replaceAll(stems.pdf, "0".repeat(26)));
    expect(theirs).toEqual(await send(unused));
    expect(theirs[0]).toBe(404);
    expect(sent()).toBe("");
  });
});

test("returns 400 for a type that the model's provider can get in no way", async () => {
  for (const [dialect, model] of [
    ["messages", "openai"],
    ["chat", "plain"],
  ] as const) {
    const answer = await call(dialects[dialect] as Dialect, model, "sound");
    expect(answer.status).toBe(400);
    expect(await answer.text()).toContain("audio/mpeg");
  }
  const content = [{ type: "container_upload", file_id: `file_${stems.pdf}` }];
  const body = { model: "openai", max_tokens: 9, messages: [{ role: "user", content }] };
  expect((await gateway.post("/v1/messages", body, version)).status).toBe(400);
});

test("uploads a file once for calls at the same time", async () => {
  const { id } = await upload(gateway, fileForm({ purpose: "user_data" }, "at the same time"));
  const before = copies().length;
  const body = (dialects["chat"] as Dialect).body("openai", "words");
  const renamed = JSON.parse(JSON.stringify(body).replaceAll(`file-${stems.words}`, id)) as object;
  const answers = await Promise.all(Array.from({ length: 12 }, () => gateway.chat(renamed)));
  expect(answers.map(({ status }) => status)).toEqual(Array(12).fill(200));
  expect(copies().length - before).toBe(1);
});

test("uploads the file to the next account when the first one fails", async () => {
  const before = copies().length;
  const answer = await call(dialects["chat"] as Dialect, "failing", "pdf");
  expect([answer.status, answer.status === 200 ? "" : await answer.text()]).toEqual([200, ""]);
  expect(copies().slice(before)).toMatchObject([{ vendor: "openai", account: "Bearer sk-second" }]);
});

test("replaces names only where a body names files, and keeps every other byte", async () => {
  const id = `file-${stems.words}`;
  const body = `{"model":"openai", "messages":[{"role":"user","content":[{"type":"text","text":"${id}"},{"type":"file","file":{"file_id":"${id}"}}]}], "seed": 9007199254740993, "metadata":{"file":"${id}"}}`;
  expect((await gateway.chat(body)).status).toBe(200);
  expect(sent().split(id)).toHaveLength(3);
  expect(sent()).toContain('"seed": 9007199254740993');
});

test("deletes the copies of a deleted file from every account", async () => {
  const { id } = await upload(gateway, fileForm({ purpose: "user_data" }, "short-lived"));
  const stem = id.slice("file-".length);
  for (const name of ["chat", "messages", "generate"]) {
    const dialect = dialects[name] as Dialect;
    const body = JSON.stringify(dialect.body(dialect.model, "words")).replaceAll(stems.words, stem);
    expect((await gateway.post(dialect.path(dialect.model), body, version)).status).toBe(200);
  }
  const hash = createHash("sha256").update("short-lived").digest("hex");
  const own = () => copies().filter(({ sha256 }) => sha256 === hash);
  expect(own().map(({ vendor, deleted }) => [vendor, deleted])).toEqual([
    ["openai", false],
    ["anthropic", false],
    ["gemini", false],
  ]);
  await fetch(`${gateway.url}/v1/files/${id}`, { method: "DELETE", headers: bearer() });
  await until(() => own().every(({ deleted }) => deleted));
  const body = JSON.stringify((dialects["chat"] as Dialect).body("openai", "words")).replaceAll(stems.words, stem);
  expect(await errorOf(await gateway.chat(body))).toMatchObject({ status: 404, code: "not_found" });
});

test("returns 400 for files that are too large to go inside a call, and sends nothing", async () => {
  const bytes = new Uint8Array(21 * 1024 * 1024);
  bytes.set(pdf);
  const { id } = await upload(gateway, fileForm({ purpose: "user_data" }, bytes, "large.pdf"));
  const body = JSON.stringify((dialects["chat"] as Dialect).body("plain", "pdf")).replaceAll(`file-${stems.pdf}`, id);
  expect(await errorOf(await gateway.chat(body))).toMatchObject({ status: 400, code: "unsupported_by_model" });
  expect(sent()).toBe("");
  const native = body.replace('"plain"', '"openai"');
  expect((await gateway.chat(native)).status).toBe(200);
});

test("returns Anthropic's error for an expired file, when it is read and when a call names it", async () => {
  const { id } = await upload(gateway, fileForm({ purpose: "user_data" }, "short-lived file"));
  const stem = id.slice("file-".length);
  const { kysely } = gateway.control.database;
  await kysely.updateTable("files").set({ expires_at: 1 }).where("id", "=", stem).execute();
  const body = JSON.stringify((dialects["messages"] as Dialect).body("anthropic", "words")).replaceAll(
    stems.words,
    stem,
  );
  const headers = { ...bearer(), "anthropic-version": "2023-06-01" };
  const answers = [
    await fetch(`${gateway.url}/v1/files/file_${stem}`, { headers }),
    await fetch(`${gateway.url}/v1/files/file_${stem}/content`, { headers }),
    await gateway.post("/v1/messages", body, version),
  ];
  for (const answer of answers) {
    expect(answer.status).toBe(404);
    const { error } = (await answer.json()) as { error: { type: string; details: { error_code: string } } };
    expect([error.type, error.details.error_code]).toEqual(["not_found_error", "file_expired"]);
  }
});
