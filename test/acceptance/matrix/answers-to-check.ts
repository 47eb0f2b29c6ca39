import { keys } from "../test-config.ts";
import type { CallerDialect, Exchange } from "./call-spec.ts";
import { type Literal, literalsOf, type VendorType } from "./vendor-literals.ts";

/** Answers to calls that no case of the matrix makes. */
export async function answersOutsideMatrix(url: string): Promise<readonly Literal[]> {
  const version = { "anthropic-version": "2023-06-01" };
  const model = "matrix/responses/main";
  const found: Literal[] = [];
  const call = async (
    type: VendorType,
    path: string,
    headers: Record<string, string>,
    body?: object,
  ): Promise<void> => {
    const answer = await fetch(url + path, {
      headers: { "x-api-key": keys.main, "content-type": "application/json", ...headers },
      ...(body === undefined ? {} : { method: "POST", body: JSON.stringify(body) }),
    });
    found.push({ type, from: `${path} ${answer.status}`, json: await answer.json() });
  };
  await call("ModelPage", "/v1/models", {});
  await call("Model", `/v1/models/${model}`, {});
  await call("ModelInfoPage", "/v1/models?limit=1000", version);
  await call("ModelInfo", `/v1/models/${model}`, version);
  await call("Embeddings", "/v1/embeddings", {}, { model: "matrix/chat/main", input: "one two" });
  await call("ErrorObject", "/v1/chat/completions", {}, { model: "unknown", messages: [] });
  await call("ErrorObject", "/v1/responses", { "x-api-key": "sk-unknown-key-0000000001" }, {});
  await call("ErrorObject", "/v1/nowhere", {});
  await call("ErrorResponse", "/v1/messages", version, { model: "unknown", max_tokens: 1, messages: [] });
  await call("ErrorResponse", "/v1/messages", {}, {});
  await call(
    "ErrorResponse",
    "/v1/messages/count_tokens",
    { ...version, "x-api-key": "sk-unknown-key-0000000001" },
    {},
  );
  return found;
}

/** The parts of a matrix exchange that are compared with the vendor's types. */
export function literalsIn(exchange: Exchange): readonly Literal[] {
  const { pathname } = new URL(exchange.url);
  const upstream = /matrix\/([\w-]+)\//.exec(pathname + exchange.sent)?.[1] ?? "";
  if (isUpstreamDeviation(exchange, upstream)) return [];
  const body = exchange.body();
  const from = `${pathname.replace(/\/models\/.*/, "")} on ${upstream}`;
  if (pathname.endsWith("/count_tokens")) return [{ type: "MessageTokensCount", from, json: JSON.parse(body) }];
  return literalsOf(dialectAt(pathname), from, exchange.status, body);
}

/** Bytes in the caller's own dialect are forwarded unchanged, so what such an upstream omits on purpose is missing. */
function isUpstreamDeviation({ url, sent, status }: Exchange, upstream: string): boolean {
  const speaksMessages = ["anthropic", "bedrock-claude", "vertex-claude"].includes(upstream);
  if (speaksMessages && url.includes("/v1/messages") && sent.includes("no_usage")) return true;
  // Azure's short error format.
  return upstream === "azure" && status === 429;
}

function dialectAt(path: string): CallerDialect {
  if (/^\/v1(?:beta)?\/models\/.+:/.test(path)) return "generate";
  if (path === "/v1/interactions") return "interactions";
  if (path === "/v1/messages") return "messages";
  return path === "/v1/responses" ? "responses" : "chat";
}
