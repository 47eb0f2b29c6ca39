import { keys } from "../test-config.ts";
import type { CallerDialect, Taped } from "./ask.ts";
import { type Literal, literalsOf, type VendorType } from "./vendor-literals.ts";

/** Answers that no case of the matrix asks for. */
export async function besideTheMatrix(url: string): Promise<readonly Literal[]> {
  const version = { "anthropic-version": "2023-06-01" };
  const model = "matrix/responses/main";
  const found: Literal[] = [];
  const ask = async (type: VendorType, path: string, headers: Record<string, string>, body?: object): Promise<void> => {
    const answer = await fetch(url + path, {
      headers: { "x-api-key": keys.main, "content-type": "application/json", ...headers },
      ...(body === undefined ? {} : { method: "POST", body: JSON.stringify(body) }),
    });
    found.push({ type, from: `${path} ${answer.status}`, json: await answer.json() });
  };
  await ask("ModelPage", "/v1/models", {});
  await ask("Model", `/v1/models/${model}`, {});
  await ask("ModelInfoPage", "/v1/models?limit=1000", version);
  await ask("ModelInfo", `/v1/models/${model}`, version);
  await ask("Embeddings", "/v1/embeddings", {}, { model: "matrix/chat/main", input: "one two" });
  await ask("ErrorObject", "/v1/chat/completions", {}, { model: "nobody", messages: [] });
  await ask("ErrorObject", "/v1/responses", { "x-api-key": "sk-nobody-knows-this-0001" }, {});
  await ask("ErrorObject", "/v1/nowhere", {});
  await ask("ErrorResponse", "/v1/messages", version, { model: "nobody", max_tokens: 1, messages: [] });
  await ask("ErrorResponse", "/v1/messages", {}, {});
  await ask("ErrorResponse", "/v1/messages/count_tokens", { ...version, "x-api-key": "sk-nobody-knows-this-0001" }, {});
  return found;
}

/** What is compared with the vendor's type of an exchange that the matrix has brought about. */
export function literalsIn(exchange: Taped): readonly Literal[] {
  const { pathname } = new URL(exchange.url);
  const upstream = /matrix\/([\w-]+)\//.exec(pathname + exchange.sent)?.[1] ?? "";
  if (isUpstreamsOwnFault(exchange, upstream)) return [];
  const body = exchange.body();
  const from = `${pathname.replace(/\/models\/.*/, "")} on ${upstream}`;
  if (pathname.endsWith("/count_tokens")) return [{ type: "MessageTokensCount", from, json: JSON.parse(body) }];
  return literalsOf(dialectAt(pathname), from, exchange.status, body);
}

/** Bytes of the caller's own dialect pass as they are: what such an upstream leaves out on purpose stays left out. */
function isUpstreamsOwnFault({ url, sent, status }: Taped, upstream: string): boolean {
  const speaksMessages = ["anthropic", "bedrock-claude", "vertex-claude"].includes(upstream);
  if (speaksMessages && url.includes("/v1/messages") && sent.includes("no_usage")) return true;
  // Azure's own short form of an error.
  return upstream === "azure" && status === 429;
}

function dialectAt(path: string): CallerDialect {
  if (/^\/v1(?:beta)?\/models\/.+:/.test(path)) return "generate";
  if (path === "/v1/messages") return "messages";
  return path === "/v1/responses" ? "responses" : "chat";
}
