import { until } from "../../../test/until.ts";
import type { StartedGateway } from "../started-gateway.ts";
import {
  chat,
  content,
  type EndpointCase,
  message,
  ownHeaders,
  type SentRequest,
  sent,
  vectors,
  version,
  whole,
} from "./endpoint-case.ts";

/** Uploads a file with one row, and runs it. */
async function runFileBatch(gateway: StartedGateway, body: object): Promise<SentRequest> {
  const form = new FormData();
  form.append("purpose", "batch");
  form.append("file", new Blob([JSON.stringify({ custom_id: "row", method: "POST", url: chat, body })]), "a.jsonl");
  const upload = await sent(fetch(`${gateway.url}/v1/files`, { method: "POST", headers: ownHeaders, body: form }));
  if (upload.status !== 200) return upload;
  const { id: input_file_id } = JSON.parse(upload.text) as { id: string };
  const made = await gateway.post("/v1/batches", { input_file_id, endpoint: chat, completion_window: "24h" });
  const { id } = (await made.json()) as { id: string };
  const ended = await until(async () => {
    const batch = (await (await gateway.get(`/v1/batches/${id}`)).json()) as Record<string, string | null>;
    return batch["status"] === "completed" ? batch : null;
  });
  const file = ended["output_file_id"] ?? ended["error_file_id"];
  return await sent(gateway.get(`/v1/files/${file}/content`));
}

/** Runs a batch with one request in Gemini's format. */
async function runGeminiBatch(gateway: StartedGateway, path: string, request: object): Promise<SentRequest> {
  const body = { batch: { inputConfig: { requests: { requests: [{ request }] } } } };
  const made = await gateway.post(`/v1beta/models/${path}`, body);
  const { name } = (await made.json()) as { name: string };
  const text = await until(async () => {
    const job = await (await gateway.get(`/v1beta/${name}`)).text();
    return job.includes('"done":true') ? job : null;
  });
  return { status: text.includes('"error"') ? 400 : 200, text };
}

/** Runs a batch with one row. Returns the status of the row. */
async function runMessageBatch(gateway: StartedGateway, params: object): Promise<SentRequest> {
  const { headers } = version;
  const made = await gateway.post("/v1/messages/batches", { requests: [{ custom_id: "row", params }] }, { headers });
  const { id } = (await made.json()) as { id: string };
  const text = await until(async () => {
    const results = await gateway.get(`/v1/messages/batches/${id}/results`);
    return results.status === 200 ? await results.text() : null;
  });
  return { status: text.includes('"type":"succeeded"') ? 200 : 400, text };
}

/** The routes that create a batch. Each case runs a batch with one row. */
export const batchCases: Readonly<Record<string, EndpointCase>> = {
  // The upload of its file is checked, too, and refuses what it cannot change.
  "POST /v1/batches": {
    send: (gateway, text) => runFileBatch(gateway, { model: "openai", ...message(text) }),
    isUnsent: true,
    answer: whole(chat),
  },
  "POST /v1beta/models/{model}:batchGenerateContent": {
    send: (gateway, text) => runGeminiBatch(gateway, "gemini:batchGenerateContent", { contents: [content(text)] }),
    answer: whole("generateContent"),
  },
  "POST /v1beta/models/{model}:asyncBatchEmbedContent": {
    send: (gateway, text) =>
      runGeminiBatch(gateway, "gemini-vectors:asyncBatchEmbedContent", { content: content(text) }),
    answer: vectors,
  },
  "POST /v1/messages/batches": {
    send: (gateway, text) => runMessageBatch(gateway, { model: "anthropic", max_tokens: 9, ...message(text) }),
    answer: whole("/messages"),
  },
};
