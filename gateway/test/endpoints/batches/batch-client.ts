import OpenAI, { toFile } from "openai";
import { until } from "../../../../test/until.ts";
import { aliceKey, type StartedGateway } from "../../started-gateway.ts";

export function clientOf({ url }: Pick<StartedGateway, "url">, key = aliceKey): OpenAI {
  return new OpenAI({ apiKey: key, baseURL: `${url}/v1`, maxRetries: 0 });
}

export const chatPath = "/v1/chat/completions";

export function chatRow(customId: string, more: object = {}, body: object = {}): object {
  const params = { model: "gpt-test", max_tokens: 5, messages: [{ role: "user", content: "Say hello" }], ...body };
  return { custom_id: customId, method: "POST", url: chatPath, body: params, ...more };
}

/** Uploads rows, given as objects or as lines. */
export async function uploaded(
  client: OpenAI,
  rows: readonly (object | string)[],
  purpose: "batch" | "user_data" = "batch",
): Promise<string> {
  const lines = rows.map((row) => (typeof row === "string" ? row : JSON.stringify(row))).join("\n");
  const file = await client.files.create({ file: await toFile(Buffer.from(lines), "rows.jsonl"), purpose });
  return file.id;
}

export async function createBatch(client: OpenAI, rows: readonly (object | string)[]): Promise<OpenAI.Batch> {
  const input_file_id = await uploaded(client, rows);
  return await client.batches.create({ input_file_id, endpoint: chatPath, completion_window: "24h" });
}

const final: ReadonlySet<string> = new Set(["completed", "failed", "cancelled", "expired"]);

/** The batch, once it has ended. */
export function ended(client: OpenAI, id: string): Promise<OpenAI.Batch> {
  return until(async () => {
    const batch = await client.batches.retrieve(id);
    return final.has(batch.status) ? batch : null;
  });
}

export interface OutputLine {
  readonly id: string;
  readonly custom_id: string;
  readonly response: {
    readonly status_code: number;
    readonly request_id: string;
    readonly body: Record<string, unknown>;
  } | null;
  readonly error: { readonly code: string; readonly message: string } | null;
}

/** The lines of a result file; none if there is no file. */
export async function linesOf(client: OpenAI, fileId: string | null | undefined): Promise<readonly OutputLine[]> {
  if (fileId == null) return [];
  const text = await (await client.files.content(fileId)).text();
  return text.split("\n").flatMap((line) => (line === "" ? [] : [JSON.parse(line) as OutputLine]));
}
