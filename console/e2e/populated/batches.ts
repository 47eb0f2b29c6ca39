import { until } from "../../../test/until.ts";
import type { SignedInUser } from "../signed-in-user.ts";
import type { Tenants } from "./tenants.ts";

const key = "checkout service";

/** Runs a batch with the rows of an uploaded file. Resolves to its id. */
export async function createBatch({ call }: SignedInUser, url: string, { secrets }: Tenants): Promise<string> {
  const authorization = `Bearer ${secrets[key]}`;
  const lines = ["Sort this ticket: my parcel is late", "Sort this ticket: the invoice is wrong"].map((content, n) =>
    JSON.stringify({
      ...{ custom_id: `ticket-${n + 1}`, method: "POST", url: "/v1/chat/completions" },
      body: { model: "gpt-5-mini", max_tokens: 20, messages: [{ role: "user", content }] },
    }),
  );
  const form = new FormData();
  form.set("purpose", "batch");
  form.set("file", new File([lines.join("\n")], "tickets.jsonl"));
  const file = await fetch(`${url}/v1/files`, { method: "POST", headers: { authorization }, body: form });
  const made = await fetch(`${url}/v1/batches`, {
    method: "POST",
    headers: { authorization, "content-type": "application/json" },
    body: JSON.stringify({
      ...{ input_file_id: await idOf(file), endpoint: "/v1/chat/completions", completion_window: "24h" },
      metadata: { team: "support" },
    }),
  });
  const batch = await idOf(made);
  await until(async () => (await call("batches.show", { params: { workspace: "acme", batch } })).ended_at !== null);
  return batch;
}

async function idOf(answer: Response): Promise<string> {
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${answer.url} answered ${answer.status}: ${text}`);
  return (JSON.parse(text) as { id: string }).id;
}
