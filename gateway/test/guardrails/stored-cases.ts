import { objectEndpoints } from "../../src/relay/index.ts";
import { png, uploadForm } from "../endpoints/assets/upload-form.ts";
import type { StartedGateway } from "../started-gateway.ts";
import { type EndpointCase, json, ownHeaders, ownState, post, type SentRequest, sent } from "./endpoint-case.ts";

/** Uploads a file as Google's clients do. */
async function sendPieces(gateway: StartedGateway, path: string, text: string): Promise<SentRequest> {
  const command = (name: string) => ({ ...ownHeaders, "x-goog-upload-command": name, "x-goog-upload-offset": "0" });
  const headers = { ...command("start"), "x-goog-upload-protocol": "resumable" };
  const started = await gateway.post(path, {}, { headers });
  const url = started.headers.get("x-goog-upload-url") ?? "";
  return await sent(fetch(url, { method: "POST", headers: command("upload, finalize"), body: text }));
}

/** Creates an object that a vendor stores, then sends a call about it. */
const onObject = (method: string, path: string, body?: (text: string) => object | FormData): EndpointCase["send"] => {
  return async (gateway, text) => {
    const made = await gateway.post(path.split("/").slice(0, 3).join("/"), { name: "object", input: "hello" });
    const { id } = (await made.json()) as { id: string };
    const url = `${gateway.url}${path.replace("{id}", id).replaceAll(/\{\w+\}/g, "part_1")}`;
    if (body === undefined)
      return await sent(gateway.get(`${url.slice(gateway.url.length)}?note=${encodeURIComponent(text)}`));
    const content = body(text);
    const isForm = content instanceof FormData;
    const headers = { ...ownHeaders, ...(isForm ? {} : { "content-type": "application/json" }) };
    return await sent(fetch(url, { method, headers, body: isForm ? content : JSON.stringify(content) }));
  };
};

const fileOf = (field: string) => (text: string) => {
  const form = new FormData();
  form.append(field, new Blob([text], { type: "text/plain" }), "a.txt");
  return form;
};

const objectAnswer = json((text) => ({ id: "object_1", text }));
const inJson = (text: string) => ({ metadata: { text } });

/** By path, the calls that create an object or are about one. */
const objectCases: Readonly<Record<string, EndpointCase>> = Object.fromEntries(
  objectEndpoints.flatMap(({ path, methods }) =>
    methods.flatMap((method): readonly (readonly [string, EndpointCase])[] => {
      const route = `${method} ${path}`;
      if (method === "DELETE") return [];
      if (method === "GET") return [[route, { send: onObject(method, path), isUnsent: true, answer: objectAnswer }]];
      const upload = {
        "/v1/skills": "files[]",
        "/v1/skills/{id}/versions": "files[]",
        "/v1/containers/{id}/files": "file",
      }[path];
      if (upload === undefined) return [[route, { send: onObject(method, path, inJson), answer: objectAnswer }]];
      return [[route, { send: onObject(method, path, fileOf(upload)), isUnsent: true, answer: objectAnswer }]];
    }),
  ),
);

/** The routes of videos, assets, files and the objects of a vendor. */
export const storedCases: Readonly<Record<string, EndpointCase>> = {
  ...objectCases,
  "POST /v1/video/tasks": { send: post("/v1/video/tasks", (prompt) => ({ model: "video", prompt })), answer: ownState },
  "POST /v1/videos": { send: post("/v1/videos", (prompt) => ({ model: "video", prompt })), answer: ownState },
  "POST /v1/videos/{id}/remix": {
    async send(gateway, prompt) {
      const made = await gateway.post("/v1/videos", { model: "video", prompt: "a harbor" });
      const { id } = (await made.json()) as { id: string };
      return await sent(gateway.post(`/v1/videos/${id}/remix`, { prompt }));
    },
    isUnsent: true,
    answer: ownState,
  },
  "POST /v1/asset-groups": {
    send: post("/v1/asset-groups", (name) => ({ platform: "local", name })),
    isUnsent: true,
    answer: ownState,
  },
  "POST /v1/assets": {
    send: post("/v1/assets", (name) => ({
      platform: "local",
      group_id: "ag_1",
      url: "https://example.com/a.png",
      name,
    })),
    isUnsent: true,
    answer: ownState,
  },
  "POST /v1/assets, as a form": {
    async send(gateway, text) {
      const form = uploadForm({ group_id: "ag_1", platform: "local" }, png(2, 2), `${text}.png`);
      return await sent(fetch(`${gateway.url}/v1/assets`, { method: "POST", headers: ownHeaders, body: form }));
    },
    isUnsent: true,
    answer: ownState,
  },
  "POST /v1/uploads": {
    send: post("/v1/uploads", (filename) => ({
      ...{ purpose: "user_data", filename, mime_type: "text/plain", bytes: 9 },
    })),
    isUnsent: true,
    answer: ownState,
  },
  "POST /v1/uploads/{id}/complete": {
    async send(gateway, text) {
      const facts = { purpose: "user_data", filename: "a.txt", mime_type: "text/plain", bytes: text.length };
      const { id } = (await (await gateway.post("/v1/uploads", facts)).json()) as { id: string };
      const path = `/v1/uploads/${id}`;
      const body = new FormData();
      body.append("data", new Blob([text]), "a");
      const part = await fetch(`${gateway.url}${path}/parts`, { method: "POST", headers: ownHeaders, body });
      const partId = ((await part.json()) as { id: string }).id;
      return await sent(gateway.post(`${path}/complete`, { part_ids: [partId] }));
    },
    isUnsent: true,
    answer: ownState,
  },
  ...Object.fromEntries(
    ["v1", "v1beta"].map((api): [string, EndpointCase] => [
      `POST /upload/${api}/files`,
      { send: (gateway, text) => sendPieces(gateway, `/upload/${api}/files`, text), isUnsent: true, answer: ownState },
    ]),
  ),
  "POST /v1/files": {
    async send(gateway, text) {
      const form = new FormData();
      form.append("purpose", "user_data");
      form.append("file", new Blob([text]), "a.txt");
      return await sent(fetch(`${gateway.url}/v1/files`, { method: "POST", headers: ownHeaders, body: form }));
    },
    isUnsent: true,
    answer: ownState,
  },
};
